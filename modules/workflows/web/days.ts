/** Days, as a form has them; pure but for the zone of the machine. */

/** A day as fields of dates have it. */
export function dayOf(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The beginning of a day, and its end, which is the beginning of the next. */
export function boundsOf(day: string): { readonly begins: Date; readonly ends: Date } {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return { begins: new Date(year, month - 1, date), ends: new Date(year, month - 1, date + 1) };
}
