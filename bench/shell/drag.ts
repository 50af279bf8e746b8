/** What one pointer move costs the main thread while a window is dragged. */
import type { Browser, Page } from 'playwright-core';
import { freshPage, spentIn } from './browser.ts';
import { openMany, ready, type Library } from './open.ts';

const MOVES = 120;
/** Between two moves: a frame, and some room on a busy machine. */
const PAUSE_MS = 25;

const TITLE_BAR: Record<Library, string> = {
  shell: '.shell-window[data-active] .shell-window-title',
  winbox: '.winbox.focus .wb-title, .winbox:last-of-type .wb-title',
  jspanel: '.jsPanel:last-of-type .jsPanel-title',
};

/** Main-thread milliseconds per move, and what it was spent on. */
export interface Cost {
  perMove: number;
  script: number;
  style: number;
  layout: number;
  layouts: number;
}

/** Presses and moves along the same path for everybody, one move a frame; nothing else is asked of the page. */
async function moveAbout(page: Page, x: number, y: number): Promise<Cost> {
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y + 30, { steps: 4 });
  await page.waitForTimeout(100);
  const spent = await spentIn(page, async () => {
    for (let move = 0; move < MOVES; move += 1) {
      await page.mouse.move(x + 30 + (move % 30) * 6, y + 30 + (move % 20) * 4);
      await page.waitForTimeout(PAUSE_MS);
    }
  });
  await page.mouse.up();
  const perMove = (name: string) => (spent(name) * 1000) / MOVES;
  return {
    perMove: perMove('TaskDuration'),
    script: perMove('ScriptDuration'),
    style: perMove('RecalcStyleDuration'),
    layout: perMove('LayoutDuration'),
    layouts: spent('LayoutCount'),
  };
}

/** The cost with `count` windows open. */
export async function dragCost(browser: Browser, url: string, library: Library, count: number): Promise<Cost> {
  const page = await ready(browser, url, library);
  await openMany(page, library, count);
  await page.waitForTimeout(400);
  const bar = await page.locator(TITLE_BAR[library]).last().boundingBox();
  if (!bar) throw new Error(`no title bar of ${library}`);
  const cost = await moveAbout(page, bar.x + 40, bar.y + bar.height / 2);
  await page.context().close();
  return cost;
}

/** What asking for the moves costs on an empty page. */
export async function askingCost(browser: Browser, url: string): Promise<number> {
  const page = await freshPage(browser, `${url}/nothing`);
  const { perMove } = await moveAbout(page, 400, 300);
  await page.context().close();
  return perMove;
}
