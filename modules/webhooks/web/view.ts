/** What the window shows, as an address or a shortcut keeps it. */

export interface View {
  readonly tab: 'endpoints' | 'deliveries' | 'types';
  /** The endpoint or delivery that is open; `new` for one that is made. */
  readonly open: string | undefined;
  readonly subscriptionId: string;
  readonly status: string;
  readonly eventType: string;
}

const LONGEST = 200;

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
    subscriptionId: given('subscriptionId'),
    status: given('status'),
    eventType: given('eventType'),
  };
}

/** The view in short. */
export function writeView(view: View): Record<string, unknown> {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value));
}
