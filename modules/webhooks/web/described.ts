/** What an event type tells, in the person's language where there are words for it; the server's own words are English. */
import { find, knownModel, setName, text } from '@svc/web';
import type { EventType } from './api.ts';

/** What every set tells of its records. */
const OF_SETS = ['created', 'updated', 'deleted', 'snapshot'] as const;

export function described({ name, description }: Pick<EventType, 'name' | 'description'>): string {
  const [of, what] = name.split('.');
  const told = OF_SETS.find((one) => one === what);
  const set = told && [...knownModel().keys()].find((one) => one.toLowerCase() === of);
  if (told && set) return text(`webhooks-tells-${told}`, { set: setName(set) });
  return find(`event-${name.replaceAll(/[._]/g, '-')}`) ?? description;
}
