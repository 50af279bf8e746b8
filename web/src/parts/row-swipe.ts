/**
 * What can be done with a row, by a swipe: where rows are two lines of text, a finger that pulls one to the left lays open its
 * buttons. A pull back, a press anywhere else, Escape and scrolling close them.
 *
 * Up and down the browser scrolls by itself (`touch-action`) and takes the finger away; only what goes sideways arrives here. A
 * pull from the edge of the screen is left to the browser, which may go back by it.
 */
import { html, nothing, type TemplateResult } from 'lit';
import { text } from '../text.ts';
import { icon } from './icons.ts';
import { menuButton, type Entry } from './popover.ts';

/** How far a finger moves before it means something, in pixels. */
const SLACK = 10;
/** By how much more sideways than up or down. */
const SIDEWAYS = 1.5;
/** What of the screen is the browser's, at both sides. */
const EDGE = 20;
/** A finger that is this fast when it's lifted throws: pixels a millisecond. */
const THROWN = 0.4;
/** A finger that rested so long before it was lifted throws nothing. */
const RESTED_MS = 100;
/** So many buttons have room beside the name of the row. */
const MOST = 3;

/** Whether the buttons stay open behind a pull: as far as more than half of them, or thrown that way. */
function staysOpen(by: number, width: number, speed: number): boolean {
  return Math.abs(speed) > THROWN ? speed < 0 : -by > width / 2;
}

/** What a swipe needs of the table around it. */
export interface Swiped {
  /** The element on which the way of the pull is kept. */
  readonly grid: HTMLElement | null;
  /** Draws the buttons of a row, or of none any more. */
  show(key: string | undefined): Promise<unknown>;
  focus(): void;
}

/** Follows the finger on the rows of a table. */
export class RowSwipe {
  readonly #table: Swiped;
  #key: string | undefined;
  /** How far the row is pulled; it goes no further than its buttons are wide. */
  #by = 0;
  #shown: Promise<unknown> = Promise.resolve();
  #hasTaken = false;
  #away = new AbortController();

  constructor(table: Swiped) {
    this.#table = table;
  }

  /** Whether the press that a click ends pulled a row, or closed the buttons of one: it then means nothing else. */
  takesClick(): boolean {
    const hasTaken = this.#hasTaken;
    this.#hasTaken = false;
    if (hasTaken) void this.close();
    return hasTaken;
  }

  get isOpen(): boolean {
    return this.#key !== undefined;
  }

  /** A pointer is pressed on a row, which has something to lay open where it has a key. */
  press(event: PointerEvent, key: string | undefined): void {
    this.#hasTaken = this.isOpen;
    const { clientX: x, clientY: y } = event;
    if (key === undefined || event.pointerType !== 'touch' || !event.isPrimary) return;
    if (x < EDGE || x > innerWidth - EDGE) return;
    this.#follow(event, key, x, y);
  }

  #follow({ pointerId, timeStamp }: PointerEvent, key: string, x: number, y: number): void {
    const end = new AbortController();
    const from = this.#key === key ? this.#by : 0;
    let last = { x, time: timeStamp };
    let speed = 0;
    let isPulled = false;
    const move = (moved: PointerEvent) => {
      if (moved.pointerId !== pointerId) return;
      const [by, along] = [moved.clientX - x, Math.abs(moved.clientY - y)];
      if (!isPulled) {
        if (Math.max(Math.abs(by), along) < SLACK) return;
        // It scrolls, or pulls to where nothing is.
        if (Math.abs(by) < along * SIDEWAYS || from + by > 0) {
          end.abort();
          return;
        }
        isPulled = true;
        this.#hasTaken = true;
        this.#hold(key);
      }
      speed = (moved.clientX - last.x) / Math.max(1, moved.timeStamp - last.time);
      last = { x: moved.clientX, time: moved.timeStamp };
      this.#move(from + by);
    };
    const lift = (lifted: PointerEvent) => {
      if (lifted.pointerId !== pointerId) return;
      end.abort();
      if (!isPulled) return;
      const hasRested = lifted.timeStamp - last.time > RESTED_MS;
      void this.#settle(from < 0, lifted.type === 'pointercancel', hasRested ? 0 : speed);
    };
    const { signal } = end;
    document.addEventListener('pointermove', move, { signal });
    document.addEventListener('pointerup', lift, { signal });
    document.addEventListener('pointercancel', lift, { signal });
  }

  get #buttons(): HTMLElement | null {
    return this.#table.grid?.querySelector<HTMLElement>('.svc-swipe') ?? null;
  }

  get #width(): number {
    return this.#buttons?.offsetWidth ?? 0;
  }

  /** The buttons are drawn while the finger is on its way. */
  #hold(key: string): void {
    this.#table.grid?.toggleAttribute('data-pulled', true);
    if (this.#key === key) return;
    this.#key = key;
    this.#shown = this.#table.show(key).then(() => this.#move(this.#by));
    this.#away.abort();
    this.#away = new AbortController();
    const elsewhere = ({ target }: Event) => {
      if (!(target as Element).closest?.('[data-swiped]')) void this.close();
    };
    document.addEventListener('pointerdown', elsewhere, { signal: this.#away.signal });
  }

  #move(by: number): void {
    this.#by = Math.min(0, by);
    this.#table.grid?.style.setProperty('--svc-swiped', `${Math.max(this.#by, -this.#width)}px`);
  }

  /** The finger is lifted, or the browser took it away (`isCut`). */
  async #settle(wasOpen: boolean, isCut: boolean, speed: number): Promise<void> {
    await this.#shown;
    if (!(isCut ? wasOpen : staysOpen(this.#by, this.#width, speed))) return this.close();
    this.#table.grid?.toggleAttribute('data-pulled', false);
    this.#move(-this.#width);
  }

  /** Closes the buttons; they are there until the row is back. */
  async close(): Promise<void> {
    const key = this.#key;
    if (key === undefined) return;
    this.#away.abort();
    this.#key = undefined;
    const { grid } = this.#table;
    grid?.toggleAttribute('data-pulled', false);
    this.#move(0);
    const buttons = this.#buttons;
    if (buttons?.contains(document.activeElement)) this.#table.focus();
    const row = buttons?.parentElement;
    await Promise.allSettled(row?.getAnimations({ subtree: true }).map(({ finished }) => finished) ?? []);
    // Another row may have been pulled meanwhile.
    if (this.#key === undefined) await this.#table.show(undefined);
  }
}

/** The buttons: the likeliest, what else there is, and the last, which may be the one that deletes. */
export function swipeButtons(entries: readonly Entry[], close: () => void): TemplateResult {
  const [first, ...others] = entries;
  const last = others.at(-1);
  const isMany = entries.length > MOST;
  const button = (entry: Entry | undefined, look: string) =>
    entry === undefined
      ? nothing
      : html`<button
          type="button"
          class="svc-button"
          tabindex="-1"
          data-look=${entry.danger ? 'danger' : look}
          @click=${() => {
            close();
            entry.run();
          }}
          >${entry.icon ? icon(entry.icon) : nothing}<span>${entry.label}</span></button
        >`;
  const between = others.slice(0, -1);
  const rest = () =>
    between.map((entry): Entry => {
      const run = () => {
        close();
        entry.run();
      };
      return { ...entry, run };
    });
  return html`<span role="gridcell" class="svc-swipe">
    ${button(first, 'primary')}
    ${isMany ? menuButton(text('more'), rest, { wordless: false, look: 'default', isStop: false }) : between.map((entry) => button(entry, 'default'))}
    ${button(last, 'default')}
  </span>`;
}
