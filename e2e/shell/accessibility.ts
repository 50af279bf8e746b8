/** The automated check, and what it can't see: names, roles and states of what is on screen. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { engineOf } from './browser.ts';
import { box, closeAll, drag, openApp, story, titleOf } from './scenario.ts';
import { SIGN_IN, end, fill, signIn } from './signin.ts';

const AXE = readFileSync(new URL('../../shell/node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

interface Violation {
  id: string;
  help: string;
  nodes: { target: unknown[]; failureSummary?: string }[];
}

/** Runs axe on the page, own frames left out (they are the apps'). */
export async function check(page: Page, where: string): Promise<void> {
  await page.waitForTimeout(250);
  // It is large, and stays in a page.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const violations = await page.evaluate(async (engine) => {
    const { axe } = window as unknown as {
      axe: { run(context: object, options: object): Promise<{ violations: Violation[] }> };
    };
    // Forced colours are the system's; those of a Firefox without a screen are white on a light blue for what is chosen.
    const theirs = engine === 'firefox' && matchMedia('(forced-colors: active)').matches;
    const rules = { 'color-contrast': { enabled: !theirs } };
    return (await axe.run({ exclude: [['iframe']] }, { iframes: false, rules })).violations;
  }, engineOf(page));
  const text = violations.map(
    (one) =>
      `${one.id}: ${one.help}\n    ${one.nodes.map((node) => `${String(node.target)} ${node.failureSummary ?? ''}`).join('\n    ')}`,
  );
  assert.deepEqual(text, [], where);
}

export const LOOKS = [
  ['light', {}],
  ['dark', { dark: true }],
  ['phone', { width: 390, height: 844, touch: true }],
] as const;

const ALL_LOOKS = [...LOOKS, ['forced colours', { forcedColours: true }]] as const;
/** Where there is room for windows beside each other. */
const WIDE_LOOKS = ALL_LOOKS.filter(([look]) => look !== 'phone');

/** What can be told apart when the browser chooses all colours. */
const forced = story(
  'forced colours: edges, marks, choices and focus stay visible',
  { forcedColours: true },
  async ({ page }) => {
    await openApp(page, 'clock');
    const win = await openApp(page, 'sales');
    const looks = (selector: string, pseudo?: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, which) => {
          const style = getComputedStyle(element, which);
          const { backgroundColor, backgroundImage, borderTopWidth, outlineStyle, outlineWidth, color } = style;
          return { backgroundColor, backgroundImage, borderTopWidth, outlineStyle, outlineWidth, color };
        }, pseudo);
    const active = await looks('.shell-window[data-active]');
    assert.deepEqual([active.borderTopWidth, active.outlineStyle], ['1px', 'solid'], 'the active window is marked');
    assert.equal((await looks('.shell-window:not([data-active])')).outlineStyle, 'none');
    const close = await looks('.shell-window[data-active] [data-act=close]', '::before');
    assert.ok(
      close.backgroundColor !== 'rgba(0, 0, 0, 0)' || close.backgroundImage !== 'none',
      'the mark of the close button is drawn',
    );
    const task = await looks('.shell-task[aria-current]');
    assert.notEqual(task.backgroundColor, (await looks('.shell-task:not([aria-current])')).backgroundColor);
    await page.keyboard.press('Control+k');
    assert.equal((await looks('.shell-start-search')).outlineStyle, 'solid', 'the search field has the focus');
    await page.keyboard.press('Escape');
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    assert.equal((await looks('[data-current] .shell-pilot-screen')).outlineStyle, 'solid', 'the webtop on screen');
    assert.equal((await looks('.shell-pilot-card:not([data-current]) .shell-pilot-screen')).outlineStyle, 'none');
    const screen = await looks('[data-current] .shell-pilot-screen');
    assert.notEqual((await looks('.shell-pilot-item')).backgroundColor, screen.backgroundColor, 'its shortcuts');
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    await openApp(page, 'shell.settings', { section: 'taskbar' });
    const off = await looks('.shell-switch > input');
    assert.equal(off.borderTopWidth, '1px', 'a switch that is off has an edge');
    assert.notEqual((await looks('.shell-switch > input', '::before')).backgroundColor, off.backgroundColor);
    await page.getByRole('switch').click();
    const on = await looks('.shell-switch > input');
    assert.notEqual((await looks('.shell-switch > input', '::before')).backgroundColor, on.backgroundColor);
    assert.notEqual(on.backgroundColor, off.backgroundColor);
    await page.getByRole('switch').click();
    await page.keyboard.press('Alt+Shift+W');
    await page.keyboard.press('Alt+Shift+M');
    const chosen = await looks('.shell-menu-item:focus');
    assert.notEqual(chosen.backgroundColor, (await looks('.shell-menu-item:not(:focus)')).backgroundColor);
    await page.keyboard.press('Escape');
    await page.keyboard.press('F6');
    assert.equal((await looks('.shell-taskbar button:focus')).outlineStyle, 'solid', 'the focus is visible');
    await drag(page, await titleOf(win), { x: 3, y: 400 }, false);
    assert.notEqual((await looks('.shell-guide')).borderTopWidth, '0px', 'the snap guide has an edge');
    await page.mouse.up();
    await check(page, 'forced colours');
  },
);

