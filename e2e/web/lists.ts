/** Lists of entity sets: found, filtered, sorted, walked, kept in the address. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { fresh, makeProduct, row, said, story, total, until } from './scenario.ts';

export const lists = [
  story(
    'records are found from everywhere, by a typo and in the middle of a word',
    {},
    async ({ page, application }) => {
      const name = fresh('Zinnoberlack');
      await makeProduct(application, name);
      await page.keyboard.press('Control+k');
      const results = page.getByRole('listbox');
      // Changes are found as soon as the outbox has told of them.
      await until('it is found', async () => {
        await page.getByRole('combobox').fill('');
        await page.getByRole('combobox').fill(`noberlack ${name.slice(-6)}`);
        await page.waitForTimeout(400);
        return (await results.getByRole('option', { name }).count()) > 0;
      });
      await page.getByRole('combobox').fill('claw hamer');
      await results.getByRole('group', { name: 'Products' }).getByText('Claw hammer 450 g').waitFor();
      await page.getByRole('combobox').fill('a');
      await results.getByText('All hits in Products').waitFor();
      await page.getByRole('combobox').fill('"$%&');
      await page.getByText('Nothing').waitFor();
      await page.getByRole('combobox').fill('brecon');
      await results.getByRole('group', { name: 'Customers' }).getByText('Brecon Farm Supplies').waitFor();
      await page.keyboard.press('Enter');
      await page.locator('.svc-pane h2', { hasText: 'Brecon Farm Supplies' }).waitFor();
    },
  ),

  story('hits are shown while others are still looked for, with the icon of their set', {}, async ({ page }) => {
    // The answer of the server, of which the rest comes when the story says so.
    await page.evaluate(`{
      const asked = window.fetch;
      const hit = (set, title) => ({ type: 'hit', hit: { provider: set, set, key: title, address: set, title, titleMatches: [], excerpt: null, match: 'words' } });
      window.fetch = (input, init) => {
        if (!String(input.url ?? input).includes('/search/stream')) return asked(input, init);
        const body = new ReadableStream({
          start(out) {
            const tell = (line) => out.enqueue(new TextEncoder().encode(JSON.stringify(line) + '\\n'));
            tell(hit('Products', 'Quick hammer'));
            window.goOn = () => {
              tell(hit('Customers', 'Slow Hammer Ltd'));
              tell({ type: 'end' });
              out.close();
            };
          },
        });
        return Promise.resolve(new Response(body, { headers: { 'content-type': 'application/x-ndjson' } }));
      };
    }`);
    const picture = (place: Locator) => place.locator('.shell-plate').first().innerHTML();
    const tile = page.locator('.shell-tile', { hasText: 'Products' }).first();
    await tile.waitFor();
    const expected = await picture(tile);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('hammer');
    const results = page.getByRole('listbox');
    const quick = results.getByRole('group', { name: 'Products' }).getByRole('option', { name: 'Quick hammer' });
    await quick.waitFor();
    assert.equal(await picture(quick), expected);
    await page.getByText('Searching…').waitFor();
    assert.equal(await results.getByText('Slow Hammer Ltd').count(), 0);
    await page.evaluate('window.goOn()');
    await results.getByRole('group', { name: 'Customers' }).getByText('Slow Hammer Ltd').waitFor();
    await page.getByText('Searching…').waitFor({ state: 'detached' });
    await quick.waitFor();
  }),

  story('the desktop has an app for each set', {}, async ({ page }) => {
    for (const title of ['Products', 'Customers', 'Orders', 'Webhooks']) {
      await page.locator('.shell-tile', { hasText: title }).waitFor();
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('claw hammer');
    await page.locator('.shell-results, [role=listbox], .shell-start').getByText('Claw hammer 450 g').click();
    await page.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
    await page.keyboard.press('Alt+Shift+w');
  }),

  story('a list is searched, filtered by sentences, and sorted', { app: 'sets.Products' }, async ({ page }) => {
    await row(page, 'Claw hammer').waitFor();
    await page.getByRole('searchbox').fill('hammer');
    await total(page, '2');
    await page.getByRole('searchbox').fill('');
    await page.locator('.svc-head').getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('menuitem', { name: 'Price', exact: true }).click();
    await page.getByLabel('Condition for Price').selectOption({ label: 'less than' });
    // Its editor stays open while somebody writes.
    await page.locator('.svc-filter-values input').pressSequentially('5.00');
    await page.getByRole('button', { name: 'Price is less than €5.00', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'Price', exact: true }).getByRole('button').click();
    await page.locator('[aria-sort=ascending]', { hasText: 'Price' }).waitFor();
    await page.locator('.svc-row[data-index="0"]', { hasText: '2.90' }).waitFor();
    await page.locator('[aria-sort=ascending] button').click();
    await page.locator('[aria-sort=descending]', { hasText: 'Price' }).waitFor();
    await page.locator('.svc-row[data-index="0"]', { hasText: '4.90' }).waitFor();
    await page.getByRole('button', { name: 'Remove filter: Price is less than €5.00' }).click();
    await row(page, 'Cordless drill').waitFor();
  }),

  story('facets count, and references are picked by name', { app: 'sets.Products' }, async ({ page }) => {
    const filter = page.locator('.svc-head').getByRole('button', { name: 'Filter' });
    await filter.click();
    await page.getByRole('menuitem', { name: 'Unit' }).click();
    await page.locator('.svc-choice', { hasText: 'cartridge' }).click();
    await total(page, '3');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove filter: Unit is cartridge' }).click();
    await filter.click();
    await page.getByRole('menuitem', { name: 'Category' }).click();
    await page.locator('.svc-filter-editor').getByRole('combobox').last().fill('garden');
    await page.getByRole('option', { name: 'Garden' }).click();
    await page.getByRole('button', { name: 'Category is Garden', exact: true }).waitFor();
    await row(page, 'Potting compost').waitFor();
  }),

  story(
    'on a phone filters are chosen and written in a sheet from below',
    { app: 'sets.Products', width: 390, height: 844, touch: true },
    async ({ page }) => {
      await row(page, 'Claw hammer').waitFor();
      const sheet = page.locator('.svc-popover[data-sheet]:popover-open');
      await page.locator('.svc-head').getByRole('button', { name: 'Filter' }).tap();
      await sheet.getByRole('menuitem', { name: 'Unit' }).tap();
      const choice = sheet.locator('.svc-choice', { hasText: 'cartridge' });
      await choice.waitFor();
      const [around, target] = [await sheet.boundingBox(), await choice.boundingBox()];
      assert.ok(around && target);
      assert.equal(Math.round(around.width), 390);
      assert.ok(Math.abs(around.y + around.height - 844) < 2, `it ends at ${around.y + around.height}`);
      assert.ok(target.height >= 44, `a choice is ${target.height} px high`);
      await assertAccessible(page, 'a filter in a sheet');
      await choice.tap();
      await sheet.locator('.svc-choice', { hasText: /^\s*set/ }).tap();
      await sheet.getByRole('button', { name: 'Done' }).tap();
      await sheet.waitFor({ state: 'detached' });
      await total(page, '6');
      await page.getByRole('button', { name: 'Unit is cartridge or set', exact: true }).tap();
      // A press beside it closes it, too.
      await sheet.waitFor();
      await page.mouse.click(195, 30);
      await sheet.waitFor({ state: 'detached' });
    },
  ),

  story('no hits say which filters to drop', { app: 'sets.Products' }, async ({ page }) => {
    await page.getByRole('searchbox').fill('nothing is called like this');
    await page.getByText('No products found').waitFor();
    await page.getByRole('button', { name: 'Drop search and filters' }).click();
    await row(page, 'Claw hammer').waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), '');
  }),

  story(
    'an address brings a list back as it was',
    { app: 'sets.Products', state: { q: 'set', f: [['price', 'less', '20']], s: '-price', c: ['name', 'price'] } },
    async ({ page }) => {
      await page.getByRole('button', { name: 'Price is less than €20.00', exact: true }).waitFor();
      await page.locator('[aria-sort=descending]', { hasText: 'Price' }).waitFor();
      assert.equal(await page.getByRole('searchbox').inputValue(), 'set');
      assert.equal(await page.getByRole('columnheader').count(), 3);
    },
  ),

  story('a tab of its own keeps its state in the address', { app: 'sets.Products' }, async ({ page }) => {
    await page.getByRole('searchbox').fill('hammer');
    await total(page, '2');
    await row(page, 'Claw hammer').click();
    await page.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
    await page.reload();
    await total(page, '2');
    await page.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
  }),

  story(
    'what an address makes up asks for nothing',
    {
      app: 'sets.Products',
      state: {
        q: 5,
        f: [
          ['price', 'less', '1 or true'],
          ['secret', 'is', 'x'],
        ],
        s: '-none',
        c: [1],
      },
    },
    async ({ page }) => {
      await row(page, 'Claw hammer').waitFor();
      assert.equal(await page.locator('.svc-chip').count(), 0);
    },
  ),

  story('long lists are read as they are scrolled', { app: 'sets.OrderLines' }, async ({ page }) => {
    await page.locator('.svc-row[data-index="0"]').waitFor();
    const grid = page.getByRole('grid');
    const count = Number(await grid.getAttribute('aria-rowcount')) - 1;
    assert.ok(count > 1000, `${count} lines`);
    await grid.focus();
    await page.keyboard.press('Control+End');
    await page.locator(`.svc-row[data-index="${count - 1}"]`).waitFor();
    const inPage = await page.locator('.svc-row').count();
    assert.ok(inPage < 80, `${inPage} rows are in the page`);
    await page.keyboard.press('Control+Home');
    await page.locator('.svc-row[data-index="0"]').waitFor();
  }),

  story(
    'a list is worked on by keyboard alone',
    { app: 'sets.Products', state: { q: 'screws', s: 'sku' } },
    async ({ page }) => {
      await row(page, 'Wood screws').first().waitFor();
      const grid = page.getByRole('grid');
      await grid.focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowRight');
      const active = await grid.getAttribute('aria-activedescendant');
      assert.equal(await page.locator(`[id="${active}"]`).count(), 1);
      await page.keyboard.press('Space');
      await page.keyboard.press('Shift+ArrowDown');
      await page.getByText('2 of').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.svc-selection').waitFor({ state: 'detached' });
      await page.keyboard.press('Enter');
      await page.locator('.svc-pane h2:focus').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.svc-pane').waitFor({ state: 'detached' });
      await page.locator('[role=grid]:focus').waitFor();
      await page.keyboard.press('?');
      const keys = page.getByRole('dialog', { name: 'Keys' });
      await keys.getByText('Copy for a spreadsheet').waitFor();
      await keys.getByRole('button', { name: 'Done' }).press('Enter');
      await keys.waitFor({ state: 'detached' });
      await page.locator('[role=grid]:focus').waitFor();
      await page.keyboard.press('/');
      await page.locator('[type=search]:focus').waitFor();
    },
  ),

  story('several are deleted at once, and brought back', { later: true }, async ({ page, visit, application }) => {
    const name = fresh('Throw away');
    await makeProduct(application, `${name} one`);
    await makeProduct(application, `${name} two`);
    await visit({ app: 'sets.Products', state: { f: [['name', 'starts', name]] } });
    await row(page, `${name} one`).getByRole('checkbox').click();
    await row(page, `${name} two`).getByRole('checkbox').click();
    await page.locator('.svc-selection').getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog[open]').getByRole('button', { name: 'Delete 2' }).click();
    await said(page, '2 deleted');
    await page.getByText('No products found').waitFor();
    await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
    await row(page, `${name} one`).waitFor();
    await row(page, `${name} two`).waitFor();
  }),

  story('a list is printed with all of its rows', { app: 'sets.Orders' }, async ({ page }) => {
    // The browser's own dialog can't be closed from here: what it would print is looked at instead.
    await page.evaluate(() => {
      window.print = () => document.documentElement.setAttribute('data-printed', 'true');
    });
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Print' }).click();
    await page.locator('html[data-printed]').waitFor();
    const count = Number(await page.locator('.svc-head [role=status]').innerText());
    assert.ok(count > 200);
    assert.equal(await page.locator('.svc-paper tbody tr').count(), count);
    // Firefox can't be shown as paper from here.
    if (page.context().browser()?.browserType().name() === 'chromium') {
      await page.emulateMedia({ media: 'print' });
      assert.equal(await page.locator('.svc-app').isVisible(), false);
      assert.equal(await page.locator('.svc-paper h1').isVisible(), true);
    }
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    assert.equal(await page.locator('.svc-paper').count(), 0);
  }),
];
