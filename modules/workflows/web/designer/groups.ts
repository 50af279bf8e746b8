/** Who takes a transition: some people, or some of each of several groups. */
import { html, icon, nothing, text, type TemplateResult } from '@svc/web';
import type { Group, Transition } from './definition.ts';
import { addGroup, changeGroup, removeGroup } from './edits.ts';
import { count, field, type Known, name, people, tick } from './fields.ts';

const MOST_GROUPS = 5;
const MOST_PEOPLE = 20;

type Change = (part: Partial<Transition>) => void;

function groupForm(
  prefix: string,
  way: Transition,
  [group, place]: readonly [Group, number],
  known: Known,
  change: Change,
): TemplateResult {
  const groups = way.groups ?? [];
  const id = `${prefix}-group-${place}`;
  const put = (part: Partial<Group>) => change(changeGroup(way, place, part));
  return html`<fieldset class="svc-field" data-wide>
    <legend>${text('designer-group', { name: group.name })}</legend>
    ${field(
      `${id}-name`,
      text('designer-name'),
      name(
        `${id}-name`,
        group.name,
        groups.map((one) => one.name),
        (value) => put({ name: value }),
      ),
    )}
    ${people(`${id}-by`, text('designer-group-who'), group.by, known, (by) => put({ by }))}
    ${field(
      `${id}-approvals`,
      text('designer-approvals'),
      count(`${id}-approvals`, group.approvals ?? 1, [1, MOST_PEOPLE], (approvals) => put({ approvals })),
    )}
    <button type="button" class="svc-button" @click=${() => change(removeGroup(way, place))}>${icon('close')}<span>${text('designer-group-remove', { name: group.name })}</span></button>
  </fieldset>`;
}

export function whoForm(prefix: string, way: Transition, known: Known, change: Change): TemplateResult {
  const groups = way.groups ?? [];
  const more = html`<button type="button" class="svc-button" ?disabled=${groups.length >= MOST_GROUPS} @click=${() => change(addGroup(way))}>${icon('plus')}<span>${text('designer-group-add')}</span></button>`;
  if (groups.length > 0) {
    return html`${groups.map((group, place) => groupForm(prefix, way, [group, place], known, change))}
      ${groups.length > 1 ? tick(text('designer-in-sequence'), way.inSequence ?? false, (isOn) => change({ inSequence: isOn ? true : undefined })) : nothing}
      ${more}`;
  }
  return html`${people(`${prefix}-by`, text('designer-who'), way.by, known, (by) => change({ by }))}
    ${field(
      `${prefix}-approvals`,
      text('designer-approvals'),
      count(`${prefix}-approvals`, way.approvals ?? 1, [1, MOST_PEOPLE], (approvals) => change({ approvals })),
    )}
    ${more}`;
}
