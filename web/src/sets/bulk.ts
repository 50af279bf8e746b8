/** Works on many records one after the other: says how far it is, can be stopped, and tells what was refused. */
import { html, render } from 'lit';
import { asProblem } from '../client/request.ts';
import { change, read } from '../client/sets.ts';
import { isGroupable } from '../core/list-state.ts';
import type { EntitySet, Model, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { askIn } from '../parts/dialog.ts';
import { Draft } from '../parts/draft.ts';
import { field, type Place } from '../parts/field.ts';
import { freshId } from '../parts/part.ts';
import { sentence } from '../parts/states.ts';
import { inSentence, memberName, number, setName, text } from '../text.ts';
import { noticesNear } from './notices.ts';

/** What became of it. */
export interface Worked {
  readonly done: readonly string[];
  readonly refused: number;
}

/** What is said in the end. */
interface Told {
  /** In place of how many were done and refused. */
  readonly text?: (worked: Worked) => string;
  /** Takes it back for those that were done. */
  readonly undo?: () => Promise<void>;
}

/** Does the work for each key until all are done or somebody stops it, and says what became of it. */
export async function workOn(
  near: Element,
  title: string,
  keys: readonly string[],
  work: (key: string) => Promise<void>,
  told: Told = {},
): Promise<Worked> {
  const done: string[] = [];
  let refused = 0;
  let reason: unknown;
  let isStopped = false;
  const slot = document.createElement('div');
  const show = () =>
    render(
      html`<progress class="svc-progress" max=${keys.length} .value=${done.length + refused} aria-label=${title}></progress>
        <p role="status">${text('bulk-so-far', { done: number(done.length + refused, 0), total: number(keys.length, 0) })}</p>`,
      slot,
    );
  show();
  const stopped = askIn<true>(near, {
    title,
    body: html`${slot}`,
    confirm: text('bulk-stop'),
    plain: true,
    answer: () => true,
  });
  void stopped.then(() => {
    isStopped = true;
  });
  for (const key of keys) {
    if (isStopped) break;
    try {
      await work(key);
      done.push(key);
    } catch (error) {
      refused += 1;
      reason ??= error;
    }
    show();
  }
  slot.closest('dialog')?.close();
  const worked = { done, refused };
  const counted =
    told.text?.(worked) ?? text('bulk-done', { done: done.length, refused, left: keys.length - done.length - refused });
  const why = reason === undefined ? '' : ` ${sentence(asProblem(reason))}`;
  const notices = noticesNear(near);
  if (done.length === 0 && reason !== undefined) notices?.complain(reason);
  else notices?.say({ text: counted + why, ...(told.undo && done.length > 0 ? { undo: told.undo } : {}) });
  return worked;
}

/** Asks for a property and a value, and gives it to all of the records. Says which have it now. */
export async function changeMany(
  near: Element,
  model: Model,
  set: EntitySet,
  keys: readonly string[],
): Promise<readonly string[]> {
  const properties = set.properties.filter(({ updatable, kind }) => updatable && kind !== 'binary');
  // What many share is likelier to be changed than what each has for itself.
  let property: Property | undefined = properties.find(isGroupable) ?? properties.at(-1);
  if (!property) return [];
  let draft = new Draft();
  const prefix = freshId('bulk');
  const slot = document.createElement('div');
  slot.className = 'svc-form';
  const show = (): undefined => {
    const place: Place = { model, set, draft, prefix, required: ({ nullable }) => !nullable, changed: show };
    render(
      html`<div class="svc-field" data-wide><label for="${prefix}-which">${text('bulk-property')}</label>
          <select id="${prefix}-which" class="svc-input" @change=${(event: Event) => {
            const name = (event.target as HTMLSelectElement).value;
            property = properties.find((one) => one.name === name);
            draft = new Draft();
            show();
          }}>${properties.map((one) => html`<option value=${one.name} .selected=${one === property}>${memberName(set.name, one.name)}</option>`)}</select></div>
        ${property ? field(place, property) : ''}`,
      slot,
    );
  };
  show();
  const name = inSentence(setName(set.name));
  const values = await askIn(near, {
    title: text('bulk-change', { count: keys.length, name }),
    body: html`${slot}`,
    confirm: text('bulk-change-do', { count: keys.length }),
    answer() {
      if (!property) return undefined;
      const isGiven = property.nullable || draft.isComplete([property]);
      if (!isGiven || draft.wrong(property)) return show();
      return { [property.name]: draft.value(property.name) ?? null };
    },
  });
  if (!values) return [];
  const before = new Map<string, Row>();
  const names = Object.keys(values);
  const put = async (key: string, what: Row) => {
    const now = await read(set, key, { $select: [set.key, ...names].join(',') });
    await change(set, key, what, now['@odata.etag']);
    return now;
  };
  const worked = await workOn(
    near,
    text('bulk-change', { count: keys.length, name }),
    keys,
    async (key) => {
      const now = await put(key, values);
      before.set(key, Object.fromEntries(names.map((one) => [one, now[one]])));
    },
    {
      async undo() {
        for (const [key, was] of before) await put(key, was);
        noticesNear(near)?.dispatchEvent(new CustomEvent('records-changed', { bubbles: true }));
      },
    },
  );
  return worked.done;
}
