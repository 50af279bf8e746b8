/** The same on a phone, in German, in the dark; what axe says; what a start costs. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { violations, violationsInBoth } from './axe.ts';
import { smallTargets } from './fingers.ts';
import { OVERLAYS, type Looked } from './overlays.ts';
import { servePatterns } from './patterns.ts';
import { contextFor, row, story, type Opening, type Scenario } from './scenario.ts';

const LIST = (page: Page) => page.locator('.svc-row[data-index="0"]').waitFor();

/** Pages that are looked at. */
export const PAGES: Looked[] = [
  ['a list', { app: 'sets.Orders', state: { f: [['status', 'is', 'placed']] } }, LIST],
  ['a form', { app: 'sets.Products', state: { r: 'new' } }, (page) => page.locator('.svc-form').first().waitFor()],
  [
    'a record',
    { app: 'sets.Products', state: { q: 'claw' } },
    async (page) => {
      await row(page, 'Claw hammer').click();
      await page.locator('.svc-related tbody tr').first().waitFor();
      await page.getByRole('button', { name: /^(Edit Price|Preis bearbeiten)/ }).click();
    },
  ],
  [
    'a history, and a way back',
    { app: 'sets.Products', state: { q: 'claw' } },
    async (page) => {
      await row(page, 'Claw hammer').click();
      await page.getByRole('button', { name: /^(History|Verlauf)$/ }).click();
      await page.locator('.svc-entry').first().waitFor();
      await page.locator('.svc-entry summary').first().click();
      assert.deepEqual(await violations(page), []);
      await page.locator('.svc-entry').first().locator('svc-popover button').first().click();
      await page.getByRole('menuitem').first().click();
      await page.locator('dialog[open]').waitFor();
    },
  ],
  [
    'the audit log',
    { app: 'system.audit', state: { by: { set: 'Products' } } },
    async (page) => {
      await page.locator('.svc-row[data-index="0"]').click();
      await page.locator('.svc-pane .svc-changes').waitFor();
      await page
        .locator('.svc-narrow option', { hasText: /\(\d+\)$/ })
        .first()
        .waitFor({ state: 'attached' });
    },
  ],
  ['no hits', { app: 'sets.Products', state: { q: 'no such thing' } }, (page) => page.locator('.svc-state').waitFor()],
  ['webhooks', { app: 'webhooks', state: { open: 'new' } }, (page) => page.locator('.svc-form').waitFor()],
  ['tasks', { app: 'workflows.tasks' }, LIST],
  [
    'a board',
    { app: 'sets.Orders', state: { g: 'workflowState', f: [['status', 'is', 'placed']] } },
    (page) => page.locator('.svc-board-card').first().waitFor(),
  ],
  [
    'drawing a workflow',
    { app: 'workflows.designer' },
    async (page) => {
      await page.locator('[data-state="submitted"]').click();
      await page.locator('.svc-form').waitFor();
    },
  ],
  [
    'what is drawn beside what holds',
    { app: 'workflows.designer' },
    async (page) => {
      await page.locator('[data-state="submitted"]').waitFor();
      await page.locator('.svc-pane-body .svc-button').first().click();
      await page.getByRole('tab').nth(1).click();
      await page.locator('workflows-compare svg').nth(1).waitFor();
    },
  ],
  ['the dashboard', { app: 'shop.dashboard' }, (page) => page.locator('.svc-dashboard').waitFor()],
  ['an order', { app: 'shop.order' }, (page) => page.locator('.svc-lines').waitFor()],
  ['jobs', { app: 'system.jobs' }, (page) => page.locator('.svc-state, .svc-row[data-index]').first().waitFor()],
  ['schedules', { app: 'system.schedules' }, (page) => page.locator('.svc-schedules tbody tr').first().waitFor()],
  ['configuration', { app: 'system.program' }, (page) => page.locator('.svc-config').first().waitFor()],
  [
    'modules',
    { app: 'system.program', state: { tab: 'modules', search: 'stock' } },
    (page) => page.locator('.svc-types details[open]').first().waitFor(),
  ],
  [
    'dead letters',
    { app: 'system.letters' },
    (page) => page.locator('.svc-state, .svc-row[data-index]').first().waitFor(),
  ],
  [
    'deliveries',
    { app: 'webhooks', state: { tab: 'deliveries' } },
    (page) => page.locator('.svc-state, .svc-row[data-index]').first().waitFor(),
  ],
  ['API keys', { app: 'system.keys' }, LIST],
  ['people', { app: 'system.people' }, LIST],
  [
    'somebody with keys',
    { app: 'system.people' },
    async (page) => {
      await page.locator('.svc-row[data-index="0"]').click();
      await page.locator('.svc-keys li').first().waitFor();
    },
  ],
  ['roles', { app: 'system.roles' }, LIST],
  ['the organisation', { app: 'system.organisation' }, (page) => page.locator('.svc-setting').waitFor()],
  ['sign-in', { app: 'system.sign-in' }, (page) => page.locator('.svc-block').first().waitFor()],
  ['health', { app: 'system.health' }, (page) => page.locator('.svc-figures').waitFor()],
  ['first steps', { app: 'system.first' }, (page) => page.locator('.svc-steps').waitFor()],
  ['the account', { app: 'system.account' }, (page) => page.locator('.svc-ways').waitFor()],
  [
    'groups',
    { app: 'sets.Products', state: { g: 'categoryId', t: { stock: 'sum' } } },
    (page) => page.locator('.svc-groups tbody tr').first().waitFor(),
  ],
  [
    'a list page by page, with totals',
    { app: 'sets.Products', state: { m: 'Pager', p: 2, t: { price: 'average' } } },
    (page) => page.locator('.svc-pager').waitFor(),
  ],
  ['settings', { app: 'system.settings' }, (page) => page.locator('.svc-state, .svc-setting').first().waitFor()],
  ['event types', { app: 'webhooks', state: { tab: 'types' } }, (page) => page.locator('.svc-types').waitFor()],
  ...OVERLAYS,
];

