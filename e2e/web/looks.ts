/**
 * How every part looks, compared with what is kept in `looks.txt`: the page of patterns, part by part, in the light and in the
 * dark, wide and on a phone, in both languages. `npm run looks` in `web/` keeps how they look now.
 *
 * Kept is text, not pictures: what is laid out where, in which colours, read from the browser. It is small, a difference can be
 * read line by line, and it is the same on every machine, since all letters are one box ([`boxes.ts`](boxes.ts)).
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { boxes } from './boxes.ts';
import { lookOf, looksOf, type Place } from './looks-page.ts';
import { differences, LABELS, WAYS, write, type Seen } from './looks-text.ts';
import { servePatterns } from './patterns.ts';
import { contextFor, type Opening, type Scenario, type World } from './scenario.ts';

const FILE = new URL('looks.txt', import.meta.url);
const HEAD = `# How every part looks: what e2e/web/looks.ts compares with. \`npm run looks\` in web/ writes it anew.\n\n`;
/** Pixels by which a measure may be another one: Firefox rounds in other places. */
const SLACK = { chromium: 0.2, firefox: 1 };
/** Firefox lays the same styles out: two ways that share nothing tell. */
const LOOKED = { chromium: WAYS, firefox: [0, WAYS.length - 1] };
const MOST_TOLD = 40;

/** All faces that styles name first. */
const FACES = ['Inter', 'SF Mono'];

const OVERLAYS: [part: string, opener: string, opened: string][] = [
  ['A question', '[data-open=question]', 'dialog[open]'],
  ['A form', '[data-open=form]', 'dialog[open]'],
  ['A secret', '[data-open=secret]', 'dialog[open]'],
  ['A menu', '.pattern svc-popover > button[aria-haspopup=menu]', '.svc-popover:popover-open'],
];

/** What is looked at below the pointer, and with the focus. */
const HELD = [
  ...['default', 'primary', 'plain', 'danger', 'danger-plain', 'link'].map(
    (look) => `.svc-button[data-look="${look}"]`,
  ),
  '.svc-button[aria-pressed=true]',
  '#page-text',
  '#page-wrong',
  '.svc-choice',
  '[role=tab][aria-selected=false]',
  '.svc-chip .svc-button',
  '.svc-sort',
  '.svc-row[data-index="0"]',
  '.svc-figure',
];

const has = (way: number, label: (typeof LABELS)[number]) => ((way >> LABELS.indexOf(label)) & 1) === 1;

function openingOf(way: number): Opening {
  const isNarrow = has(way, 'narrow');
  return {
    stranger: true,
    dark: has(way, 'dark'),
    ...(isNarrow ? { width: 390, height: 844, touch: true } : { width: 1440, height: 900 }),
  };
}

/** All letters are boxes, whose widths no browser rounds; what browsers draw by themselves takes no room, and nothing is on its way. */
async function makePlain(page: Page): Promise<void> {
  await page.evaluate(
    async ([bytes, faces]) => {
      for (const name of faces) {
        const face = new FontFace(
          name,
          Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)),
          { weight: '1 1000' },
        );
        document.fonts.add(await face.load());
      }
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('* { text-rendering: geometricPrecision; scrollbar-width: none; list-style: none !important }');
      document.adoptedStyleSheets.push(sheet);
      await document.fonts.ready;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      for (const moving of document.getAnimations()) moving.finish();
    },
    [boxes().toString('base64'), FACES] as const,
  );
}

/** Nothing has the focus, and the pointer is nowhere. */
async function letGo(page: Page): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
}

async function lookAtParts(page: Page): Promise<Seen[]> {
  const names = await page
    .locator('.pattern')
    .evaluateAll((all) => all.map((one) => one.querySelector('h2')?.id ?? ''));
  const places = names.map((id): Place => [id.replace('pattern-', ''), `section:has(> [id="${id}"])`]);
  const seen = await looksOf(page, places);
  for (const [part, opener, opened] of OVERLAYS) {
    await page.locator(opener).first().click();
    await page.locator(opened).waitFor();
    await letGo(page);
    seen.push(...(await looksOf(page, [[part, opened]])));
    await page.keyboard.press('Escape');
    await page.locator(opened).waitFor({ state: 'hidden' });
  }
  return seen;
}

async function lookAtHeld(page: Page): Promise<Seen[]> {
  const seen: Seen[] = [];
  // The focus is shown to whoever works by keys.
  await page.keyboard.press('Tab');
  for (const selector of HELD) {
    const element = page.locator(selector).first();
    await element.hover();
    seen.push(await lookOf(page, 'Below the pointer', selector, ':hover'));
  }
  await letGo(page);
  for (const selector of HELD) {
    const isFocused = await page
      .locator(selector)
      .first()
      .evaluate((element) => {
        (element as HTMLElement).focus();
        return element.matches(':focus-visible');
      });
    if (isFocused) seen.push(await lookOf(page, 'With the focus', selector, ':focus'));
  }
  await letGo(page);
  return seen;
}

/** All that is seen, in each of these ways. */
async function take(world: World, ways: readonly number[]): Promise<Seen[][]> {
  const { server, url } = await servePatterns('looks');
  const seen: Seen[][] = WAYS.map(() => []);
  try {
    for (const way of ways) {
      const context = await contextFor(world, openingOf(way));
      const page = await context.newPage();
      await page.clock.setFixedTime('2026-03-04T09:30:00Z');
      await page.goto(`${url}/?language=${has(way, 'de') ? 'de' : 'en'}`);
      await page.locator('.svc-notice').waitFor();
      await makePlain(page);
      const now = await lookAtParts(page);
      if (!has(way, 'narrow') && !has(way, 'de')) now.push(...(await lookAtHeld(page)));
      seen[way] = now;
      await context.close();
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return seen;
}

export const looks: Scenario[] = [
  {
    name: 'every part looks as it was kept',
    async run(world) {
      const other = differences(
        readFileSync(FILE, 'utf8'),
        await take(world, LOOKED[world.engine]),
        SLACK[world.engine],
      );
      const more = other.length > MOST_TOLD ? `\n… and ${other.length - MOST_TOLD} more` : '';
      assert.ok(
        other.length === 0,
        `other than in e2e/web/looks.txt (if it is meant: \`npm run looks\` in web/, and read what differs):\n${other.slice(0, MOST_TOLD).join('\n')}${more}`,
      );
    },
  },
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const browser = await launchChromium();
  // The page has no application behind it.
  const world = { engine: 'chromium', contexts: [], browserFor: async () => browser } as unknown as World;
  writeFileSync(FILE, HEAD + write(await take(world, WAYS)));
  await browser.close();
}
