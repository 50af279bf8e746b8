/**
 * A day at the desk in WebKit: one story in a dozen steps, over the classic WebDriver that WebKitGTK speaks.
 *
 * `node ../e2e/shell/webkit.ts` plays it; a folder as argument gets pictures of the main states, light and dark.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../../shell/scripts/play.ts';
import { launchWebKit, type WebKitPage } from '../../shell/scripts/webkit.ts';
import type { Box, Point } from './scenario.ts';

const SIZE = { width: 1440, height: 900 };
const WAIT_MS = 10_000;
/** Keys as WebDriver numbers them. */
const KEYS: Record<string, string> = {
  Enter: '\uE007',
  Shift: '\uE008',
  Control: '\uE009',
  Alt: '\uE00A',
  Escape: '\uE00C',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  F9: '\uE039',
};

/** A page, and what a person does on it. */
class Visitor {
  readonly page: WebKitPage;

  constructor(page: WebKitPage) {
    this.page = page;
  }

  /** Loads the playground and waits until the desktop stands. */
  async visit(url: string): Promise<void> {
    await this.page.goto(url);
    await this.until('the desktop', "return document.querySelector('.shell-tile, .shell-window') !== null");
    await this.page.run(`
      window.problems = [];
      for (const name of ['error', 'unhandledrejection', 'securitypolicyviolation'])
        addEventListener(name, (event) => problems.push(name + ' ' + (event.message ?? event.reason ?? event.violatedDirective)));
    `);
  }

