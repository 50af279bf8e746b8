/** Remembers the language of the last time, so that the next start has its texts at once. */
const LANGUAGE = 'svc.language';

/** The language that a start begins with. */
export function firstLanguage(): string {
  return localStorage.getItem(LANGUAGE) ?? navigator.language;
}

/** Has the next start begin with another one. */
export function keepLanguage(chosen: string): void {
  localStorage.setItem(LANGUAGE, chosen);
}
