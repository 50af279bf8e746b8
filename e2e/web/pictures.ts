/**
 * Pictures of every page, for people to look at: `npm run pictures -- <folder> [words]` in `web/`. Words take the pages whose names
 * contain one. Each page is shown on a phone, a tablet, a laptop and a wide screen, by turns light and dark, English and German.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { startApplication } from './application.ts';
import { addressOf, contextFor, type Opening, type World } from './scenario.ts';
import { PAGES } from './shapes.ts';

const HEIGHT = 900;
const TOUCH_BELOW = 600;

/** Each width with the look that it is shown in; turning them over shows the other half. */
const LOOKS: readonly Opening[] = [
  { width: 390, dark: false, locale: 'de-DE' },
  { width: 390, dark: true, locale: 'en-GB' },
  { width: 834, dark: true, locale: 'de-DE' },
  { width: 1440, dark: false, locale: 'en-GB' },
  { width: 1440, dark: true, locale: 'de-DE' },
  { width: 2560, dark: false, locale: 'de-DE' },
];

const [folder, ...words] = process.argv.slice(2);
if (!folder) throw new Error('say where the pictures go: npm run pictures -- <folder> [words]');
mkdirSync(folder, { recursive: true });
const application = await startApplication('sqlite');
const browser = await launchChromium();
const world: World = {
  application,
  database: 'sqlite',
  engine: 'chromium',
  contexts: [],
  browserFor: async () => browser,
};
try {
  for (const look of LOOKS) {
    const how = { ...look, height: HEIGHT, touch: (look.width ?? 0) < TOUCH_BELOW };
    const page = await (await contextFor(world, how)).newPage();
    for (const [name, opening, ready] of PAGES) {
      if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
      await page.goto('about:blank');
      await page.goto(addressOf(application.url, opening));
      await ready(page, application);
      const file = `${name.replaceAll(/\W+/g, '-')}-${look.width}-${look.dark ? 'dark' : 'light'}-${look.locale}.png`;
      await page.screenshot({ path: join(folder, file) });
    }
    await page.context().close();
  }
} finally {
  await browser.close();
  await application.end();
}
