/** The columns of the list, and the buttons of a task. */
import {
  dueTime,
  html,
  menuButton,
  nothing,
  stateBadge,
  text,
  timeShort,
  type Column,
  type Row,
  type TemplateResult,
} from '@svc/web';
import { nameOf, type Choice, type Task } from './api.ts';

/** So many transitions are buttons, the rest are in a menu. */
const MOST_BUTTONS = 2;

/** What the columns need from the list. */
export interface Place {
  /** Whether sets are told apart: the list is of several. */
  readonly hasSets: boolean;
  /** Whether the person may take records on. */
  readonly mayAct: boolean;
  isBusy(task: Task): boolean;
  /** What says most about its record; none while that isn't known. */
  factsOf(task: Task): string;
  take(task: Task, choice: Choice): void;
}

export const taskOf = (row: Row) => row as unknown as Task;

function column(
  name: string,
  [width, share]: readonly [number, number],
  cell: Column['cell'],
  plain: Column['plain'],
): Column {
  return { name, title: text(`tasks-column-${name}`), width, share, cell, plain, numeric: false, sortable: false };
}

function acts({ isBusy, take }: Place, task: Task): TemplateResult {
  const buttons = task.choices.slice(0, MOST_BUTTONS);
  const others = task.choices.slice(MOST_BUTTONS);
  return html`${buttons.map(
    (choice) =>
      html`<button type="button" tabindex="-1" class="svc-button" aria-label=${text('tasks-act', { choice: choice.title, name: nameOf(task) })} title=${choice.title} ?disabled=${isBusy(task)} @click=${() => take(task, choice)}><span>${choice.title}</span></button>`,
  )}${
    others.length > 0
      ? menuButton(
          text('tasks-more', { name: nameOf(task) }),
          () => others.map((choice) => ({ label: choice.title, run: () => take(task, choice) })),
          { isStop: false },
        )
      : nothing
  }${
    // It awaits the person, who can't do anything about it yet.
    task.choices.length === 0 ? html`<span class="svc-soft">${text('tasks-nothing-possible')}</span>` : nothing
  }`;
}

export function taskColumns(place: Place): Column[] {
  return [
    column(
      'name',
      [130, 1.2],
      (row) => nameOf(taskOf(row)),
      (row) => nameOf(taskOf(row)),
    ),
    {
      ...column(
        'state',
        [144, 0.7],
        (row) => stateBadge(taskOf(row).state),
        (row) => taskOf(row).state.title,
      ),
      isState: true,
    },
    column(
      'due',
      [184, 0.9],
      (row) => {
        const { due } = taskOf(row);
        if (due === null) return html`<span class="svc-none">–</span>`;
        return dueTime(due, html`<span class="svc-card-label">${text('tasks-column-due')} </span>`);
      },
      (row) => taskOf(row).due ?? '',
    ),
    column(
      'facts',
      [150, 1.9],
      (row) => place.factsOf(taskOf(row)),
      (row) => place.factsOf(taskOf(row)),
    ),
    ...(place.hasSets
      ? [
          column(
            'set',
            [100, 0.7],
            (row) => taskOf(row).entityTitle,
            (row) => taskOf(row).entityTitle,
          ),
        ]
      : []),
    column(
      'since',
      [110, 0.7],
      (row) => {
        const { since } = taskOf(row);
        return since === null ? nothing : timeShort(since);
      },
      (row) => taskOf(row).since ?? '',
    ),
    ...(place.mayAct
      ? [
          {
            ...column(
              'acts',
              [264, 1.3],
              (row) => acts(place, taskOf(row)),
              () => '',
            ),
            isActs: true,
          },
        ]
      : []),
  ];
}
