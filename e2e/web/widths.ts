/** Every page on a tablet and on a wide screen, with the longer words and room for fingers. */
import assert from 'node:assert/strict';
import { misfits } from './fits.ts';
import { OVERLAYS, type Looked } from './overlays.ts';
import { addressOf, story, type Scenario } from './scenario.ts';
import { PAGES } from './shapes.ts';

const TABLET = { width: 834, height: 1112 };
const WIDE = { width: 2560, height: 1440 };

/** Walks pages at these widths, and finds nothing that doesn't fit. */
function walk(what: string, pages: readonly Looked[], sizes: readonly (typeof TABLET)[]): Scenario {
  return story(
    what,
    { ...TABLET, touch: true, locale: 'de-DE', later: true, once: true, expects: /412/ },
    async ({ page, application }) => {
      const found: string[] = [];
      for (const [name, opening, ready] of pages) {
        await page.setViewportSize(TABLET);
        await page.goto('about:blank');
        await page.goto(addressOf(application.url, opening));
        await ready(page, application);
        for (const size of sizes) {
          await page.setViewportSize(size);
          // Rows are laid out anew in the frame after.
          await page.evaluate(
            () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
          );
          found.push(...(await misfits(page)).map((misfit) => `${name} at ${size.width}: ${misfit}`));
        }
      }
      assert.deepEqual(found, []);
    },
  );
}

export const widths: Scenario[] = [
  walk(
    'on a tablet and on a wide screen every page fits, and nothing is cut off',
    PAGES.filter((one) => !OVERLAYS.includes(one)),
    [TABLET, WIDE],
  ),
  // A panel stays where it was opened when the screen becomes another one.
  walk('on a tablet what lies over pages fits, and nothing is cut off', OVERLAYS, [TABLET]),
];