/** The longer words are on the narrow one. */
const SHAPES: [string, Opening][] = [
  ['light and dark', {}],
  ['German on a phone', { width: 390, height: 844, touch: true, locale: 'de-DE' }],
];

/** What axe finds in the light, and in the dark where there is room for both. */
const violationsOf = (page: Page, { touch }: Opening) => (touch ? violations(page) : violationsInBoth(page));

async function assertFits(page: Page): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} px wider than the screen`);
}

const audits: Scenario[] = PAGES.flatMap(([name, opening, ready]) =>
  SHAPES.map(([shape, how]) =>
    story(`axe finds nothing: ${name}, ${shape}`, { ...opening, ...how, once: true }, async ({ page, application }) => {
      await ready(page, application);
      assert.deepEqual(await violationsOf(page, how), []);
      await assertFits(page);
      if (how.touch) assert.deepEqual(await smallTargets(page), []);
    }),
  ),
);

/** The page of patterns has no application behind it. */
const patterns: Scenario[] = SHAPES.map(([shape, how]) => ({
  name: `axe finds nothing: patterns, ${shape}`,
  once: true,
  async run(world) {
    const page = await (await contextFor(world, { ...how, stranger: true })).newPage();
    const { server, url } = await servePatterns(shape);
    try {
      await page.goto(`${url}/?language=${how.locale ? 'de' : 'en'}`);
      await page.locator('.svc-notice').waitFor();
      assert.doesNotMatch(await page.locator('body').innerText(), /\{[a-z-]+\}/);
      assert.deepEqual(await violationsOf(page, how), []);
      await assertFits(page);
      for (const dialog of ['question', 'form', 'secret']) {
        await page.locator(`[data-open=${dialog}]`).click();
        await page.locator('dialog[open]').waitFor();
        assert.deepEqual(await violationsOf(page, how), [], dialog);
        await page.keyboard.press('Escape');
      }
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
}));

export const shapes: Scenario[] = [
  ...audits,
  ...patterns,
  story(
    'axe finds nothing: a start that failed',
    { later: true, once: true, expects: /./ },
    async ({ page, application }) => {
      await page.route('**/api/v1/web/start', (route) => route.fulfill({ status: 500 }));
      await page.goto(application.url);
      await page.locator('.svc-welcome', { hasText: 'The page could not start' }).waitFor();
      assert.deepEqual(await violationsInBoth(page), []);
    },
  ),
  story('no app is wider than a phone', { width: 390, height: 844, touch: true, locale: 'de-DE' }, async ({ page }) => {
    for (const app of new Set(PAGES.flatMap(([, { app }]) => app ?? []))) {
      await page.evaluate((id) => {
        (globalThis as unknown as { Shell: { openApp(id: string): boolean } }).Shell.openApp(id);
      }, app);
      const window = page.locator(`.shell-window[data-app="${app}"]`);
      await window.locator('.svc-app').waitFor();
      await window.locator('.svc-skeleton').first().waitFor({ state: 'detached' });
      await assertFits(page);
    }
  }),
  story(
    'a phone shows two lines a row, and one thing at a time',
    { app: 'sets.Products', width: 390, height: 844, touch: true },
    async ({ page }) => {
      await row(page, 'Claw hammer').locator('.svc-card').tap();
      await page.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
      assert.equal(await page.locator('.svc-list').isVisible(), false);
      await page.locator('.svc-pane-back').tap();
      await row(page, 'Claw hammer').waitFor();
      for (const button of await page.locator('.svc-app button:visible').all()) {
        const box = await button.boundingBox();
        assert.ok(box && box.height >= 44, `${await button.innerText()} is ${box?.height} px high`);
      }
    },
  ),
  story('everything speaks German', { app: 'sets.Products', locale: 'de-DE' }, async ({ page }) => {
    await page.locator('h1', { hasText: 'Artikel' }).waitFor();
    await page.getByRole('columnheader', { name: 'Verfügbarkeit' }).waitFor();
    await row(page, '14,90').first().waitFor();
    const said = await page.locator('body').innerText();
    assert.doesNotMatch(said, /\{[a-z-]+\}/);
  }),
];
