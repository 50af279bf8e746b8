/**
 * The offer for the other half: a window was snapped to one side, and the other side is free. The windows that could fill it
 * show there as cards. It's an offer, not a question: the focus stays where it is, F6 leads to it, and it goes as soon as
 * somebody does anything else.
 */
import { oppositeHalf, placementRect, seams } from '../core/snap.ts';
import { effect, scope, untracked, type Dispose } from '../core/signal.ts';
import { t } from '../i18n.ts';
import { Loan, windowCard } from './cards.ts';
import type { Desk } from './desk.ts';
import { arrowStep, consume, h, listen } from './dom.ts';
import type { ShellWindow } from './window.ts';

/** The most windows that are offered. */
const MOST = 6;

let end: Dispose | undefined;

/** Takes the offer back. */
export function endAssist(): void {
  end?.();
  end = undefined;
}

/** Offers to fill the half beside a window that was just snapped. */
export function offerOtherHalf(desk: Desk, win: ShellWindow): void {
  endAssist();
  const side = oppositeHalf(win.placement);
  const here = desk.windows.stacked().filter((one) => one !== win && one.webtop === win.webtop);
  const taken = here.some((one) => !one.minimized && seams(one.placement));
  const offered = here
    .filter((one) => one.placement === 'normal')
    .slice(-MOST)
    .reverse();
  if (!side || taken || offered.length === 0 || desk.compact.peek() || desk.popOut) return;
  const loan = new Loan(desk);
  const cards = offered.map((one) =>
    windowCard(desk, one, {
      pick: () => {
        endAssist();
        desk.windows.activate(one);
        desk.windows.place(one, side);
      },
    }),
  );
  const panel = h(
    'div.shell-assist',
    {
      role: 'group',
      'aria-label': t('assist.title'),
      part: 'assist',
      onkeydown: (event: KeyboardEvent) => {
        const all = [...panel.querySelectorAll<HTMLElement>('button')];
        const step = arrowStep(event);
        if (!step || event.altKey || event.ctrlKey) return;
        all.at((all.indexOf(document.activeElement as HTMLElement) + step) % all.length)?.focus();
        consume(event);
      },
    },
    cards,
  );
  const rect = placementRect(side, desk.area.peek(), desk.windows.seams.of(win.webtop));
  panel.style.cssText = `left:${rect.x}px;top:${rect.y}px;width:${rect.width}px;height:${rect.height}px`;
  desk.windowLayer.append(panel);
  loan.take(panel, offered);
  desk.announce(t('assist.say'));
  // What led here is no reason to go.
  desk.windows.tell();
  const [, dispose] = scope(() => {
    let first = true;
    effect(() => {
      desk.windows.revision();
      desk.windows.activeId();
      desk.area();
      desk.activeWebtop();
      if (!first) untracked(endAssist);
      first = false;
    });
  });
  const leave = (event: Event) => {
    if (!(event.target instanceof Node && panel.contains(event.target))) endAssist();
  };
  const ends = [
    listen(document, 'pointerdown', leave, { capture: true }),
    listen(document, 'keydown', (event) => {
      if (event.key !== 'Escape') return;
      const inside = panel.contains(document.activeElement);
      endAssist();
      if (inside) desk.windows.focusInside(win);
    }),
    listen(document, 'input', leave, { capture: true }),
  ];
  end = () => {
    dispose();
    for (const off of ends) off();
    panel.remove();
    loan.end();
  };
}
