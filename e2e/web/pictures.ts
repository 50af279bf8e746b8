/**
 * Pictures of every page, for people to look at: `npm run pictures -- <folder> [words]` in `web/`. Words take the pages whose names
 * contain one, `--width 834` one width. Each page is shown on a phone, a tablet, a laptop and a wide screen, in the light and in the
 * dark, by turns English and German.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { startApplication } from './application.ts';
import { addressOf, contextFor, type Opening, type World } from './scenario.ts';
import { PAGES } from './shapes.ts';

/** Each width in the light and in the dark, in one language or the other; a tablet by mouse and by finger. */
const LOOKS: readonly Opening[] = [
  { width: 390, height: 844, dark: false, locale: 'de-DE', touch: true },
  { width: 390, height: 844, dark: true, locale: 'en-GB', touch: true },
  { width: 834, height: 1112, dark: false, locale: 'en-GB' },
  { width: 834, height: 1112, dark: true, locale: 'de-DE', touch: true },
  { width: 1440, height: 900, dark: false, locale: 'en-GB' },
  { width: 1440, height: 900, dark: true, locale: 'de-DE' },
  { width: 2560, height: 1440, dark: false, locale: 'de-DE' },
  { width: 2560, height: 1440, dark: true, locale: 'en-GB' },
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { width: { type: 'string' } } });
const [folder, ...words] = positionals;
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
    if (values.width !== undefined && Number(values.width) !== look.width) continue;
    const page = await (await contextFor(world, look)).newPage();
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
