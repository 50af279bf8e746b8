/** Somebody else changed the record first: both versions, field by field, and a choice for each that both changed. */
import { html, type TemplateResult } from 'lit';
import { merge, type Values } from '../core/changes.ts';
import { propertyOf, type EntitySet, type Model } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { askIn } from '../parts/dialog.ts';
import { cellText, plain } from '../parts/value.ts';
import { memberName, text } from '../text.ts';

/** Before, mine, and what it has become. */
export interface Versions {
  readonly before: Row;
  readonly mine: Values;
  readonly now: Row;
}

/** Asks; gives what is to be sent, or nothing when nothing shall be. */
export function decide(
  near: Element,
  model: Model,
  set: EntitySet,
  { before, mine, now }: Versions,
  titles: ReadonlyMap<string, string>,
): Promise<Values | undefined> {
  const names = set.properties.filter(({ updatable }) => updatable).map(({ name }) => name);
  const { mine: kept, disagreements, theirs } = merge(before, mine, now, names);
  const shown = (name: string, value: unknown) => {
    const property = propertyOf(set, name);
    return (property && plain(set, property, value, { ...before, ...mine })) || '–';
  };
  const nowShown = (name: string) => {
    const property = propertyOf(set, name);
    return (property && cellText(model, set, property, now)) || '–';
  };
  const choice = (name: string, side: 'mine' | 'theirs', value: string): TemplateResult =>
    html`<label class="svc-choice"><input type="radio" name=${name} value=${side} ?checked=${side === 'mine'} /><span>${value}</span></label>`;
  const body = html`<p>${text('conflict-text')}</p>
    <table class="svc-compare">
      <thead><tr><th scope="col">${text('conflict-field')}</th><th scope="col">${text('conflict-mine')}</th><th scope="col">${text('conflict-theirs')}</th></tr></thead>
      <tbody>
        ${disagreements.map(
          ({ property, mine: value }) => html`<tr>
            <th scope="row">${memberName(set.name, property)}</th>
            <td>${choice(property, 'mine', titles.get(property) ?? shown(property, value))}</td>
            <td>${choice(property, 'theirs', nowShown(property))}</td>
          </tr>`,
        )}
        ${Object.entries(kept).map(
          ([name, value]) =>
            html`<tr><th scope="row">${memberName(set.name, name)}</th><td>${titles.get(name) ?? shown(name, value)}</td><td class="svc-soft">${text('conflict-same')}</td></tr>`,
        )}
        ${theirs.map(
          (name) =>
            html`<tr><th scope="row">${memberName(set.name, name)}</th><td class="svc-soft">${text('conflict-same')}</td><td>${nowShown(name)}</td></tr>`,
        )}
      </tbody>
    </table>`;
  return askIn<Values>(near, {
    title: text('conflict-title'),
    body,
    confirm: text('conflict-save'),
    wide: true,
    answer(dialog) {
      const data = new FormData(dialog.querySelector('form') ?? undefined);
      const mineToo = disagreements.filter(({ property }) => data.get(property) === 'mine');
      return { ...kept, ...Object.fromEntries(mineToo.map(({ property, mine: value }) => [property, value])) };
    },
  });
}
