/** Makes a record that another one shall refer to, without leaving what one is writing: the fields that have to be said, in a dialog. */
import { html, render, type TemplateResult } from 'lit';
import { asProblem } from '../client/request.ts';
import { create } from '../client/sets.ts';
import { propertyOf, type EntitySet, type Property } from '../core/model.ts';
import { askIn } from '../parts/dialog.ts';
import { Draft } from '../parts/draft.ts';
import { field, type Place } from '../parts/field.ts';
import { icon } from '../parts/icons.ts';
import { freshId } from '../parts/part.ts';
import type { Pick } from '../parts/reference.ts';
import { capitalised, sentence } from '../parts/states.ts';
import { inSentence, singular, text } from '../text.ts';
import { may, type SetHost } from './context.ts';

const isRequired = ({ nullable, hasDefault }: Property) => !nullable && !hasDefault;

/** What has to be said of a new one, its name first. */
function fieldsOf(set: EntitySet): Property[] {
  const asked = set.properties.filter(
    (one) =>
      one.insertable &&
      one.name !== set.key &&
      (one.kind !== 'id' || one.reference !== undefined) &&
      (isRequired(one) || one.name === set.title),
  );
  return asked.toSorted((one, other) => Number(other.name === set.title) - Number(one.name === set.title));
}

function form(place: Place, complaint: readonly string[]): TemplateResult {
  return html`${complaint.map((one) => html`<div class="svc-bar" data-tone="danger" role="alert">${icon('error')}<span>${capitalised(one)}</span></div>`)}
    ${fieldsOf(place.set).map((property) => field(place, property))}`;
}

/** Asks for it and makes it; nothing when it was left. */
async function make(near: Element, host: SetHost, set: EntitySet, typed: string): Promise<Pick | undefined> {
  const draft = new Draft();
  const title = propertyOf(set, set.title);
  if (title && typed !== '') draft.type(title, typed);
  const slot = document.createElement('div');
  slot.className = 'svc-form';
  let complaint: string[] = [];
  const place: Place = {
    model: host.model,
    set,
    draft,
    prefix: freshId('quick'),
    required: isRequired,
    changed: () => show(),
  };
  const show = (): undefined => {
    render(form(place, complaint), slot);
  };
  show();
  const kind = inSentence(singular(set.name, set.type));
  return askIn<Pick>(near, {
    title: text('create-title', { kind }),
    body: html`${slot}`,
    confirm: text('create-save', { kind }),
    async answer() {
      const fields = fieldsOf(set);
      if (!draft.isComplete(fields.filter(isRequired))) return show();
      try {
        const row = await create(set, draft.changes);
        return { key: String(row[set.key]), title: String(row[set.title] ?? row[set.key]) };
      } catch (error) {
        const problem = asProblem(error);
        const names = fields.map(({ name }) => name);
        const rest = draft.refuse(problem, names);
        complaint = problem.fields.length > 0 ? rest : [sentence(problem)];
        return show();
      }
    },
  });
}

/** How one of a set is made from where it is referred to; nothing where that isn't allowed, or has a page of its own. */
export function quickCreate(near: Element, host: SetHost): NonNullable<Place['creatorOf']> {
  return (set) => {
    if (host.look(set.name).create || !may(host, set.insert)) return undefined;
    return (typed) => make(near, host, set, typed);
  };
}
