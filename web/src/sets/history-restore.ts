/** The way back to an earlier state of a record: what will happen, field by field, before it does. */
import { html, nothing, type TemplateResult } from 'lit';
import { asProblem } from '../client/request.ts';
import { previewOf, restore, type Preview, type PreviewField, type RestoreAction } from '../client/history.ts';
import type { Entry, RestoreMode } from '../core/history.ts';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import { askIn } from '../parts/dialog.ts';
import { icon } from '../parts/icons.ts';
import { badge } from '../parts/value.ts';
import { capitalised, sentence } from '../parts/states.ts';
import { exactTime, find, text } from '../text.ts';
import { fieldName, historyText, type ReferenceNames } from './history-values.ts';
import { noticesNear } from './notices.ts';

/** The record that is taken back. */
export interface RestorePlace {
  readonly near: Element;
  readonly set: EntitySet;
  readonly key: string;
  /** The record as it is now, where it's there and known. */
  readonly now?: Row;
  readonly names: ReferenceNames;
}

/** What came of somebody's decision. */
type Outcome = { readonly action: RestoreAction } | { readonly refused: Problem };

/** Single fields can be chosen where a record changes; one that goes or comes does so as a whole. */
function isByField({ action }: Preview): boolean {
  return action === 'change';
}

/**
 * Why something can't go back, in the person's language where it is known by its code: of a record (`refused`) or, behind a field's name,
 * of that (`history-obstacle`). The server's own words are English.
 */
export function whyStays(
  of: 'refused' | 'history-obstacle',
  { code, problem }: { readonly code: string | null; readonly problem: string | null },
): string {
  return (code === null ? undefined : find(`${of}-${code.replaceAll(/[._]/g, '-')}`)) ?? problem ?? '';
}

/** What others have changed since stays, unless somebody wants it back, too. */
function isChosen(mode: RestoreMode, { changedLater, problem }: PreviewField): boolean {
  return problem === null && (mode !== 'Undo' || !changedLater);
}

/** What the record holds now, or would hold with all of its fields taken back. */
function held({ now = {} }: RestorePlace, { fields }: Preview, of: 'now' | 'restored'): Row {
  return { ...now, ...Object.fromEntries(fields.map((field) => [field.name, field[of]])) };
}

function row(place: RestorePlace, preview: Preview, field: PreviewField, mode: RestoreMode): TemplateResult {
  const { set, names } = place;
  const shown = (of: 'now' | 'restored') => historyText(set, names, field.name, field[of], held(place, preview, of));
  const name = fieldName(set, field);
  const head = isByField(preview)
    ? html`<label class="svc-choice"><input type="checkbox" name="field" value=${field.name} ?checked=${isChosen(mode, field)} ?disabled=${field.problem !== null} /><span>${name}</span></label>`
    : name;
  return html`<tr>
    <th scope="row">${head}</th>
    <td>${shown('now')}${field.changedLater ? html` ${badge(text('history-changed-later'), 'warn')}` : nothing}</td>
    <td>${shown('restored')}${field.problem === null ? nothing : html`<p class="svc-note" data-wrong>${name} ${whyStays('history-obstacle', field)}</p>`}</td>
  </tr>`;
}

function bar(tone: 'danger' | 'warn', lines: readonly string[]): TemplateResult {
  return html`<div class="svc-bar" data-tone=${tone} role="alert">${icon('alert')}<span>${lines.map((line) => html`${line}<br />`)}</span></div>`;
}

/** Why it was not done: somebody was first, or the server refused it as a whole or field by field. */
function refusal(place: RestorePlace, problem: Problem, { fields }: Preview): TemplateResult {
  const lines = problem.fields.map(({ field: name, message, code = problem.code }) => {
    const field = fields.find((one) => one.name === name);
    return `${field ? fieldName(place.set, field) : name} ${whyStays('history-obstacle', { code, problem: message })}`;
  });
  return bar(problem.status === 409 ? 'warn' : 'danger', lines.length > 0 ? lines : [sentence(problem)]);
}

function body(
  place: RestorePlace,
  preview: Preview,
  entry: Entry,
  mode: RestoreMode,
  told: TemplateResult | typeof nothing,
): TemplateResult {
  const { fields, action } = preview;
  const isLater = fields.some(({ changedLater }) => changedLater);
  return html`${told}${preview.problem === null ? nothing : bar('danger', [capitalised(whyStays('refused', preview))])}
    <p>${text(`history-will-${action}`, { mode, time: exactTime(entry.time) })}</p>
    ${isByField(preview) && isLater && mode === 'Undo' ? html`<p>${text('history-later-text')}</p>` : nothing}
    ${
      fields.length > 0 && action !== 'delete'
        ? html`<div class="svc-scroll" tabindex="0" role="group" aria-label=${text('history-fields')}><table class="svc-compare">
          <thead><tr><th scope="col">${text('conflict-field')}</th><th scope="col">${text('history-now')}</th><th scope="col">${text('history-afterwards')}</th></tr></thead>
          <tbody>${fields.map((field) => row(place, preview, field, mode))}</tbody>
        </table></div>`
        : nothing
    }`;
}

function confirming({ action }: Preview): string {
  return text(action === 'delete' ? 'delete' : action === 'nothing' ? 'close' : 'history-restore');
}

async function ask(
  place: RestorePlace,
  entry: Entry,
  mode: RestoreMode,
  preview: Preview,
  told: TemplateResult | typeof nothing,
): Promise<Outcome | undefined> {
  const { version, action } = preview;
  return askIn<Outcome>(place.near, {
    title: text(`history-title-${mode}`, { operation: entry.operation }),
    body: body(place, preview, entry, mode, told),
    confirm: confirming(preview),
    wide: true,
    danger: action === 'delete',
    plain: action === 'nothing',
    async answer(dialog) {
      if (action === 'nothing') {
        dialog.close();
        return undefined;
      }
      const fields = new FormData(dialog.querySelector('form') ?? undefined).getAll('field').map(String);
      if (isByField(preview) && fields.length === 0) {
        dialog.querySelector<HTMLElement>('[name=field]:enabled')?.focus();
        return undefined;
      }
      try {
        const named = isByField(preview) ? { fields } : {};
        return { action: await restore(place.set.name, place.key, { entry: entry.id, version, mode, ...named }) };
      } catch (error) {
        return { refused: asProblem(error) };
      }
    },
  });
}

/** Shows what a way back does, and goes it; gives what became of the record. What is refused, or was overtaken, is shown anew. */
export async function restoreWith(
  place: RestorePlace,
  entry: Entry,
  mode: RestoreMode,
): Promise<RestoreAction | undefined> {
  try {
    let told: TemplateResult | typeof nothing = nothing;
    for (;;) {
      const preview = await previewOf(place.set.name, place.key, entry.id, mode);
      const named = preview.fields.map(({ name, now, restored }) => ({ name, values: [now, restored] }));
      await place.names.learn(named);
      const outcome = await ask(place, entry, mode, preview, told);
      if (!outcome) return undefined;
      if ('action' in outcome) {
        noticesNear(place.near)?.say({ text: text('history-restored') });
        return outcome.action;
      }
      told = refusal(place, outcome.refused, preview);
    }
  } catch (error) {
    noticesNear(place.near)?.complain(error);
    return undefined;
  }
}
