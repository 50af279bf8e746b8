/** Runs an action of a record, or of many: asks for its parameters where it has some, and shows what the server refuses. */
import { html, nothing, render, type TemplateResult } from 'lit';
import { asProblem } from '../client/request.ts';
import { act } from '../client/sets.ts';
import type { EntitySet, Model, Operation } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { askIn } from '../parts/dialog.ts';
import { Draft } from '../parts/draft.ts';
import { field, type Place } from '../parts/field.ts';
import { icon } from '../parts/icons.ts';
import { freshId } from '../parts/part.ts';
import { capitalised } from '../parts/states.ts';
import { find, memberDescription, memberName, text } from '../text.ts';
import { workOn } from './bulk.ts';
import { noticesNear } from './notices.ts';

/** Runs it for a record; says whether it was run. */
export async function runAction(
  near: Element,
  model: Model,
  set: EntitySet,
  key: string,
  operation: Operation,
): Promise<boolean> {
  const ran = await askParameters(near, model, set, operation, (values) => act(set, key, operation, values));
  if (ran) noticesNear(near)?.say({ text: text('action-done', { name: memberName(set.name, operation.name) }) });
  return ran;
}

/** Asks for the parameters once, and runs it for each of many records; says which it was run for. */
export async function runActionMany(
  near: Element,
  model: Model,
  set: EntitySet,
  keys: readonly string[],
  operation: Operation,
): Promise<readonly string[]> {
  let given: Row = {};
  const isGiven = await askParameters(near, model, set, operation, async (values) => {
    given = values;
  });
  if (!isGiven) return [];
  const title = memberName(set.name, operation.name);
  const worked = await workOn(near, title, keys, async (key) => {
    await act(set, key, operation, given);
  });
  return worked.done;
}

/** Asks for the parameters and does the work with them; what it refuses stands at the fields. */
async function askParameters(
  near: Element,
  model: Model,
  set: EntitySet,
  operation: Operation,
  work: (values: Row) => Promise<unknown>,
): Promise<boolean> {
  const name = memberName(set.name, operation.name);
  const draft = new Draft();
  const prefix = freshId('action');
  let complaint: string[] = [];
  const slot = document.createElement('div');
  slot.className = 'svc-form';
  const place: Place = {
    model,
    set,
    draft,
    prefix,
    required: ({ nullable, hasDefault }) => !nullable && !hasDefault,
    changed: () => show(),
    nameOf: (property) => find(`${set.name}-${operation.name}-${property.name}`) ?? memberName(set.name, property.name),
    descriptionOf: (property) =>
      memberDescription(set.name, `${operation.name}-${property.name}`, property.description),
  };
  const show = (): undefined => {
    render(body(operation, place, complaint), slot);
  };
  show();
  const ran = await askIn<true>(near, {
    title: name,
    body: html`${slot}`,
    confirm: name,
    wide: operation.parameters.length > 2,
    async answer() {
      if (!draft.isComplete(operation.parameters.filter((one) => place.required(one)))) return show();
      try {
        await work(draft.changes);
        return true;
      } catch (error) {
        const problem = asProblem(error);
        const names = operation.parameters.map((one) => one.name);
        const rest = draft.refuse(problem, names);
        complaint = problem.fields.length > 0 ? rest : [problem.message];
        show();
        return undefined;
      }
    },
  });
  return ran ?? false;
}

function body(operation: Operation, place: Place, complaint: readonly string[]): TemplateResult {
  const described = memberDescription(place.set.name, operation.name, operation.description);
  return html`${described ? html`<p class="svc-soft">${described}</p>` : nothing}
    ${complaint.map((one) => html`<div class="svc-bar" data-tone="danger" role="alert">${icon('error')}<span>${capitalised(one)}</span></div>`)}
    ${operation.parameters.map((property) => field(place, property))}`;
}
