/** The values that a transition sets, as a form has them; pure. */

/** How a value is written in a line; null is an empty one. */
export function assignedText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean);
}

/** Reads what is written of a property of a kind: what is none of it stays as it was written, and the server says what is wrong. */
export function readAssigned(kind: string, typed: string): unknown {
  if (typed === '') return null;
  if (kind === 'number' && Number.isFinite(Number(typed))) return Number(typed);
  if (kind === 'boolean' && (typed === 'true' || typed === 'false')) return typed === 'true';
  return typed;
}
