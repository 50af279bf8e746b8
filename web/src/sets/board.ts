/**
 * A list by the states of its workflow: a column for each, a card for each record. A card that is dragged to another column is taken on
 * by the transition that leads there; its button does the same by keys and fingers. A press opens the record.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { hear } from '../client/live.ts';
import { asProblem, isAborted } from '../client/request.ts';
import { facet, few } from '../client/sets.ts';
import { MOVED_TOPIC, standingOf, takeOn, workflowOf, type Choice, type State } from '../client/workflow.ts';
import type { Condition } from '../core/filter.ts';
import type { ListState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { Problem } from '../core/problem.ts';
import { listOptions, shownOptions } from '../core/query.ts';
import { askIn } from '../parts/dialog.ts';
import { icon } from '../parts/icons.ts';
import { define, Part } from '../parts/part.ts';
import { failure, failureBar, sentence } from '../parts/states.ts';
import { STATE, stateBadge, titleOf } from '../parts/value.ts';
import { number, text } from '../text.ts';
import type { SetHost } from './context.ts';
import { factsOf, saidOf } from './facts.ts';
import { noticesNear } from './notices.ts';
import { whatCame, whyNot, withComment } from './transition.ts';

/** So many cards stand in a column; the rest are in the list. */
const MOST_CARDS = 50;
const FOLLOW_MS = 2_000;
/** So far a pointer may wander in a press. */
const STILL = 6;
/** A card that is held so near to an end of the board moves the board along, by so much a frame; both in pixels. */
const EDGE = 48;
const STRIDE = 14;

