/** Takes pictures for people to look at: `node ../e2e/shell/shots.ts <folder> [chromium|firefox]`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { engineNamed, open, start, type Opening } from './browser.ts';
import { closeAll, drag, middle, openApp } from './scenario.ts';

const [, , folder, browser = 'chromium'] = process.argv;
if (!folder) throw new Error('name the folder for the pictures');
mkdirSync(folder, { recursive: true });
const world = await start(engineNamed(browser));
const PHONE = { width: 390, height: 844, touch: true };
const WIDE = { width: 2560, height: 1440 };
const LOOKS: [string, Opening][] = [
  ['desktop-light-en', {}],
  ['desktop-dark-de', { dark: true, locale: 'de-AT' }],
  ['phone-light-de', { ...PHONE, locale: 'de-AT' }],
  ['phone-dark-en', { ...PHONE, dark: true }],
  ['wide-light-en', WIDE],
  ['wide-dark-de', { ...WIDE, dark: true, locale: 'de-AT' }],
];

type Shot = (what: string) => Promise<void>;

/** Webtop, start menu, search, folder, notices. */
async function lookAtDesktop(page: Page, shot: Shot): Promise<void> {
  await shot('webtop');
  await page.locator('.shell-start-button').click();
  await shot('start');
  await page.getByRole('combobox').fill('re');
  await page.getByRole('option').first().waitFor();
  await shot('search');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const [from, to] = [
    await middle(page.locator('.shell-tile').first()),
    await middle(page.locator('.shell-tile').nth(1)),
  ];
  await drag(page, from, to, false);
  await page.waitForFunction(() => document.querySelector<HTMLElement>('.shell-drop')?.dataset.kind === 'fold');
  await shot('folding');
  await page.mouse.up();
  await page.locator('.shell-tile[data-folder]').first().click();
  await shot('folder');
  await page.keyboard.press('Escape');
  await page.evaluate(() => {
    window.Shell.setBadge('notes', 7);
    window.Shell.notify({ title: 'Invoice 4711 is overdue', text: 'Contoso, since Monday', appId: 'sales' });
    window.Shell.notify({ title: 'Backup done' });
  });
  await shot('notices');
  await page.locator('.shell-bell').click();
  await shot('bell');
  await page.keyboard.press('Escape');
  await page.locator('.shell-tile').first().focus();
  await page.keyboard.press('F2');
  await shot('tile-menu');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Delete');
  await shot('removed');
  await page.keyboard.press('Control+z');
}

/** Windows: free, arranged, in the switcher, in pilot view. */
async function lookAtWindows(page: Page, shot: Shot): Promise<void> {
  for (const id of ['gallery', 'notes', 'people']) await openApp(page, id);
  await shot('windows');
  await page.keyboard.press('Alt+Shift+M');
  await shot('menu');
  await page.keyboard.press('Escape');
  await page.keyboard.down('Control');
  await page.keyboard.press('Backquote');
  await shot('switcher');
  await page.keyboard.up('Control');
  await page.keyboard.press('F9');
  await page.locator('.shell-pilot-add').click();
  await shot('pilot');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  await shot('snapped');
  await page.keyboard.press('Escape');
}

/** What the desktop brings along, and how it looks when something fails. */
async function lookAtApps(page: Page, shot: Shot): Promise<void> {
  for (const section of ['appearance', 'taskbar', 'language', 'keyboard', 'about']) {
    await openApp(page, 'shell.settings', { section });
    await shot(`settings-${section}`);
  }
  await closeAll(page);
  await openApp(page, 'unsteady');
  await openApp(page, 'shell.weblink');
  await page.locator('.shell-failure').waitFor();
  await shot('forms');
  await closeAll(page);
  await page.evaluate(async () => {
    const { Shell } = window;
    const store = Shell.localIdentityStore({
      users: [
        { id: 'ada', userName: 'ada', displayName: 'Ada Lovelace', email: 'ada@example.com', roles: ['clerk'] },
        { id: 'bert', userName: 'bert', displayName: 'Bert Brecht', roles: [], disabled: true },
      ],
      roles: [{ id: 'clerk', title: 'Clerk', permissions: [Shell.MANAGE_IDENTITY] }],
    });
    Shell.configure({ identityStore: store, requireLogin: false });
    await Shell.setSession({
      identity: { id: 'ada', displayName: 'Ada Lovelace' },
      permissions: [Shell.MANAGE_IDENTITY],
    });
    Shell.registerAuthProvider(Shell.localAuthProvider(store, { title: 'Acme' }));
  });
  await openApp(page, 'shell.identity');
  await shot('identity');
  await closeAll(page);
  await page.evaluate(() => void window.Shell.logout());
  await page.evaluate(() => void window.Shell.showLogin());
  await page.locator('.shell-login').waitFor();
  await shot('login');
}

for (const [name, how] of LOOKS) {
  const { page, context } = await open(world, { ...how, options: { defaults: { effect: 'network' } } });
  const shot = async (what: string) => {
    await page.waitForTimeout(350);
    await page.screenshot({ path: join(folder, `${name}-${what}.png`) });
  };
  await lookAtDesktop(page, shot);
  await lookAtWindows(page, shot);
  await lookAtApps(page, shot);
  await context.close();
}
await world.end();
