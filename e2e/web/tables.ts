/** What a table does beyond showing rows: columns, totals, groups, pages, views, writing in it, many at once. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { fresh, makeProduct, row, said, story, total } from './scenario.ts';

/** Opens the list of the products of one scenario. */
const of = (name: string) => ({ app: 'sets.Products', state: { f: [['name', 'starts', name]] } });
/** The list of what costs little. */
const CHEAP = { f: [['price', 'less', '4']], s: '-price' };

export const tables = [
  story('columns are chosen, moved and made wider', { app: 'sets.Customers' }, async ({ page }) => {
    await page.locator('.svc-row[data-index="0"]').waitFor();
    const open = page.locator('.svc-head').getByRole('button', { name: 'Columns' });
    await open.click();
    await page.getByRole('checkbox', { name: 'Changed' }).check();
    await page.getByRole('columnheader', { name: 'Changed' }).waitFor();
    await page.getByRole('button', { name: 'Move Changed forward' }).click();
    await page.keyboard.press('Escape');
    const heads = async () => (await page.getByRole('columnheader').allInnerTexts()).map((one) => one.trim());
    assert.equal((await heads()).at(-2), 'Changed');
    const head = page.locator('[data-head=updatedAt]');
    const before = (await head.boundingBox())?.width ?? 0;
    const edge = await head.locator('.svc-pull').boundingBox();
    assert.ok(edge);
    await page.mouse.move(edge.x + 4, edge.y + 4);
    await page.mouse.down();
    await page.mouse.move(edge.x + 64, edge.y + 4, { steps: 4 });
    await page.mouse.up();
    const after = (await head.boundingBox())?.width ?? 0;
    assert.ok(Math.abs(after - before - 60) < 8, `${before} became ${after}`);
    await page.reload();
    await head.waitFor();
    assert.equal(Math.round((await head.boundingBox())?.width ?? 0), Math.round(after));
    await open.click();
    await page.getByRole('button', { name: 'Usual columns' }).click();
    await head.waitFor({ state: 'detached' });
  }),

  story('groups count and sum, and lead to their records', { app: 'sets.Products' }, async ({ page }) => {
    await page.locator('.svc-row[data-index="0"]').waitFor();
    await page.locator('.svc-head').getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Total of Stock').selectOption('sum');
    await page.locator('.svc-row-foot', { hasText: 'sum' }).waitFor();
    await page.getByLabel('Group by').selectOption({ label: 'Category' });
    await page.keyboard.press('Escape');
    const garden = page.locator('.svc-groups tbody tr', { hasText: 'Garden' });
    const count = (await garden.locator('td[data-numeric]').first().innerText()).trim();
    await garden.getByRole('button').click();
    await total(page, count);
    await page.getByRole('button', { name: 'Category is Garden', exact: true }).waitFor();
    await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
    await garden.waitFor();
  }),

  story(
    'a list is read page by page, where the setting says so',
    { app: 'sets.OrderLines' },
    async ({ page, application }) => {
      const setting = '/api/v1/settings/DataTable.DefaultPageMode';
      await page.locator('.svc-row[data-index="0"]').waitFor();
      assert.equal(await page.locator('.svc-pager').count(), 0);
      await application.ask(setting, { method: 'PUT', body: { value: 'Pager' } });
      await page.reload();
      await page.getByText(/^\s*Page 1 of \d+\s*$/).waitFor();
      const first = await page.locator('.svc-row[data-index="0"]').innerText();
      await page.getByRole('button', { name: 'Next page' }).click();
      await page.getByText(/^\s*Page 2 of/).waitFor();
      await page.locator('.svc-row[data-index="0"]').filter({ hasNotText: first }).waitFor();
      assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), '101');
      await page.reload();
      await page.getByText(/^\s*Page 2 of/).waitFor();
      await page.getByRole('button', { name: 'Last page' }).click();
      await page.locator('.svc-pager').getByRole('button', { name: 'Next page' }).isDisabled();
      await application.ask(setting, { method: 'DELETE' });
    },
  ),

  story('views are kept under names', { app: 'sets.Products', state: CHEAP }, async ({ page }) => {
    const name = fresh('Cheap');
    await page.locator('.svc-row[data-index="0"]').waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Keep this view' }).click();
    await page.locator('dialog[open]').getByRole('button', { name: 'Save' }).click();
    await page.locator('dialog[open]').getByText('This is needed').waitFor();
    await page.getByLabel('Name').fill(name);
    await page.keyboard.press('Enter');
    await said(page, `Kept as ${name}`);
    await page.getByRole('button', { name }).click();
    await page.getByRole('menuitemcheckbox', { name: 'As usual' }).click();
    await row(page, 'Cordless drill').waitFor();
    await page.reload();
    await row(page, 'Cordless drill').waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitemcheckbox', { name }).click();
    await page.getByRole('button', { name: 'Price is less than €4.00', exact: true }).waitFor();
    await page.getByRole('button', { name }).click();
    await page.getByRole('menuitem', { name: `Forget ${name}` }).click();
    await said(page, 'forgotten');
  }),

  story('a view is shared with everybody', { app: 'sets.Products', state: CHEAP }, async ({ page, another }) => {
    const name = fresh('Ours');
    const views = (of: Page, shown: string) => of.locator('.svc-head').getByRole('button', { name: shown });
    await views(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Keep this view' }).click();
    await page.getByLabel('Name').fill(name);
    await page.keyboard.press('Enter');
    await said(page, `Kept as ${name}`);
    await views(page, name).click();
    await page.getByRole('menuitem', { name: `Share ${name} with everybody` }).click();
    await said(page, `${name} is shared`);
    // One's own may go: what is shared stays for all.
    await views(page, name).click();
    await page.getByRole('menuitem', { name: `Forget ${name}` }).click();
    await said(page, 'forgotten');
    const other = await another({ app: 'sets.Products' });
    await views(other, 'Views').click();
    await other.getByRole('menuitemcheckbox', { name: `${name} shared` }).click();
    await other.getByRole('button', { name: 'Price is less than €4.00', exact: true }).waitFor();
    await views(other, name).click();
    await other.getByRole('menuitem', { name: `Stop sharing ${name}` }).click();
    await said(other, `${name} is no longer shared`);
    await views(other, 'Views').click();
    assert.equal(await other.getByRole('menuitemcheckbox', { name }).count(), 0);
  }),

  story('values are written in the list', { later: true, expects: /412/ }, async ({ page, visit, application }) => {
    const name = fresh('Written');
    const { id } = await makeProduct(application, name);
    await visit(of(name));
    await row(page, name).waitFor();
    await page.getByRole('button', { name: 'Write in the list' }).click();
    await row(page, name).getByText('10.00').click();
    const price = page.locator('.svc-cell-editor').getByLabel('Price');
    await price.fill('nothing');
    await price.press('Enter');
    await said(page, 'Write a number');
    await price.fill('11.5');
    await price.press('Enter');
    await said(page, 'Saved: Price');
    await row(page, '11.50').waitFor();
    assert.equal((await application.ask<{ price: number }>(`/odata/v1/Products(${id})`)).price, 11.5);
    await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
    await row(page, '10.00').waitFor();
    // By keyboard: F2 writes, Escape gives up.
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('F2');
    await page.locator('.svc-cell-editor').getByLabel('Name').fill('given up');
    await page.keyboard.press('Escape');
    await page.locator('[role=grid]:focus').waitFor();
    await row(page, name).waitFor();
  }),

  story(
    'many are selected over pages, changed and acted on at once',
    { later: true },
    async ({ page, visit, application }) => {
      const name = fresh('Many');
      const made = [];
      for (let index = 0; index < 4; index += 1) made.push(await makeProduct(application, `${name} ${index}`));
      await visit(of(name));
      await total(page, '4');
      await row(page, `${name} 0`).getByRole('checkbox').click();
      await row(page, `${name} 1`).getByRole('checkbox').click();
      await page.getByRole('button', { name: 'Select all 4' }).click();
      await page.getByText('4 of 4').waitFor();
      await page.locator('.svc-selection').getByRole('button', { name: 'Change' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByLabel('What').selectOption({ label: 'Unit' });
      await dialog.getByLabel('Unit', { exact: true }).fill('pallet');
      await dialog.getByRole('button', { name: 'Change 4' }).click();
      await said(page, '4 done');
      for (const { id } of made) {
        assert.equal((await application.ask<{ unit: string }>(`/odata/v1/Products(${id})`)).unit, 'pallet');
      }
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+a');
      await page.locator('.svc-selection').getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name: 'Receive stock' }).click();
      await dialog.getByLabel('Quantity').fill('3');
      await dialog.getByRole('button', { name: 'Receive stock' }).click();
      await said(page, '4 done');
      await row(page, `${name} 0`).getByText('3', { exact: true }).waitFor();
    },
  ),
];
