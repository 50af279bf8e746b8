/** Which of the languages that there are somebody is shown. */

/** What stands in where nothing else is there. */
export const FALLBACK = 'en';

/** The language of texts for a tag such as `en-GB`: that tag itself, its language, or else English. */
export function languageFor(tag: string, sources: Readonly<Record<string, unknown>>): string {
  return [tag, tag.split('-')[0] ?? ''].find((one) => sources[one]) ?? FALLBACK;
}
