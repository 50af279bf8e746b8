/** What the window shows, as an address or a shortcut keeps it. */

/** What narrows the log; empty where it doesn't. */
export const NARROWING = [
  'subscriptionId',
  'status',
  'eventType',
  'eventId',
  'entityType',
  'entityId',
  'statusCode',
  'since',
  'until',
] as const;

export type Narrowing = { readonly [name in (typeof NARROWING)[number]]: string };

export interface View extends Narrowing {
  readonly tab: 'endpoints' | 'deliveries' | 'types';
  /** The endpoint or delivery that is open; `new` for one that is made. */
  readonly open: string | undefined;
}

const LONGEST = 200;

/** What narrows the log, taken from something that may say it. */
export function narrowing(from: (name: string) => string): Narrowing {
  return Object.fromEntries(NARROWING.map((name) => [name, from(name)])) as Narrowing;
}

/** The log as it is. */
export const WHOLE = narrowing(() => '');

/** Reads what an address says; what makes no sense is left out. */
export function readView(value: unknown): View {
  const json = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const given = (name: string) => {
    const found = json[name];
    return typeof found === 'string' && found.length <= LONGEST ? found : '';
  };
  const tab = given('tab');
  return {
    tab: tab === 'deliveries' || tab === 'types' ? tab : 'endpoints',
    open: given('open') || undefined,
    ...narrowing(given),
  };
}

/** The view in short. */
export function writeView(view: View): Record<string, unknown> {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value));
}
