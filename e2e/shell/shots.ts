/** Takes pictures for people to look at: `node ../e2e/shell/shots.ts <folder> [chromium|firefox]`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { engineNamed, open, start } from './browser.ts';
import { openApp } from './scenario.ts';

const [, , folder, browser = 'chromium'] = process.argv;
if (!folder) throw new Error('name the folder for the pictures');
mkdirSync(folder, { recursive: true });
const world = await start(engineNamed(browser));
const LOOKS = [
  ['desktop-light-en', {}],
  ['desktop-dark-de', { dark: true, locale: 'de-AT' }],
  ['phone-light-de', { width: 390, height: 844, touch: true, locale: 'de-AT' }],
  ['phone-dark-en', { width: 390, height: 844, touch: true, dark: true }],
] as const;
for (const [name, how] of LOOKS) {
  const { page, context } = await open(world, { ...how, options: { defaults: { effect: 'network' } } });
  const shot = async (what: string) => {
    await page.waitForTimeout(350);
    await page.screenshot({ path: join(folder, `${name}-${what}.png`) });
  };
  await shot('webtop');
  await page.locator('.shell-start-button').click();
  await shot('start');
  await page.getByRole('combobox').fill('re');
  await page.getByRole('option').first().waitFor();
  await shot('search');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  for (const id of ['gallery', 'notes', 'people']) await openApp(page, id);
  await shot('windows');
  await page.keyboard.press('Alt+Shift+M');
  await shot('menu');
  await page.keyboard.press('Escape');
  await page.keyboard.press('F9');
  await page.locator('.shell-pilot-add').click();
  await shot('pilot');
  await page.keyboard.press('Escape');
  await openApp(page, 'shell.settings');
  await shot('settings');
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-act=close]')) button.click();
  });
  await openApp(page, 'unsteady');
  await openApp(page, 'shell.weblink');
  await page.locator('.shell-failure').waitFor();
  await shot('forms');
  await context.close();
}
await world.end();
