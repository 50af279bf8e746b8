/** How long ago something was, or in how long it will be, in the unit that says most. */

/** The longest that is said as "ago". */
const DAY_MS = 86_400_000;

/** Counts in a unit; nothing for what is more than a day away. `0` is now. */
export function relativeParts(
  at: number,
  now: number,
): { count: number; unit: 'second' | 'minute' | 'hour' } | undefined {
  const difference = at - now;
  const size = Math.abs(difference);
  if (size >= DAY_MS) return undefined;
  if (size < 10_000) return { count: 0, unit: 'second' };
  if (size < 60_000) return { count: Math.trunc(difference / 1000), unit: 'second' };
  if (size < 3_600_000) return { count: Math.trunc(difference / 60_000), unit: 'minute' };
  return { count: Math.trunc(difference / 3_600_000), unit: 'hour' };
}

/** How many days of the calendar lie between, from a day on; nothing for what is nearer, or further than `most`. */
export function daysBetween(at: number, now: number, most: number): number | undefined {
  if (Math.abs(at - now) < DAY_MS) return undefined;
  const day = (time: number) => {
    const date = new Date(time);
    return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;
  };
  const days = day(at) - day(now);
  return Math.abs(days) <= most ? days : undefined;
}
