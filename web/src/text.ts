/**
 * Texts in the person's language, and numbers and times as that language writes them.
 *
 * The texts are Fluent resources: those of the client and of modules with pages come with the build, all others from the server. English stands in for what isn't translated. A change of language is told to whoever shows texts.
 */
import { FluentBundle, FluentResource, type FluentVariable } from '@fluent/bundle';
import { messagesIn } from './client/addresses.ts';
import { send } from './client/request.ts';
import { FALLBACK, languageFor } from './core/language.ts';
import { knownUnit } from './core/measure.ts';
import type { Measure } from './core/model.ts';
import { humanise, withoutId } from './core/names.ts';
import { daysBetween, relativeParts } from './core/relative.ts';

export type Arguments = Record<string, FluentVariable>;

/** Has those who show texts show them anew: what something is called came in another way. */
export function showTextsAgain(): void {
  for (const listener of listeners) listener();
}

/** Where a language's texts lie. */
export type Sources = Record<string, readonly string[]>;

let bundle = new FluentBundle(FALLBACK);
let language = FALLBACK;
let sources: Sources = {};
const listeners = new Set<() => void>();

/** Calls back when the texts have become others. Returns the undo. */
export function onTexts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The language of the texts. */
export function currentLanguage(): string {
  return language;
}

/** Says where texts are; `useLanguage` loads them. */
export function setSources(found: Sources): void {
  sources = found;
}

async function resource(address: string): Promise<FluentResource | undefined> {
  return send<string | undefined>(address).then(
    ({ body }) => new FluentResource(body ?? ''),
    () => undefined,
  );
}

/** Loads a language and shows it. Of two that are asked for one after the other the later one stays. */
let wanted = '';
export async function useLanguage(tag: string): Promise<void> {
  const next = languageFor(tag, sources);
  wanted = next;
  // Those that modules give their sets and pages, as far as the server has them; the page's own come last and win.
  const loading = Promise.all([messagesIn(next), ...(sources[next] ?? [])].map(resource));
  const region = navigator.languages.find((one) => one.split('-')[0] === next) ?? next;
  // The first format of a page takes a browser long, and there is time while the texts are on their way.
  const numbers = numberFormat(region);
  const loaded = await loading;
  if (wanted !== next) return;
  const fresh = new FluentBundle(region, { useIsolating: false });
  for (const one of loaded) if (one) fresh.addResource(one, { allowOverrides: true });
  bundle = fresh;
  language = next;
  formats.clear();
  formats.set(`n${undefined}`, numbers);
  showTextsAgain();
}

function pattern(id: string, attribute?: string) {
  const message = bundle.getMessage(id);
  return attribute === undefined ? message?.value : message?.attributes[attribute];
}

/** A text; its id in braces where there is none, which a test refuses. */
export function text(id: string, values?: Arguments): string {
  return find(id, undefined, values) ?? `{${id}}`;
}

/** A text that may not be there. */
export function find(id: string, attribute?: string, values?: Arguments): string | undefined {
  const found = pattern(id, attribute);
  return found ? bundle.formatPattern(found, values) : undefined;
}

/** What a set is called: "Products". */
export function setName(set: string): string {
  return find(set) ?? humanise(set);
}

/** What one of a set is called: "Product". */
export function singular(set: string, type: string): string {
  return find(set, 'singular') ?? humanise(type.slice(type.lastIndexOf('.') + 1));
}

/** A name within a sentence: English writes it small, German doesn't. */
export function inSentence(name: string): string {
  return language === 'en' && !/^\p{Lu}{2}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}

/** What a property, navigation or operation of a set is called. */
export function memberName(set: string, member: string): string {
  return find(`${set}-${member}`) ?? find(`common-${member}`) ?? humanise(withoutId(member));
}

/** What is said of a set, beyond its name; the server's own words are English. */
export function setDescription(set: string, said: string | undefined): string | undefined {
  return find(set, 'description') ?? (language === FALLBACK ? said : undefined);
}

/** What is said of a property or an operation, beyond its name. */
export function memberDescription(set: string, member: string, said: string | undefined): string | undefined {
  return find(`${set}-${member}`, 'description') ?? (language === FALLBACK ? said : undefined);
}

/** A choice of a property: a member of its enumeration, or one of few texts. `title` is what it's called where there are no words for it. */
export function choiceName(
  set: string,
  property: { name: string; enumeration: string | undefined },
  member: string,
  title?: string,
): string {
  const own = find(`${set}-${property.name}-${member}`);
  return own ?? (property.enumeration && find(`${property.enumeration}-${member}`)) ?? title ?? humanise(member);
}

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();

function kept<T extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>(
  key: string,
  make: () => T,
): T {
  const found = formats.get(key) ?? make();
  formats.set(key, found);
  return found as T;
}

/** The language with the person's region, such as `en-GB`. */
function locale(): string {
  return bundle.locales[0] ?? language;
}

function numberFormat(tag: string, scale?: number): Intl.NumberFormat {
  const digits = scale === undefined ? {} : { minimumFractionDigits: scale, maximumFractionDigits: scale };
  return new Intl.NumberFormat(tag, { maximumFractionDigits: 6, ...digits });
}

