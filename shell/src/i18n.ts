/** Texts, numbers and dates in the person's language; everything read inside an effect follows a change of language. */
import { de } from './core/messages-de.ts';
import { en, type MessageKey } from './core/messages-en.ts';
import { resolveLocale } from './core/messages.ts';
import { signal } from './core/signal.ts';
import type { MessageMap } from './types.ts';

export type { MessageKey };

/** Translations of each language, by the English text. */
const catalogues = signal<ReadonlyMap<string, Readonly<Record<string, string | undefined>>>>(
  new Map<string, Record<string, string>>([
    ['en', {}],
    ['de', Object.fromEntries((Object.keys(de) as MessageKey[]).map((key) => [en[key], de[key]]))],
  ]),
);
const chosen = signal<string | undefined>(undefined);
const configured = signal<string | undefined>(undefined);

/** Adds texts for a locale, or replaces some, by their English. What is missing stays English. */
export function addMessages(locale: string, map: MessageMap): void {
  const known = new Map(catalogues.peek());
  known.set(locale, { ...known.get(locale), ...map });
  catalogues.set(known);
}

/** Chooses the language; `undefined` goes back to the configured one or the browser's. */
export function setLocale(locale: string | undefined): void {
  chosen.set(locale);
}

/** The locale of `configure`. */
export function setConfiguredLocale(locale: string | undefined): void {
  configured.set(locale);
}

let resolved: { from: readonly unknown[]; locale: string } | undefined;

/** The language in force. */
export function locale(): string {
  const from = [catalogues(), chosen(), configured(), navigator.languages] as const;
  // Every text asks; what the answer depends on rarely changes.
  if (!resolved?.from.every((one, index) => one === from[index])) {
    const [known, choice, configuration, languages] = from;
    const wishes = [choice, configuration, ...languages].filter((wish) => wish !== undefined);
    resolved = { from, locale: resolveLocale(wishes, [...known.keys()]) ?? 'en' };
  }
  return resolved.locale;
}

/** Languages with texts. */
export function locales(): string[] {
  return [...catalogues().keys()];
}

/** The language's own name. */
export function localeName(code: string): string {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

/** A text in the current language. */
export function t(key: MessageKey, parameters: Record<string, string | number> = {}): string {
  const english = en[key];
  const text = catalogues().get(locale())?.[english] ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, parameter: string) => {
    const value = parameters[parameter];
    return value === undefined ? whole : typeof value === 'number' ? formatNumber(value) : value;
  });
}

/** Asking for the first formatter of numbers takes browsers some 20 ms, and these are written alike in all that ship. */
function isPlain(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 1000 && /^(en|de)\b/.test(locale());
}

/** Keys as keyboards of the current language are labelled: `Ctrl + K` is `Strg + K` in German. */
export function keyLabel(keys: string): string {
  return keys
    .replace('`', t('key.backquote'))
    .replace('Ctrl', t('key.ctrl'))
    .replace('Delete', t('key.delete'))
    .replace('Page', t('key.page'))
    .replace('Shift', t('key.shift'));
}

/** A number in the current language. */
export function formatNumber(value: number, options?: Intl.NumberFormatOptions): string {
  if (!options && isPlain(value)) return String(value);
  return new Intl.NumberFormat(formatLocale(), options).format(value);
}

const dateFormats = new Map<string, Intl.DateTimeFormat>();

/** A date or time in the current language. */
export function formatDate(date: Date, options: Intl.DateTimeFormatOptions): string {
  const key = `${formatLocale()} ${JSON.stringify(options)}`;
  const format = dateFormats.get(key) ?? new Intl.DateTimeFormat(formatLocale(), options);
  dateFormats.set(key, format);
  return format.format(date);
}

/**
 * What a browser loads before its first format of a date, in the parts it can be asked for: the locale's subtags, the list of all
 * locales, the patterns. Together they take some 20 ms; each in a task of its own, none holds up a click.
 */
export const dateFormatParts: readonly (() => void)[] = [
  () => new Intl.Locale(formatLocale()).maximize(),
  () => Intl.DateTimeFormat.supportedLocalesOf(formatLocale()),
];

/** The browser's regional variant of the language, such as `de-AT`, so that formats follow the region. */
function formatLocale(): string {
  const language = locale();
  return navigator.languages.find((tag) => tag.split('-')[0] === language.split('-')[0]) ?? language;
}
