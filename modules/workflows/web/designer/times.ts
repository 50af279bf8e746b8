/** What happens by itself in a state: when it is due, who is reminded, who may act then, and what the application does. */
import { html, nothing, text, type TemplateResult } from '@svc/web';
import type { Definition, State, Term } from './definition.ts';
import { choice, count, field, type Known, people } from './fields.ts';
import { termOf, unitOf, UNITS, type Unit } from './terms.ts';

const MOST = 366;

/** A span of time; without one it says so. */
function term(
  id: string,
  label: string,
  value: Term | undefined,
  change: (value: Term | undefined) => void,
): TemplateResult {
  const { unit, amount } = value === undefined ? { unit: 'none' as const, amount: 1 } : unitOf(value);
  const units = [['none', text('designer-no-time')], ...UNITS.map((one) => [one, text(`designer-unit-${one}`)])];
  return field(
    id,
    label,
    html`<div .style=${'display:flex;gap:.5rem'}>
      ${choice(id, units as [Unit | 'none', string][], unit, (one) => change(one === 'none' ? undefined : termOf(one, amount)))}
      ${
        unit === 'none'
          ? nothing
          : html`<span .style=${'flex:0 1 7rem'}>${count(
              `${id}-amount`,
              amount,
              [1, unit === 'hours' ? MOST * 24 : MOST],
              (next) => change(termOf(unit, next)),
              text('designer-amount', { label }),
            )}</span>`
      }
    </div>`,
  );
}

export function timesForm(
  prefix: string,
  definition: Definition,
  state: State,
  known: Known,
  change: (part: Partial<State>) => void,
): TemplateResult {
  // Nobody is waited for where records begin or end.
  if (state.kind !== 'intermediate') return html``;
  const leaving = definition.transitions.filter((way) => way.from.includes(state.name) && !way.needsComment);
  const { automatic } = state;
  const set = (part: Partial<State>) => change(part);
  return html`
    ${term(`${prefix}-due`, text('designer-due-in'), state.dueIn, (dueIn) =>
      set({ dueIn, ...(dueIn === undefined ? { escalatesTo: undefined } : {}) }),
    )}
    ${
      state.dueIn === undefined
        ? nothing
        : people(`${prefix}-escalates`, text('designer-escalates-to'), state.escalatesTo ?? [], known, (by) =>
            set({ escalatesTo: by.length === 0 ? undefined : by }),
          )
    }
    ${term(`${prefix}-reminds`, text('designer-reminds-after'), state.remindsAfter, (remindsAfter) => set({ remindsAfter }))}
    ${
      leaving.length === 0
        ? nothing
        : term(`${prefix}-automatic`, text('designer-automatic'), automatic?.after, (after) =>
            set({
              automatic:
                after === undefined
                  ? undefined
                  : { after, transition: automatic?.transition ?? leaving[0]?.name ?? '' },
            }),
          )
    }
    ${
      automatic === undefined
        ? nothing
        : field(
            `${prefix}-taken`,
            text('designer-automatic-transition'),
            choice(
              `${prefix}-taken`,
              leaving.map((way) => [way.name, way.title ?? way.name] as const),
              automatic.transition,
              (transition) => set({ automatic: { ...automatic, transition } }),
            ),
          )
    }`;
}
