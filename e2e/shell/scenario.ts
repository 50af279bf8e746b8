/** What scenarios are made of. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { penIn, pressTwice, touch } from '../../shell/scripts/firefox.ts';
import { serve } from '../../shell/scripts/play.ts';
import { engineOf, open, type Desktop, type Opening, type World } from './browser.ts';

/** One played story. */
export interface Scenario {
  name: string;
  /** Who it's played for, when somebody with preferences of their own. */
  how?: Opening;
  run(world: World): Promise<void>;
}

/** A scenario on a fresh desktop that must end without any error on the page. */
export function story(name: string, how: Opening, play: (desktop: Desktop, world: World) => Promise<void>): Scenario {
  return {
    name,
    how,
    async run(world) {
      const desktop = await open(world, how);
      await play(desktop, world);
      assert.deepEqual(desktop.errors, [], 'errors on the page');
    },
  };
}

/** What a page asked a site. */
export interface Asked {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** What a site answers: JSON, or nothing with 204. */
export type Answer = (asked: Asked) => unknown;

/**
 * The playground on a server of its own, which answers what lies under `/api`: what a page sends while it goes can't be
 * listened in on, nor what it sends in Firefox. Pages may talk to `others`, too.
 */
export async function withSite(
  answer: Answer,
  play: (url: string) => Promise<void>,
  others: readonly string[] = [],
): Promise<void> {
  const { server, url } = await serve(0, others, (request, response) => {
    if (!request.url?.startsWith('/api/')) return false;
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const { method = 'GET', headers } = request;
      const answered = answer({ method, url: new URL(request.url ?? '/', 'http://localhost'), headers, body });
      response.writeHead(answered === undefined ? 204 : 200, { 'content-type': 'application/json' });
      response.end(answered === undefined ? undefined : JSON.stringify(answered));
    });
    return true;
  });
  try {
    await play(url);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** A rectangle on screen. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A point on screen. */
export interface Point {
  x: number;
  y: number;
}

/** A finger or a pen: pressed, moved in steps, lifted. */
export interface Pointing {
  press(at: Point): Promise<void>;
  /** Moves on in ten steps and rests, so that it isn't a throw. */
  glide(from: Point, to: Point): Promise<void>;
  lift(at?: Point): Promise<void>;
}

async function stepwise(page: Page, from: Point, to: Point, move: (at: Point) => Promise<unknown>): Promise<void> {
  for (let step = 1; step <= 10; step += 1) {
    await move({ x: from.x + ((to.x - from.x) * step) / 10, y: from.y + ((to.y - from.y) * step) / 10 });
  }
  await page.waitForTimeout(120);
  await move(to);
  await frames(page);
}

/** A finger over WebDriver, whose steps come at whole pixels. */
function webDriverFinger(page: Page): Pointing {
  const at = ({ x, y }: Point) => ({ type: 'pointerMove', x: Math.round(x), y: Math.round(y) }) as const;
  return {
    press: (point) => touch(page, [at(point), { type: 'pointerDown', button: 0 }]),
    glide: (from, to) => stepwise(page, from, to, (point) => touch(page, [at(point)])),
    lift: () => touch(page, [{ type: 'pointerUp', button: 0 }]),
  };
}

/** A finger on a touch screen. */
export async function finger(page: Page): Promise<Pointing> {
  if (engineOf(page) === 'firefox') return webDriverFinger(page);
  const session = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at?: Point) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: at ? [at] : [] });
  return {
    press: async (at) => void (await touch('touchStart', at)),
    glide: (from, to) => stepwise(page, from, to, (at) => touch('touchMove', at)),
    lift: async () => void (await touch('touchEnd')),
  };
}

/** Presses something twice, as people who are used to double clicks do. */
export async function twice(page: Page, what: Locator): Promise<void> {
  if (engineOf(page) !== 'firefox') return what.dblclick();
  const { x, y } = await middle(what);
  await pressTwice(page, x, y);
}

type PenStep = (type: 'mousemove' | 'mousedown' | 'mouseup', at: Point, down: boolean) => Promise<unknown>;