/** What is seen by those who asked for more contrast, or for less that shines through. */
const solid = ['prefers-contrast', 'prefers-reduced-transparency'].flatMap((feature) =>
  [false, true].map((dark) => {
    const moreContrast = feature === 'prefers-contrast';
    const how = { dark, moreContrast, lessTransparency: !moreContrast };
    return story(`${feature}: nothing shines through (${dark ? 'dark' : 'light'})`, how, async ({ page }) => {
      const opaque = (selector: string) =>
        page.waitForFunction((which) => {
          const part = document.querySelector(which);
          const style = part && getComputedStyle(part);
          return style?.backgroundColor.startsWith('rgb(') && style.backdropFilter === 'none';
        }, selector);
      await opaque('.shell-taskbar');
      if (moreContrast) await opaque('.shell-tile-label');
      await openApp(page, 'sales');
      await check(page, `${feature}, a window`);
      await page.keyboard.press('F9');
      await opaque('.shell-pilot-backdrop');
      await opaque('.shell-pilot-screen');
      await check(page, `${feature}, the pilot view`);
    });
  }),
);

/** What the browser does at 200 %: half as many CSS pixels, of twice the size. */
const zoom = story(
  'zoom: at 200 % everything is reachable and nothing is cut off',
  { width: 720, height: 450, scale: 2 },
  async ({ page }) => {
    const inside = async (selector: string, where: string) => {
      for (const part of await page.locator(selector).all()) {
        if (!(await part.isVisible())) continue;
        const { x, y, width, height } = await box(part);
        assert.ok(
          x >= -1 && y >= -1 && x + width <= 721 && y + height <= 451,
          `${where}: ${selector} lies at ${[x, y, width, height]}`,
        );
      }
    };
    await page.locator('.shell-start-button').click();
    await inside('.shell-start, .shell-start-input, .shell-start-footer', 'start menu');
    await page.locator('.shell-start [data-app="shell.settings"]').click();
    const win = page.locator('.shell-window');
    await win.waitFor();
    await inside('.shell-taskbar, .shell-titlebar, .shell-tab', 'settings');
    await win.locator('input[type=color]').scrollIntoViewIfNeeded();
    await inside('.shell-window input[type=color]', 'settings, scrolled');
    await page.keyboard.press('Alt+Shift+M');
    await inside('.shell-menu', 'window menu');
    const last = page.getByRole('menuitem').last();
    await page.keyboard.press('End');
    await inside('.shell-menu-item:focus', 'the last entry of the menu');
    assert.match((await last.textContent()) ?? '', /^Close/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('F9');
    await inside('.shell-pilot-window, .shell-pilot-card, .shell-pilot-add', 'pilot');
    await page.keyboard.press('Escape');
    await closeAll(page);
    await inside('.shell-main .shell-tile', 'webtop');
    await page.locator('.shell-tile').first().click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await inside('.shell-dialog', 'dialog');
    await page.keyboard.press('Escape');
    await check(page, 'zoomed');
  },
);

/** What lies over the windows for a moment. */
const overWindows = WIDE_LOOKS.map(([look, how]) =>
  story(`axe: previews, switcher, layouts, offer for the other half (${look})`, how, async ({ page }) => {
    for (const id of ['sales', 'sales', 'people', 'clock']) await openApp(page, id);
    const preview = page.locator('.shell-preview');
    await page.locator('.shell-task[data-app=sales]').hover();
    await preview.waitFor();
    await check(page, 'a preview under a pointer that rests');
    await page.mouse.move(700, 100);
    await preview.waitFor({ state: 'detached' });
    await page.locator('.shell-task[data-app=sales]').press('Enter');
    await preview.waitFor();
    await check(page, 'previews with the windows in them');
    await page.keyboard.press('Escape');
    await preview.waitFor({ state: 'detached' });
    await page.keyboard.down('Control');
    await page.keyboard.press('Backquote');
    await page.locator('.shell-switcher').waitFor();
    await check(page, 'switcher');
    await page.keyboard.press('Escape');
    await page.keyboard.up('Control');
    await page.keyboard.press('Alt+Shift+M');
    await page.getByRole('menu').getByText('Arrange').click();
    await page.locator('.shell-layout').first().waitFor();
    await check(page, 'layouts');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.locator('.shell-window[data-app=clock] .shell-window-title').click();
    await page.keyboard.press('Alt+Shift+ArrowLeft');
    await page.locator('.shell-assist').waitFor();
    await check(page, 'the offer for the other half');
    assert.equal(await page.locator('.shell-assist').count(), 1, 'it was there all the time');
  }),
);

/** What is told, and what the start menu keeps. */
const told = ALL_LOOKS.map(([look, how]) =>
  story(`axe: start menu with pins and recent apps, toasts, bell, notices (${look})`, how, async ({ page }) => {
    await openApp(page, 'clock');
    await page.locator('.shell-task[data-app=clock]').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Pin', exact: true }).click();
    await openApp(page, 'sales');
    await closeAll(page);
    await page.locator('.shell-start-button').click();
    for (const name of ['Pinned', 'Recent']) await page.getByRole('heading', { name, exact: true }).waitFor();
    await check(page, 'start menu');
    await page.keyboard.press('Escape');
    const toast = page.locator('.shell-toast');
    await page.locator('.shell-tile').first().focus();
    await page.keyboard.press('Delete');
    await page.evaluate(() => {
      window.Shell.notify({ title: 'Invoice 4711 is overdue', text: 'Contoso, since Monday', appId: 'sales' });
      window.Shell.notify({ title: 'Backup done' });
    });
    // Those that offer something stay for ten seconds, the last one while somebody points at it.
    await toast.nth(2).hover();
    await check(page, 'toasts and the bell');
    assert.equal(await toast.count(), 3, 'they were there all the time');
    await page.locator('.shell-bell').click();
    assert.equal(await page.locator('.shell-notice').count(), 2);
    await check(page, 'notices');
    for (const title of ['Backup done', 'Invoice 4711 is overdue'])
      await page.getByRole('button', { name: `Close ${title}` }).click();
    await check(page, 'no notices');
  }),
);

/** Who is let in, and a window that is all of the page. */
const alone = ALL_LOOKS.flatMap(([look, how]) => [
  story(
    `axe: several ways to sign in, a session that has ended (${look})`,
    { ...how, ...SIGN_IN },
    async ({ page }) => {
      await check(page, 'the card of several providers');
      await fill(page, 'ada', 'wrong');
      await page.getByRole('alert').filter({ hasText: 'User name or password is wrong.' }).waitFor();
      await check(page, 'an attempt that failed');
      await signIn(page);
      await openApp(page, 'notes');
      await end(page);
      await page.getByText('Your session has ended, Ada Lovelace.').waitFor();
      await check(page, 'a session that has ended');
    },
  ),
  story(`axe: a pop-out (${look})`, { ...how, path: '/?app=people' }, async ({ page }) => {
    await page.locator('.shell-window[data-app=people] .shell-host > *').first().waitFor();
    await check(page, 'its window');
    await page.locator('.shell-window-icon').click();
    await page.getByRole('menuitem').first().waitFor();
    await check(page, 'its menu');
  }),
]);

/** The browser's own size of text, twice as large: what holds it grows along. */
const text = story('text: of twice the size it is whole wherever it stands', { locale: 'de-AT' }, async ({ page }) => {
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '32px';
  });
  const whole = async (selector: string) => {
    const all = page.locator(selector);
    assert.ok((await all.count()) > 0, selector);
    const cut = await all.evaluateAll((elements) =>
      elements
        .filter((element) => element.checkVisibility())
        .filter(
          ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
            scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1,
        )
        .map((element) => element.textContent),
    );
    assert.deepEqual(cut, [], selector);
  };
  await page.locator('.shell-clock-time', { hasText: /\d/ }).waitFor();
  await whole('.shell-taskbar, .shell-clock, .shell-main .shell-tile, .shell-main .shell-tile-label');
  const tiles = await Promise.all((await page.locator('.shell-main .shell-tile').all()).map((tile) => box(tile)));
  assert.ok((tiles[5]?.y ?? 0) >= (tiles[0]?.y ?? 0) + (tiles[0]?.height ?? 0), 'rows lie below each other');
  const label = page.locator('.shell-main .shell-tile-label', { hasText: 'Calculator' });
  assert.ok((await box(label)).height < 50, 'a word stays in one line');
  await page.locator('.shell-start-button').click();
  await whole('.shell-start-app, .shell-start-footer');
  await page.keyboard.press('Escape');
  const win = await openApp(page, 'shell.settings');
  await whole('.shell-tab, .shell-window-title, .shell-titlebar');
  await page.keyboard.press('Alt+Shift+M');
  await whole('.shell-menu, .shell-menu-text');
  await page.keyboard.press('Escape');
  await page.evaluate(() => window.Shell.notify({ title: 'Rechnung 4711', text: 'Contoso', appId: 'sales' }));
  await whole('.shell-toast, .shell-toast-text, .shell-toast-action');
  await page.locator('.shell-bell').click();
  await whole('.shell-notice-head, .shell-notice-open');
  await page.keyboard.press('Escape');
  assert.equal(await win.isVisible(), true);
});

