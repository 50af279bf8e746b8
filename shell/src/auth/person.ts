/** Whom a session belongs to, and until when. */
import type { Session } from '../types.ts';

/** Whether two sessions are the same person's. Without an id that can't be said of any two. */
export function samePerson(one: Session | undefined, other: Session | undefined): boolean {
  return one === other || (one?.identity?.id !== undefined && one.identity.id === other?.identity?.id);
}

/** When a session ends, in milliseconds since 1970. */
export function expiryOf(session: Session | undefined): number | undefined {
  const at = session?.expiresAt;
  const time = typeof at === 'string' ? Date.parse(at) : at;
  return time === undefined || !Number.isFinite(time) ? undefined : time;
}