/** A pen by the DevTools protocol. */
async function chromiumPen(page: Page): Promise<PenStep> {
  const session = await page.context().newCDPSession(page);
  const names = { mousemove: 'mouseMoved', mousedown: 'mousePressed', mouseup: 'mouseReleased' } as const;
  return (type, { x, y }, down) =>
    session.send('Input.dispatchMouseEvent', {
      type: names[type],
      x,
      y,
      buttons: Number(down),
      button: 'left',
      clickCount: type === 'mousemove' ? 0 : 1,
      force: Number(down) / 2,
      pointerType: 'pen',
    });
}

/** A pen. */
export async function pen(page: Page): Promise<Pointing> {
  const step: PenStep =
    engineOf(page) === 'firefox' ? (type, { x, y }, down) => penIn(page, type, x, y, down) : await chromiumPen(page);
  let last: Point = { x: 0, y: 0 };
  return {
    async press(at) {
      last = at;
      await step('mousemove', at, false);
      await step('mousedown', at, true);
    },
    async glide(from, to) {
      await stepwise(page, from, to, (at) => step('mousemove', at, true));
      last = to;
    },
    lift: async (at = last) => void (await step('mouseup', at, false)),
  };
}

/** Where something is. */
export async function box(locator: Locator): Promise<Box> {
  await frames(locator.page());
  const rect = await locator.boundingBox();
  assert.ok(rect, `nothing to see of ${String(locator)}`);
  return rect;
}

/** The middle of something. */
export async function middle(locator: Locator): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = await box(locator);
  return { x: x + width / 2, y: y + height / 2 };
}

/** Opens an app through the API and answers its window. */
export async function openApp(page: Page, id: string, intent?: unknown): Promise<Locator> {
  const before = await page.locator('.shell-window').count();
  const opened = await page.evaluate(([app, what]) => window.Shell.openApp(app as string, what), [id, intent] as const);
  assert.equal(opened, true, `openApp(${id})`);
  await page.waitForFunction(() => document.querySelector('.shell-window[data-active]') !== null);
  const windows = page.locator(`.shell-window[data-app="${id}"]`);
  assert.ok((await page.locator('.shell-window').count()) >= before);
  await frames(page);
  return windows.last();
}

/** Waits for two frames, so that what was asked for is drawn. */
export async function frames(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Drags from one point to another with the mouse. */
export async function drag(
  page: Page,
  from: { x: number; y: number },
  to: { x: number; y: number },
  release = true,
): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, from.y + 8, { steps: 2 });
  await page.mouse.move(to.x, to.y, { steps: 12 });
  // Resting a moment tells a placed pointer from a thrown one.
  await page.waitForTimeout(120);
  await page.mouse.move(to.x, to.y);
  await frames(page);
  if (release) await page.mouse.up();
  await frames(page);
}

/** A spot on a title bar that's no button. */
export async function titleOf(win: Locator): Promise<{ x: number; y: number }> {
  return middle(win.locator('.shell-window-title'));
}

/** What the placement attribute says. */
export async function placement(win: Locator): Promise<string | null> {
  return win.getAttribute('data-placement');
}

/** Whether two rectangles are the same but for rounding. */
export function same(actual: Box, expected: Box, what: string): void {
  for (const key of ['x', 'y', 'width', 'height'] as const) {
    assert.ok(Math.abs(actual[key] - expected[key]) <= 1.5, `${what}: ${key} is ${actual[key]}, not ${expected[key]}`);
  }
}

/** Waits until a window has this box, for at most three seconds. */
export async function becomes(win: Locator, expected: Box, what: string): Promise<void> {
  const deadline = Date.now() + 3_000;
  for (;;) {
    const actual = await box(win);
    try {
      same(actual, expected, what);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await frames(win.page());
  }
}

/** The usable area. */
export async function area(page: Page): Promise<Box> {
  const rect = await page.evaluate(() => {
    const { x, y, width, height } = document.querySelector('.shell-stage')?.getBoundingClientRect() ?? new DOMRect();
    return { x, y, width, height };
  });
  return rect;
}

/** Closes all windows. */
export async function closeAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-act=close]')) button.click();
  });
  await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 0);
}

/** Opens a window's menu and picks an entry by its text. */
export async function pick(page: Page, win: Locator, ...titles: string[]): Promise<void> {
  await win.locator('.shell-window-icon').click();
  for (const title of titles) await page.getByRole('menu').last().getByText(title, { exact: true }).click();
}
