/** The menu of a list's views: those that are shared, and those that a person keeps. */
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
import { forgetView, keepView, MOST_VIEWS, shareView, stopSharing, type SavedView } from './saved-views.ts';

/** What the menu works on. */
export interface ViewsPlace {
  readonly near: Element;
  readonly set: EntitySet;
  readonly view: ListState;
  readonly views: readonly SavedView[];
  /** Whether the person shares views with everybody, and stops sharing them. */
  readonly mayShare: boolean;
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
  const same = views.filter((view) => asKept(view.state) === now);
  return same.find(({ isShared }) => !isShared) ?? same[0];
}

async function keep({ near, set, view, views, changed }: ViewsPlace): Promise<void> {
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
          changed(await keepView(set, views, typed, view));
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
  const { near, set, views, changed } = place;
  try {
    changed(await forgetView(set, views, name));
    noticesNear(near)?.say({
      text: text('views-forgotten', { name }),
      undo: async () => changed(await keepView(set, views, name, state)),
    });
  } catch (error) {
    noticesNear(near)?.complain(error);
  }
}

/** Shares a view, or stops to; either is taken back by the other. */
async function share({ near, set, changed }: ViewsPlace, view: SavedView, isShared: boolean): Promise<void> {
  const work = (shared: boolean) => (shared ? shareView(set, view) : stopSharing(set, view));
  try {
    changed(await work(isShared));
    noticesNear(near)?.say({
      text: text(isShared ? 'views-shared' : 'views-unshared', { name: view.name }),
      undo: async () => changed(await work(!isShared)),
    });
  } catch (error) {
    noticesNear(near)?.complain(error);
  }
}

/** What can be done with the view that is shown. */
function entriesOf(place: ViewsPlace, current: SavedView): Entry[] {
  const { name, isShared = false } = current;
  const isTaken = place.views.some((one) => one.isShared && one.name === name);
  const entries: Entry[] = [];
  if (!isShared) {
    if (place.mayShare && !isTaken) {
      entries.push({
        label: text('views-share', { name }),
        icon: 'users',
        run: () => void share(place, current, true),
      });
    }
    entries.push({ label: text('views-forget', { name }), icon: 'trash', run: () => void forget(place, current) });
  } else if (place.mayShare) {
    entries.push({ label: text('views-unshare', { name }), icon: 'ban', run: () => void share(place, current, false) });
  }
  return entries;
}

/** Its entries. */
export function viewEntries(place: ViewsPlace): Entry[] {
  const { views, view, show, print } = place;
  const current = currentView(views, view);
  const isUsual = asKept(view) === asKept(EMPTY);
  const own = views.filter(({ isShared }) => !isShared);
  return [
    { label: text('views-usual'), checked: isUsual, run: () => show(EMPTY) },
    ...views.map(
      (one): Entry => ({
        label: one.name,
        ...(one.isShared ? { note: text('views-everybody') } : {}),
        checked: one === current,
        run: () => show(one.state),
      }),
    ),
    ...(!isUsual && !current && own.length < MOST_VIEWS
      ? [{ label: text('views-keep'), icon: 'plus', run: () => void keep(place) } satisfies Entry]
      : []),
    ...(current ? entriesOf(place, current) : []),
    { label: text('print-list'), icon: 'print', run: print },
  ];
}
