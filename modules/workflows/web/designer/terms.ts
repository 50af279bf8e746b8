/** Spans of time, as a form has them; pure. */
import type { Term } from './definition.ts';

export const UNITS = ['hours', 'days', 'workingDays'] as const;

export type Unit = (typeof UNITS)[number];

export function unitOf(term: Term): { readonly unit: Unit; readonly amount: number } {
  if ('hours' in term) return { unit: 'hours', amount: term.hours };
  return 'days' in term ? { unit: 'days', amount: term.days } : { unit: 'workingDays', amount: term.workingDays };
}

export function termOf(unit: Unit, amount: number): Term {
  if (unit === 'hours') return { hours: amount };
  return unit === 'days' ? { days: amount } : { workingDays: amount };
}
