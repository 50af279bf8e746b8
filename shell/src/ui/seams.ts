/** The seams between the snapped windows of a webtop: the profile keeps them, and moving one moves all windows at it. */
import { HALVES, limitSplit, seams, type Split } from '../core/snap.ts';
import { effect, untracked } from '../core/signal.ts';
import type { Desk } from './desk.ts';
import type { ShellWindow } from './window.ts';

/** Where seams lie, and how they move. */
export class Seams {
  readonly #desk: Desk;
  #moving: { webtop: string; split: Split } | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
    let known = '';
    effect(() => {
      // Another tab may have moved them.
      const splits = JSON.stringify(desk.webtops().map((webtop) => webtop.split));
      if (splits !== known) untracked(() => desk.windows?.relayout());
      known = splits;
    });
  }

  /** Where the seams of a webtop lie. */
  of(webtop: string): Split {
    if (this.#moving?.webtop === webtop) return this.#moving.split;
    return this.#desk.webtops.peek().find((one) => one.id === webtop)?.split ?? HALVES;
  }

  /** Moves the seams of a webtop; `keep` ends the movement. */
  move(webtop: string, wanted: Split, keep: boolean): void {
    const { windows } = this.#desk;
    const split = limitSplit(wanted, this.#desk.area.peek());
    this.#moving = keep ? undefined : { webtop, split };
    if (keep) this.#desk.webtops.update((all) => all.map((one) => (one.id === webtop ? { ...one, split } : one)));
    for (const win of windows.stacked()) if (win.webtop === webtop && seams(win.placement)) windows.refresh(win);
  }

  /** The first window that is snapped halves the area; those that follow fill what is left. */
  begin(win: ShellWindow): void {
    const others = this.#desk.windows.stacked();
    const at = others.some((one) => one !== win && one.webtop === win.webtop && seams(one.placement));
    if (seams(win.placement) && !at && this.of(win.webtop) !== HALVES) this.move(win.webtop, HALVES, true);
  }
}