/** A number with a fixed count of digits behind the point, or as many as it has. */
export function number(value: number, scale?: number): string {
  return kept(`n${scale}`, () => numberFormat(locale(), scale)).format(value);
}

/** A currency or unit never stands on a line of its own. */
const NARROW = '\u00A0';

function joined(value: string): string {
  return value.replaceAll(' ', NARROW);
}

/** A format of numbers in a currency, or in a unit that browsers know; nothing for any other. */
function measuredFormat(kind: Measure['kind'], said: string, scale?: number): Intl.NumberFormat | undefined {
  const unit = kind === 'unit' ? knownUnit(said) : undefined;
  if (kind === 'unit' && unit === undefined) return undefined;
  try {
    return kept(`${kind} ${said} ${scale}`, () => {
      if (unit !== undefined) {
        const digits =
          scale === undefined
            ? { maximumFractionDigits: 6 }
            : { minimumFractionDigits: scale, maximumFractionDigits: scale };
        // A unit that is a word is shown as one, in the person's language: `6 Tage`.
        const unitDisplay = unit === said ? 'long' : 'short';
        return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay, ...digits });
      }
      const money = { style: 'currency', currency: said } as const;
      const own = new Intl.NumberFormat(locale(), money).resolvedOptions().maximumFractionDigits ?? 2;
      // A yen has no parts, whatever the column has room for; a price of a screw may have more than a euro has.
      const digits = {
        minimumFractionDigits: Math.min(own, scale ?? own),
        maximumFractionDigits: scale ?? Math.max(own, 6),
      };
      return new Intl.NumberFormat(locale(), { ...money, ...digits });
    });
  } catch {
    // No code of a currency.
    return undefined;
  }
}

/** A number with its currency or unit, as the person's language has it. */
export function measured(value: number, kind: Measure['kind'], said: string, scale?: number): string {
  const format = measuredFormat(kind, said, scale);
  return joined(format ? format.format(value) : `${number(value, scale)} ${said}`);
}

/** A currency or unit as it stands beside numbers: `€`. */
export function measureSign(kind: Measure['kind'], said: string): string {
  const parts = measuredFormat(kind, said)?.formatToParts(2) ?? [];
  const found = parts.find(({ type }) => type === 'currency' || type === 'unit' || type === 'percentSign');
  return joined(found?.value ?? said);
}

/** A part of a whole, such as 99.5 %. */
export function percent(value: number): string {
  return kept('%', () => new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 1 })).format(value);
}

/** The sign between whole and part of a number. */
export function decimalSign(): string {
  return new Intl.NumberFormat(locale()).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** Day and time. */
export function dateTime(value: string | Date): string {
  return kept('dt', () => new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' })).format(
    new Date(value),
  );
}

/** Day and time to the second, for those who look closely. */
export function exactTime(value: string | Date): string {
  return kept('ex', () => new Intl.DateTimeFormat(locale(), { dateStyle: 'full', timeStyle: 'long' })).format(
    new Date(value),
  );
}

/** A day. */
export function date(value: string | Date): string {
  const day = typeof value === 'string' && value.length === 10 ? new Date(`${value}T00:00`) : new Date(value);
  return kept('d', () => new Intl.DateTimeFormat(locale(), { dateStyle: 'medium' })).format(day);
}

/** A month, short. */
export function month(value: Date): string {
  return kept('m', () => new Intl.DateTimeFormat(locale(), { month: 'short', year: '2-digit' })).format(value);
}

/** An hour of a day, short. */
export function hour(value: string | Date): string {
  return kept('h', () => new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit' })).format(
    new Date(value),
  );
}

/** How long ago, within a day; day and time before. */
export function relative(value: string | Date, now = Date.now()): string {
  const parts = relativeParts(new Date(value).getTime(), now);
  if (!parts) return dateTime(value);
  if (parts.count === 0) return text('time-now');
  return counted(parts.count, parts.unit);
}

function counted(count: number, unit: 'second' | 'minute' | 'hour' | 'day'): string {
  return kept('r', () => new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' })).format(
    count,
    unit,
  );
}

/** Up to how many days are counted. */
const MOST_DAYS = 30;

/** The same, but days are counted for a month: what is due is near or far, whatever the date. */
export function relativeDays(value: string | Date, now = Date.now()): string {
  const at = new Date(value).getTime();
  const days = daysBetween(at, now, MOST_DAYS);
  if (days !== undefined) return counted(days, 'day');
  return Math.abs(at - now) < 86_400_000 ? relative(value, now) : date(value);
}

/** A span of time in the unit that says most: "3 min". */
export function relativeSeconds(seconds: number): string {
  const [value, unit] =
    seconds < 90 ? [seconds, 'second'] : seconds < 5_400 ? [seconds / 60, 'minute'] : [seconds / 3_600, 'hour'];
  return kept(
    `span ${unit}`,
    () => new Intl.NumberFormat(locale(), { style: 'unit', unit: String(unit), maximumFractionDigits: 0 }),
  ).format(Number(value));
}
