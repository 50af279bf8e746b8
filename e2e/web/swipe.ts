/** What can be done with a row by a swipe, on a phone, and the same otherwise. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { engineOf } from '../shell/browser.ts';
import { finger, middle, type Pointing } from '../shell/scenario.ts';
import { assertAccessible } from './axe.ts';
import { smallTargets } from './fingers.ts';
import { fresh, makeProduct, row, said, story, until, type Opening, type Scenario } from './scenario.ts';

const PHONE: Opening = { width: 390, height: 844, touch: true };

/** Pulls a row sideways. */
async function pull(hand: Pointing, from: Locator, by: number, along = 0): Promise<void> {
  const start = await middle(from);
  await hand.press(start);
  await hand.glide(start, { x: start.x + by, y: start.y + along });
  await hand.lift();
}

const buttons = (page: Page) => page.locator('.svc-swipe');
const closed = (page: Page) => buttons(page).waitFor({ state: 'detached' });

/** Shows the list alone, with one product that nobody else has. */
async function listOf(page: Page, name: string): Promise<Locator> {
  await page.getByRole('searchbox').fill(name);
  const found = row(page, name);
  await found.waitFor();
  await until('no other is there', async () => (await row(page, /\S/).count()) === 1);
  return found;
}

export const swipe: Scenario[] = [
  story(
    'a swipe lays open what can be done with a row, and what closes it opens nothing',
    { ...PHONE, app: 'sets.Products' },
    async ({ page }) => {
      const first = page.locator('.svc-row[data-index="1"]');
      const other = page.locator('.svc-row[data-index="4"]');
      await other.waitFor();
      const hand = await finger(page);
      const grid = page.getByRole('grid');
      const isNoRecord = async () => assert.equal(await page.locator('.svc-pane').count(), 0, 'no record is opened');

      await pull(hand, first, -150);
      await buttons(page).getByRole('button', { name: 'Receive stock' }).waitFor();
      assert.deepEqual(await buttons(page).getByRole('button').allInnerTexts(), ['Receive stock', 'Delete']);
      const [box, around] = [await buttons(page).boundingBox(), await first.boundingBox()];
      assert.ok(box && around && Math.abs(box.x + box.width - around.x - around.width) < 1, 'whole, and at the edge');
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
      assert.deepEqual(await smallTargets(page), []);
      await assertAccessible(page, 'the buttons of a row');
      await isNoRecord();

      await pull(hand, first.locator('.svc-card'), 120);
      await closed(page);
      // Too little is none.
      await pull(hand, first, -40);
      await closed(page);
      await isNoRecord();

      // A press elsewhere closes them, and only the next one opens a record.
      await pull(hand, first, -150);
      await buttons(page).waitFor();
      await other.locator('.svc-card').tap();
      await closed(page);
      await isNoRecord();
      // Another row's take their place, and scrolling closes them.
      await pull(hand, first, -150);
      await buttons(page).waitFor();
      await pull(hand, other, -150);
      await page.locator('.svc-row[data-index="4"][data-swiped] .svc-swipe').waitFor();
      assert.equal(await buttons(page).count(), 1);
      await pull(hand, first, -20, -200);
      await closed(page);
      // A finger over WebDriver scrolls nothing.
      if (engineOf(page) === 'chromium') {
        await until('it scrolled', async () => (await grid.evaluate(({ scrollTop }) => scrollTop)) > 50);
      }
      await isNoRecord();

      await other.locator('.svc-card').tap();
      await page.locator('.svc-pane h2').waitFor();
    },
  ),

  story(
    'what a swipe lays open is done, and taken back',
    { ...PHONE, later: true },
    async ({ page, application, visit }) => {
      const name = fresh('Swiped');
      const { id } = await makeProduct(application, name);
      await visit({ app: 'sets.Products' });
      const swiped = await listOf(page, name);
      const hand = await finger(page);
      await pull(hand, swiped, -150);
      await buttons(page).getByRole('button', { name: 'Receive stock' }).tap();
      const dialog = page.getByRole('dialog', { name: 'Receive stock' });
      await dialog.getByLabel('Quantity').fill('7');
      await dialog.getByRole('button', { name: 'Receive stock' }).tap();
      await said(page, 'Receive stock: done');
      // While it goes, it's what a finger meets.
      await dialog.waitFor({ state: 'hidden' });
      await closed(page);
      const { stock } = await application.ask<{ stock: number }>(`/odata/v1/Products(${id})`);
      assert.equal(stock, 7);

      await pull(hand, swiped, -150);
      await buttons(page).getByRole('button', { name: 'Delete' }).tap();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).tap();
      await said(page, `${name} deleted`);
      await swiped.waitFor({ state: 'detached' });
      await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).tap();
      await swiped.waitFor();

      // The same without a swipe.
      await swiped.getByRole('checkbox').tap();
      const bar = page.getByRole('toolbar');
      await bar.getByRole('button', { name: 'Delete' }).waitFor();
      await bar.getByRole('button', { name: 'Actions' }).tap();
      await page.getByRole('menuitem', { name: 'Receive stock' }).waitFor();
    },
  ),

  story('a swipe in a window stays in it', { ...PHONE }, async ({ page }) => {
    await page.evaluate(() => {
      (globalThis as unknown as { Shell: { openApp(id: string): boolean } }).Shell.openApp('sets.Products');
    });
    const window = page.locator('.shell-window[data-app="sets.Products"][data-active]');
    const first = window.locator('.svc-row[data-index="0"]');
    await first.waitFor();
    const hand = await finger(page);
    const here = page.url();
    await pull(hand, first, 150);
    await pull(hand, first, -150);
    await buttons(page).waitFor();
    // What begins at the edge of the screen is the browser's.
    await pull(hand, first.locator('.svc-card'), 150);
    await closed(page);
    const { y } = await middle(first);
    await hand.press({ x: 384, y });
    await hand.glide({ x: 384, y }, { x: 200, y });
    await hand.lift();
    assert.equal(await buttons(page).count(), 0);
    assert.equal(await window.count(), 1, 'the window is still in front');
    assert.equal(page.url(), here);
  }),
];
