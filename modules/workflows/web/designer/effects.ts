/** What a transition does besides: values that it sets, actions that it calls, events that it publishes, people who are told. */
import { html, icon, nothing, text, type TemplateResult } from '@svc/web';
import { assignedText, readAssigned } from './assigned.ts';
import type { Design } from './api.ts';
import type { Assigned, Transition } from './definition.ts';
import { choice, type Known, line, people, some } from './fields.ts';

const KINDS = ['value', 'now', 'me', 'comment'] as const;

type Change = (part: Partial<Transition>) => void;

/** One property that is set. */
function setting(
  prefix: string,
  palette: Design['palette'],
  [property, assigned]: readonly [string, Assigned],
  change: (property: string, assigned: Assigned | undefined) => void,
): TemplateResult {
  const kind = typeof assigned === 'string' ? assigned : 'value';
  const kindOf = palette.properties.find(({ name }) => name === property)?.kind ?? 'text';
  const id = `${prefix}-sets-${property}`;
  return html`<div .style=${'display:flex;gap:.5rem;flex-wrap:wrap;align-items:center'}>
    <label for=${id} .style=${'flex:1 1 6rem'}>${property}</label>
    ${choice(
      id,
      KINDS.map((one) => [one, text(`designer-sets-${one}`)] as const),
      kind,
      (one) => change(property, one === 'value' ? { value: null } : one),
    )}
    ${
      typeof assigned === 'string'
        ? nothing
        : line(
            `${id}-value`,
            assignedText(assigned.value),
            (typed) => change(property, { value: readAssigned(kindOf, typed) }),
            undefined,
            text('designer-sets-what', { name: property }),
          )
    }
    <button type="button" class="svc-button" data-look="plain" aria-label=${text('designer-sets-not', { name: property })} @click=${() => change(property, undefined)}>${icon('close')}</button>
  </div>`;
}

function settings(prefix: string, palette: Design['palette'], way: Transition, change: Change): TemplateResult {
  const sets = way.sets ?? {};
  const put = (property: string, assigned: Assigned | undefined) => {
    const others = Object.entries(sets).filter(([name]) => name !== property);
    const next = assigned === undefined ? others : [...others, [property, assigned] as const];
    change({ sets: next.length === 0 ? undefined : Object.fromEntries(next) });
  };
  const free = palette.properties.filter(({ name, kind }) => !(name in sets) && kind !== 'other');
  return html`<fieldset class="svc-field" data-wide>
    <legend>${text('designer-sets')}</legend>
    ${Object.entries(sets).map((one) => setting(prefix, palette, one, put))}
    ${choice(
      `${prefix}-sets-more`,
      [['', text('designer-sets-more')], ...free.map(({ name }) => [name, name] as const)],
      '',
      (property) => property !== '' && put(property, { value: null }),
      text('designer-sets-more'),
    )}
  </fieldset>`;
}

export function effectsForm(
  prefix: string,
  palette: Design['palette'],
  way: Transition,
  known: Known,
  change: Change,
): TemplateResult {
  return html`
    ${settings(prefix, palette, way, change)}
    ${some(text('designer-calls'), palette.actions, way.calls ?? [], (calls) => change({ calls }))}
    ${some(text('designer-publishes'), palette.events, way.publishes ?? [], (publishes) => change({ publishes }))}
    ${people(`${prefix}-notifies`, text('designer-notifies'), way.notifies ?? [], known, (by) =>
      change({ notifies: by.length === 0 ? undefined : by }),
    )}`;
}