export const accessibility = [
  text,
  forced,
  ...solid,
  zoom,
  ...overWindows,
  ...told,
  ...alone,
  ...LOOKS.flatMap(([look, how]) => [
    story(`axe: desktop, start, search, menu (${look})`, how, async ({ page }) => {
      await check(page, 'desktop');
      await page.locator('.shell-start-button').click();
      await check(page, 'start menu');
      await page.getByRole('combobox').fill('no');
      await page.getByRole('option').first().waitFor();
      await check(page, 'search');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await openApp(page, 'clock');
      await page.keyboard.press('Alt+Shift+M');
      await check(page, 'window menu');
    }),
    story(`axe: windows, settings, web link (${look})`, how, async ({ page }) => {
      for (const section of ['appearance', 'taskbar', 'language', 'keyboard', 'about']) {
        await openApp(page, 'shell.settings', { section });
        await check(page, `settings, ${section}`);
      }
      await openApp(page, 'shell.weblink');
      await check(page, 'web link');
      for (const id of ['notes', 'people', 'tasks', 'contact', 'calendar', 'handbook']) await openApp(page, id);
      await check(page, 'apps');
    }),
    story(`axe: pilot, folder, dialog (${look})`, how, async ({ page }) => {
      await openApp(page, 'clock');
      await openApp(page, 'sales');
      await page.keyboard.press('F9');
      await page.getByRole('button', { name: 'Add webtop' }).click();
      await check(page, 'pilot');
      await page.keyboard.press('Escape');
      await closeAll(page);
      await page.locator('.shell-tile').first().click({ button: 'right' });
      await page.getByRole('menu').getByText('Move to folder').click();
      await page.getByRole('menu').last().getByText('New folder').click();
      await page.locator('.shell-tile[data-folder]').click();
      await check(page, 'folder');
      await page.keyboard.press('Escape');
      await page.locator('.shell-tile[data-folder]').click({ button: 'right' });
      await page.getByRole('menu').getByText('Rename').click();
      await page.getByRole('dialog').waitFor();
      await check(page, 'dialog');
    }),
  ]),
];