  /** Waits until the body of a function returns true. */
  async until(what: string, script: string, ...values: unknown[]): Promise<void> {
    const deadline = Date.now() + WAIT_MS;
    while (!(await this.page.run<boolean>(script, ...values))) {
      assert.ok(Date.now() < deadline, `waited for ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  count(selector: string): Promise<number> {
    return this.page.run(`return document.querySelectorAll(arguments[0]).length`, selector);
  }

  /** Where the first match is. */
  async box(selector: string): Promise<Box> {
    await this.until(selector, 'return document.querySelector(arguments[0]) !== null', selector);
    return this.page.run<Box>(
      `const { x, y, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
       return { x, y, width, height };`,
      selector,
    );
  }

  async middle(selector: string): Promise<Point> {
    const { x, y, width, height } = await this.box(selector);
    return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
  }

  #pointer(actions: readonly Record<string, unknown>[]): Promise<void> {
    return this.page.act([{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }]);
  }

  async click(at: Point | string): Promise<void> {
    const { x, y } = typeof at === 'string' ? await this.middle(at) : at;
    await this.#pointer([
      { type: 'pointerMove', duration: 0, x, y },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]);
  }

  async drag(from: Point, to: Point): Promise<void> {
    const between = (share: number) => ({
      type: 'pointerMove',
      duration: 20,
      x: Math.round(from.x + (to.x - from.x) * share),
      y: Math.round(from.y + (to.y - from.y) * share),
    });
    const steps = Array.from({ length: 10 }, (_unused, index) => between((index + 1) / 10));
    await this.#pointer([
      { type: 'pointerMove', duration: 0, ...from },
      { type: 'pointerDown', button: 0 },
      ...steps,
      // Resting tells a placed pointer from a thrown one.
      { type: 'pause', duration: 200 },
      between(1),
      { type: 'pointerUp', button: 0 },
    ]);
  }

  /** A key with those held meanwhile: `Control+ArrowLeft`. */
  async key(combination: string): Promise<void> {
    const keys = combination.split('+').map((key) => KEYS[key] ?? key);
    await this.page.act([
      {
        type: 'key',
        id: 'keyboard',
        actions: [
          ...keys.map((value) => ({ type: 'keyDown', value })),
          ...keys.reverse().map((value) => ({ type: 'keyUp', value })),
        ],
      },
    ]);
  }

  async type(text: string): Promise<void> {
    for (const letter of text) await this.key(letter);
  }

  async open(id: string): Promise<void> {
    assert.equal(await this.page.run('return Shell.openApp(arguments[0])', id), true);
    await this.until(`the window of ${id}`, `return document.querySelector(arguments[0]) !== null`, active(id));
  }

  /** Waits until the window of an app is placed. */
  placed(id: string, placement: string): Promise<void> {
    return this.until(
      `${id} to be ${placement}`,
      'return document.querySelector(arguments[0])?.dataset.placement === arguments[1]',
      `.shell-window[data-app=${id}]`,
      placement,
    );
  }
}

function active(id: string): string {
  return `.shell-window[data-app="${id}"][data-active]`;
}

/** The story: what happens, and what holds after it. */
const STORY: [string, (visitor: Visitor, url: string) => Promise<void>][] = [
  [
    'start: the shortcuts stand in a grid above the taskbar',
    async (visitor) => {
      assert.equal(await visitor.count('.shell-tile'), 10);
      const bar = await visitor.box('.shell-taskbar');
      assert.deepEqual([bar.x, bar.y, bar.width, bar.height], [8, 844, 1424, 52]);
    },
  ],
  [
    'a click on a shortcut opens its app, and typing goes where one clicks',
    async (visitor) => {
      await visitor.click('.shell-tile');
      await visitor.box(active('notes'));
      await visitor.click(`${active('notes')} textarea`);
      await visitor.type('Wool');
      await visitor.until('the text', "return document.querySelector('.shell-window textarea').value.includes('Wool')");
    },
  ],
  [
    'a window is dragged by its title, and snaps at an edge',
    async (visitor) => {
      const title = `${active('notes')} .shell-window-title`;
      const [from, before] = [await visitor.middle(title), await visitor.box(active('notes'))];
      await visitor.drag(from, { x: from.x + 90, y: from.y + 60 });
      const after = await visitor.box(active('notes'));
      assert.deepEqual([after.x - before.x, after.y - before.y, after.width], [90, 60, before.width]);
      await visitor.drag(await visitor.middle(title), { x: 3, y: 400 });
      await visitor.placed('notes', 'left');
    },
  ],
  [
    'keys snap, and menus say the same',
    async (visitor) => {
      await visitor.open('clock');
      await visitor.key('Control+ArrowRight');
      await visitor.placed('clock', 'right');
      await visitor.key('Control+ArrowUp');
      await visitor.placed('clock', 'topRight');
      await visitor.key('Alt+Shift+M');
      await visitor.until(
        'the menu’s first entry',
        "return document.activeElement?.getAttribute('role') === 'menuitem'",
      );
      await visitor.key('Escape');
      assert.equal(await visitor.count('[role=menu]'), 0);
    },
  ],
  [
    'a press beside a menu only closes it, over a frame, too',
    async (visitor) => {
      await visitor.open('handbook');
      await visitor.until('the page in the frame', "return frames[0]?.document.querySelector('#field') !== null");
      await visitor.open('clock');
      await visitor.click(`${active('clock')} .shell-window-icon`);
      await visitor.box('[role=menu]');
      const { x, y, height } = await visitor.box('.shell-window[data-app=handbook]');
      await visitor.click({ x: Math.round(x + 60), y: Math.round(y + height - 60) });
      await visitor.until('the menu to go', "return document.querySelector('[role=menu]') === null");
      assert.equal(await visitor.count(active('clock')), 1, 'the window above the frame is still the active one');
      await visitor.click({ x: Math.round(x + 60), y: Math.round(y + height - 60) });
      await visitor.box(active('handbook'));
    },
  ],
  [
    'the start menu opens apps, and search finds them',
    async (visitor) => {
      await visitor.click('.shell-start-button');
      await visitor.until('the caret', "return document.activeElement?.getAttribute('role') === 'combobox'");
      await visitor.type('calc');
      await visitor.box('[role=option]');
      await visitor.key('Enter');
      await visitor.box(active('calculator'));
      assert.equal(await visitor.count('.shell-start'), 0);
    },
  ],
  [
    'settings change the look at once',
    async (visitor) => {
      await visitor.open('shell.settings');
      await visitor.page.run("document.querySelector('.shell-window input[value=dark]').click()");
      await visitor.until('the dark look', "return document.querySelector('shell-desktop').dataset.theme === 'dark'");
    },
  ],
  [
    'the pilot view shows all windows, and adds a webtop',
    async (visitor) => {
      await visitor.key('F9');
      await visitor.click('.shell-pilot-add');
      await visitor.until('two webtops', "return document.querySelectorAll('.shell-dot').length === 2");
      await visitor.key('Escape');
      await visitor.until('the pilot view to go', "return document.querySelector('.shell-pilot') === null");
      await visitor.page.run("document.querySelector('.shell-dot').click()");
    },
  ],
  [
    'a shortcut is dragged to another cell',
    async (visitor) => {
      await visitor.page.run("for (const one of document.querySelectorAll('[data-act=minimize]')) one.click()");
      await visitor.until(
        'a clear desk',
        "return document.querySelectorAll('.shell-window:not(.shell-away)').length === 0",
      );
      const from = await visitor.middle('.shell-tile .shell-plate');
      const grid = await visitor.box('.shell-main .shell-grid');
      await visitor.drag(from, {
        x: Math.round(grid.x + grid.width * 0.9),
        y: Math.round(grid.y + grid.height * 0.83),
      });
      await visitor.until(
        'the shortcut in its new cell',
        `const box = [...document.querySelectorAll('.shell-tile')].map((one) => one.getBoundingClientRect());
         return box.some((one) => one.x > arguments[0] && one.y > arguments[1]);`,
        grid.x + grid.width * 0.8,
        grid.y + grid.height * 0.66,
      );
    },
  ],
  [
    'no error came up meanwhile',
    async (visitor) => assert.deepEqual(await visitor.page.run('return window.problems'), []),
  ],
  [
    'another visit restores windows, look, webtops and shortcuts',
    async (visitor, url) => {
      const windows = await visitor.count('.shell-window');
      // A change is saved a moment later.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await visitor.visit(url);
      assert.equal(await visitor.count('.shell-window'), windows);
      assert.equal(await visitor.page.run("return document.querySelector('shell-desktop').dataset.theme"), 'dark');
      assert.equal(await visitor.count('.shell-dot'), 2);
      await visitor.page.run("document.querySelector('.shell-task[data-app=notes]').click()");
      await visitor.placed('notes', 'left');
      assert.deepEqual(await visitor.page.run('return window.problems'), []);
    },
  ],
];

/** Opens the playground, does something there, and closes it. */
async function during(work: (visitor: Visitor, url: string) => Promise<void>): Promise<void> {
  const { server, url } = await serve(0);
  const page = await launchWebKit(SIZE);
  try {
    const visitor = new Visitor(page);
    await visitor.visit(url);
    await work(visitor, url);
  } finally {
    await page.end();
    server.close();
    server.closeAllConnections();
  }
}

/** Takes pictures for people to look at. */
async function takePictures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const looks: [string, Record<string, string>][] = [
    ['desktop-light-en', { theme: 'light', locale: 'en' }],
    ['desktop-dark-de', { theme: 'dark', locale: 'de' }],
  ];
  for (const [look, settings] of looks) {
    await during(async (visitor, url) => {
      await visitor.until('the profile to be saved', "return 'shell' in localStorage");
      await visitor.page.run(
        `localStorage.shell = JSON.stringify({ ...JSON.parse(localStorage.shell), settings: arguments[0] })`,
        settings,
      );
      await visitor.visit(url);
      const take = async (what: string) => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        writeFileSync(join(folder, `${look}-${what}.png`), await visitor.page.picture());
      };
      await take('webtop');
      await visitor.click('.shell-start-button');
      await take('start');
      await visitor.type('re');
      await take('search');
      await visitor.key('Escape');
      await visitor.key('Escape');
      for (const id of ['gallery', 'notes', 'people']) await visitor.open(id);
      await take('windows');
      await visitor.key('Alt+Shift+M');
      await take('menu');
      await visitor.key('Escape');
      await visitor.key('Control+ArrowRight');
      await visitor.key('F9');
      await take('pilot');
      await visitor.key('Escape');
      await visitor.open('shell.settings');
      await take('settings');
    });
  }
}

const folder = process.argv[2];
if (folder) {
  await takePictures(folder);
} else {
  await during(async (visitor, url) => {
    for (const [name, scene] of STORY) {
      await scene(visitor, url);
      console.log(`ok      ${name}`);
    }
  });
}
