/** The menu of views that a person keeps of a list. */
import { html } from 'lit';
import { asProblem } from '../client/request.ts';
import { EMPTY, withoutPlace, writeState, type ListState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import { askIn } from '../parts/dialog.ts';
import { freshId } from '../parts/part.ts';
import type { Entry } from '../parts/popover.ts';
import { sentence } from '../parts/states.ts';
import { text } from '../text.ts';
import { noticesNear } from './notices.ts';
import { forgetView, keepView, MOST_VIEWS, type SavedView } from './saved-views.ts';

/** What the menu works on. */
export interface ViewsPlace {
  readonly near: Element;
  readonly set: EntitySet;
  readonly view: ListState;
  readonly views: readonly SavedView[];
  show(state: ListState): void;
  print(): void;
  changed(views: readonly SavedView[]): void;
}

function asKept(state: ListState): string {
  return JSON.stringify(writeState(withoutPlace(state)));
}

/** The view that is shown just now. */
export function currentView(views: readonly SavedView[], state: ListState): SavedView | undefined {
  const now = asKept(state);
  return views.find((view) => asKept(view.state) === now);
}

async function keep({ near, set, view, changed }: ViewsPlace): Promise<void> {
  const id = freshId('view');
  let wrong = '';
  const name = await askIn<string>(near, {
    title: text('views-keep'),
    body: html`<div class="svc-form"><div class="svc-field" data-wide>
      <label for=${id}>${text('views-name')}</label>
      <input id=${id} class="svc-input" maxlength="80" autocomplete="off" aria-describedby="${id}-note" />
      <p id="${id}-note" class="svc-note" role="alert" data-wrong></p>
    </div></div>`,
    confirm: text('save'),
    async answer(dialog) {
      const input = dialog.querySelector<HTMLInputElement>('input');
      const typed = input?.value.trim() ?? '';
      try {
        if (typed) {
          changed(await keepView(set, typed, view));
          return typed;
        }
        wrong = text('field-required');
      } catch (error) {
        wrong = sentence(asProblem(error));
      }
      dialog.querySelector('[role=alert]')?.replaceChildren(wrong);
      input?.focus();
      return undefined;
    },
  });
  if (name) noticesNear(near)?.say({ text: text('views-kept', { name }) });
}

async function forget(place: ViewsPlace, { name, state }: SavedView): Promise<void> {
  const { near, set, changed } = place;
  try {
    changed(await forgetView(set, name));
    noticesNear(near)?.say({
      text: text('views-forgotten', { name }),
      undo: async () => changed(await keepView(set, name, state)),
    });
  } catch (error) {
    noticesNear(near)?.complain(error);
  }
}

/** Its entries. */
export function viewEntries(place: ViewsPlace): Entry[] {
  const { views, view, show, print } = place;
  const current = currentView(views, view);
  const isUsual = asKept(view) === asKept(EMPTY);
  return [
    { label: text('views-usual'), checked: isUsual, run: () => show(EMPTY) },
    ...views.map((one): Entry => ({ label: one.name, checked: one === current, run: () => show(one.state) })),
    ...(!isUsual && !current && views.length < MOST_VIEWS
      ? [{ label: text('views-keep'), icon: 'plus', run: () => void keep(place) } satisfies Entry]
      : []),
    ...(current
      ? [
          {
            label: text('views-forget', { name: current.name }),
            icon: 'trash',
            run: () => void forget(place, current),
          } satisfies Entry,
        ]
      : []),
    { label: text('print-list'), icon: 'print', run: print },
  ];
}