/** The records in a state. */
interface Column {
  readonly state: State;
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Where a card was taken up, where the pointer is now, and how far the board went and can go. */
interface Press {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly scrolled: number;
  readonly most: number;
  at: { x: number; y: number };
}

/** Why none of the ways to a state is open: a reason for each, with its name where there are several. */
function whyClosed(ways: readonly Choice[]): string {
  const reasons = ways.flatMap(({ title, obstacle }) => (obstacle ? [{ title, why: whyNot(obstacle) }] : []));
  if (reasons.length === 1) return reasons[0]?.why ?? '';
  return reasons.map(({ title, why }) => `${title} – ${why}`).join(' · ');
}

export class SvcBoard extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    view: { attribute: false },
    revision: { attribute: false },
    columns: { state: true },
    problem: { state: true },
    dragged: { state: true },
    over: { state: true },
    isBusy: { state: true },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare view: ListState;
  /** Another one: records may have changed. */
  declare revision: number;
  declare columns: readonly Column[] | undefined;
  declare problem: Problem | undefined;
  /** The card that is dragged, and how far. */
  declare dragged: { key: string; x: number; y: number } | undefined;
  /** The column below it. */
  declare over: string | undefined;
  declare isBusy: boolean;
  #pressed: Press | undefined;
  #rolling: number | undefined;
  /** What was read while a card was held. */
  #waiting: readonly Column[] | undefined;
  #loading: AbortController | undefined;
  #following: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.isBusy = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const soon = () => {
      this.#following ??= setTimeout(() => {
        this.#following = undefined;
        void this.#load();
      }, FOLLOW_MS);
    };
    this.atEnd(hear(`${MOVED_TOPIC}:${this.set.name}`, { heard: soon, missed: soon }));
    this.atEnd(() => {
      clearTimeout(this.#following);
      this.#following = undefined;
      this.#leave();
      this.#loading?.abort();
    });
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('set') || changes.has('view') || changes.has('revision')) void this.#load();
  }

  async #load(): Promise<void> {
    this.#loading?.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    try {
      const asked = (await this.#states(signal)).map(async (state): Promise<Column> => {
        const own = { property: STATE, operator: 'is', values: [state.name] } as const;
        const options = {
          ...listOptions(this.set, { ...this.view, conditions: [...this.#conditions, own] }, new Date()),
          ...shownOptions(this.host.model, this.set, factsOf(this.host.model, this.set)),
        };
        const { rows, total } = await few(this.set.name, { ...options, $count: 'true' }, MOST_CARDS, signal);
        return { state, rows, total: total ?? rows.length };
      });
      this.#show(await Promise.all(asked));
      this.problem = undefined;
    } catch (error) {
      if (!isAborted(error)) this.problem = asProblem(error);
    }
  }

  /** Shows what was read, once nobody holds a card: that stays where it is. */
  #show(columns: readonly Column[]): void {
    if (this.#pressed) this.#waiting = columns;
    else this.columns = columns;
  }

  /** What the list is narrowed by; the board shows all states. */
  get #conditions(): readonly Condition[] {
    return this.view.conditions.filter(({ property }) => property !== STATE);
  }

  /** The states of the workflow, and those of other versions that records stand in. */
  async #states(signal: AbortSignal): Promise<readonly State[]> {
    const { states, otherStates } = await workflowOf(this.set.name, signal);
    if (otherStates.length === 0) return states;
    const { $filter } = listOptions(this.set, { ...this.view, conditions: this.#conditions }, new Date());
    const counted = new Set(
      (await facet(this.set, STATE, $filter === undefined ? {} : { $filter }, signal)).map(({ value }) => value),
    );
    return [...states, ...otherStates.filter(({ name }) => counted.has(name))];
  }

  #keyOf(row: Row): string {
    return String(row[this.set.key]);
  }

  /** Takes a record on to a state, by the transition that leads there. */
  async #moveTo(row: Row, to: string): Promise<void> {
    await this.#work(row, (choices) => {
      const ways = choices.filter((choice) => choice.to.name === to);
      const way = ways.find(({ obstacle }) => obstacle === null);
      if (way) return way;
      const why = ways.length === 0 ? text('board-no-way') : whyClosed(ways);
      noticesNear(this)?.say({ text: `${titleOf(this.host.model, this.set, row)}: ${why}` });
      return undefined;
    });
  }

  /** Asks which way a record is to go. */
  async #ask(row: Row): Promise<void> {
    await this.#work(row, async (choices) => {
      const open = choices.filter(({ obstacle }) => obstacle === null);
      if (open.length === 0) {
        noticesNear(this)?.say({ text: text('board-no-way') });
        return undefined;
      }
      return askIn<Choice>(this, {
        title: titleOf(this.host.model, this.set, row),
        body: html`<fieldset class="svc-field"><legend>${text('board-which')}</legend>${open.map(
          ({ name, title, to }, index) =>
            html`<label class="svc-choice"><input type="radio" name="way" value=${name} .checked=${index === 0} /><span>${title} ${stateBadge(to)}</span></label>`,
        )}</fieldset>`,
        confirm: text('board-move'),
        answer: (dialog) => {
          const chosen = dialog.querySelector<HTMLInputElement>('input:checked')?.value;
          return open.find(({ name }) => name === chosen);
        },
      });
    });
  }

  async #work(
    row: Row,
    choose: (choices: readonly Choice[]) => Choice | undefined | Promise<Choice | undefined>,
  ): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    const key = this.#keyOf(row);
    const name = titleOf(this.host.model, this.set, row);
    try {
      const { version, choices } = await standingOf(this.set.name, key, new AbortController().signal);
      const way = await choose(choices);
      if (!way) return;
      const take = (request: { comment?: string } = {}) =>
        takeOn(this.set.name, key, way.name, { version, ...request });
      const moved = way.needsComment
        ? await withComment(this, { title: way.title, of: name }, (comment) => take({ comment }))
        : await take();
      if (moved instanceof Problem) throw moved;
      if (moved) noticesNear(this)?.say({ text: `${name}: ${whatCame(moved)}` });
    } catch (error) {
      const problem = asProblem(error);
      noticesNear(this)?.complain(problem, `${name}: ${sentence(problem)}`);
    } finally {
      this.isBusy = false;
      await this.#load();
    }
  }

  get #board(): HTMLElement | null {
    return this.querySelector('.svc-board');
  }

  #press(event: PointerEvent, row: Row): void {
    // A finger scrolls; its way is the button.
    if (event.button !== 0 || event.pointerType !== 'mouse' || (event.target as Element).closest('button')) return;
    event.preventDefault();
    const board = this.#board;
    if (!board) return;
    const at = { x: event.clientX, y: event.clientY };
    const { scrollLeft: scrolled, scrollWidth, clientWidth } = board;
    this.#pressed = { key: this.#keyOf(row), ...at, at, scrolled, most: scrollWidth - clientWidth };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  }

  #drag(event: PointerEvent): void {
    const pressed = this.#pressed;
    if (!pressed) return;
    pressed.at = { x: event.clientX, y: event.clientY };
    if (!this.dragged && Math.hypot(pressed.at.x - pressed.x, pressed.at.y - pressed.y) < STILL) return;
    this.#hold(pressed);
    this.#rolling ??= requestAnimationFrame(() => this.#roll());
  }

  /** Draws the card where the pointer is, and marks the column below. */
  #hold({ key, x, y, scrolled, at }: Press): void {
    const moved = (this.#board?.scrollLeft ?? 0) - scrolled;
    this.dragged = { key, x: at.x - x + moved, y: at.y - y };
    const below = document.elementsFromPoint(at.x, at.y);
    this.over = below.map((one) => one.closest<HTMLElement>('[data-column]')?.dataset.column).find((one) => one);
  }

  /** Moves the board along while a card is held at one of its ends. */
  #roll(): void {
    this.#rolling = undefined;
    const [pressed, board] = [this.#pressed, this.#board];
    if (!pressed || !board) return;
    const { left, right } = board.getBoundingClientRect();
    const { x } = pressed.at;
    const way = x < left + EDGE ? -STRIDE : x > right - EDGE ? STRIDE : 0;
    // The card that is held would make the board wider without end.
    const next = Math.max(0, Math.min(pressed.most, board.scrollLeft + way));
    if (next === board.scrollLeft) return;
    board.scrollLeft = next;
    this.#hold(pressed);
    this.#rolling = requestAnimationFrame(() => this.#roll());
  }

  #release(row: Row, from: string): void {
    const { over, dragged } = this;
    const wasPressed = this.#pressed !== undefined;
    this.#leave();
    if (!wasPressed) return;
    if (!dragged) this.#open(row);
    else if (over !== undefined && over !== from) void this.#moveTo(row, over);
  }

  #leave(): void {
    if (this.#rolling !== undefined) cancelAnimationFrame(this.#rolling);
    this.#rolling = undefined;
    this.#pressed = undefined;
    this.dragged = undefined;
    this.over = undefined;
    if (this.#waiting) this.columns = this.#waiting;
    this.#waiting = undefined;
  }

  #open(row: Row): void {
    this.tell('board-open', this.#keyOf(row));
  }

  #card(row: Row, { state }: Column): TemplateResult {
    const key = this.#keyOf(row);
    const title = titleOf(this.host.model, this.set, row);
    const dragged = this.dragged?.key === key ? this.dragged : undefined;
    return html`<li
      class="svc-board-card"
      data-key=${key}
      ?data-dragged=${dragged !== undefined}
      .style=${dragged ? `transform: translate(${dragged.x}px, ${dragged.y}px)` : ''}
      @pointerdown=${(event: PointerEvent) => this.#press(event, row)}
      @pointermove=${(event: PointerEvent) => this.#drag(event)}
      @pointerup=${() => this.#release(row, state.name)}
      @pointercancel=${() => this.#leave()}
    >
      <button type="button" class="svc-card-name" @click=${() => this.#open(row)}>${title}</button>
      <span class="svc-soft">${saidOf(this.host.model, this.set, row)}</span>
      ${
        state.kind === 'final' || !this.host.can('Workflows.Act')
          ? nothing
          : html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('board-move-of', { name: title })} title=${text('board-move')} ?disabled=${this.isBusy} @click=${() => void this.#ask(row)}>${icon('forward')}</button>`
      }
    </li>`;
  }

  #column(column: Column): TemplateResult {
    const { state, rows, total } = column;
    return html`<section class="svc-board-column" data-column=${state.name} ?data-over=${this.over === state.name} aria-label=${state.title}>
      <h2>${stateBadge(state)} <span class="svc-soft">${number(total, 0)}</span></h2>
      <ul>${repeat(
        rows,
        (row) => this.#keyOf(row),
        (row) => this.#card(row, column),
      )}</ul>
      ${total > rows.length ? html`<p class="svc-soft">${text('board-more', { count: total - rows.length })}</p>` : nothing}
    </section>`;
  }

  override render(): TemplateResult {
    const { columns, problem } = this;
    const again = () => void this.#load();
    if (!columns) return problem ? failure(problem, again) : html`<div class="svc-skeleton" aria-busy="true"></div>`;
    return html`${problem ? failureBar(problem, again) : nothing}
      <div class="svc-board" role="group" aria-label=${text('board')}>${columns.map((column) => this.#column(column))}</div>`;
  }
}
define('svc-board', SvcBoard);
