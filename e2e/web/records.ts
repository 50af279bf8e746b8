/** Records: read, edited in place, made, deleted, acted on; two people at once; a server that says no or nothing. */
import assert from 'node:assert/strict';
import type { Dialog, Locator, Page } from 'playwright-core';
import { addressOf, fresh, makeProduct, row, said, story } from './scenario.ts';

/** Whether the browser asks when the page is read anew; whoever is asked stays. */
async function asksBeforeItGoes(page: Page): Promise<boolean> {
  // Nobody can answer Firefox from here: the page's own word is taken.
  if (page.context().browser()?.browserType().name() === 'firefox') {
    return page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
  }
  const { promise: asks, resolve } = Promise.withResolvers<boolean>();
  const asked = async (dialog: Dialog) => {
    await dialog.dismiss();
    resolve(dialog.type() === 'beforeunload');
  };
  const gone = () => resolve(false);
  page.on('dialog', asked).on('load', gone);
  try {
    await page.evaluate(() => void setTimeout(() => location.reload()));
    return await asks;
  } finally {
    page.off('dialog', asked).off('load', gone);
  }
}

export const records = [
  story(
    'a reference that is chosen while one still types asks no more, and the form is sent by keys',
    { app: 'sets.Products' },
    async ({ page, application }) => {
      const { value } = await application.ask<{ value: { name: string }[] }>('/odata/v1/Categories?$top=1');
      const [name, category] = [fresh('Referred'), value[0]?.name ?? ''];
      await page.getByRole('button', { name: 'New product' }).first().click();
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('SKU').fill(name);
      await page.getByLabel('Price', { exact: true }).fill('10');
      const field = page.getByRole('combobox', { name: 'Category' });
      await field.fill(category);
      await page.locator('[role=option][aria-selected=true]', { hasText: category }).waitFor();
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/Categories?')) asked.push(request.url());
      });
      await field.evaluate(async (input) => {
        input.dispatchEvent(new Event('input', { bubbles: true }));
        input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
        // Ends behind the field's own pause, which began before.
        await new Promise((resolve) => setTimeout(resolve, 150));
      });
      await page.keyboard.press('Control+Enter');
      await said(page, `${name} is there`);
      assert.deepEqual(asked, []);
    },
  ),

  story(
    'a record is edited in place, and the change taken back',
    { app: 'sets.Products' },
    async ({ page, application }) => {
      const name = fresh('Edited');
      const { id } = await makeProduct(application, name);
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'Edit Price' }).click();
      await page.getByLabel('Price', { exact: true }).fill('12.345x');
      await page.getByText('Write a number').waitFor();
      await page.getByLabel('Price', { exact: true }).fill('12.5');
      await page.getByText('One change').waitFor();
      await page.keyboard.press('Control+s');
      await said(page, 'Saved: Price');
      assert.equal((await application.ask<{ price: number }>(`/odata/v1/Products(${id})`)).price, 12.5);
      await row(page, '12.50').waitFor();
      await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
      await row(page, '10.00').waitFor();
    },
  ),

  ...(
    [
      [
        'English',
        'en-GB',
        { price: 'Price', edit: 'Edit Price', shown: '€1,234.50', written: '1,250', after: '€1,250.00' },
      ],
      [
        'German',
        'de-DE',
        { price: 'Preis', edit: 'Preis bearbeiten', shown: '1.234,50 €', written: '1.250', after: '1.250,00 €' },
      ],
    ] as const
  ).map(([language, locale, said]) =>
    story(
      `money stands in its currency in a list, a record and a form, and bare on the clipboard, in ${language}`,
      { app: 'sets.Products', locale, later: true },
      async ({ page, application, visit }) => {
        const name = fresh('Dear');
        const { id } = await makeProduct(application, name);
        await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 1234.5 } });
        await page.addInitScript(() => {
          const kept = (text: string) => {
            document.documentElement.dataset.copied = text;
            return Promise.resolve();
          };
          Object.defineProperty(navigator, 'clipboard', { value: { writeText: kept } });
        });
        await visit({
          app: 'sets.Products',
          state: { f: [['name', 'is', name]], c: ['name', 'price'], t: { price: 'sum' } },
        });
        await row(page, said.shown).waitFor();
        await page.locator('.svc-row-foot', { hasText: said.shown }).waitFor();
        await page.locator('svc-table [role=grid]').press('Control+c');
        const copied = page.locator('html[data-copied]');
        await copied.waitFor();
        const number = said.shown.replaceAll(/[€\s]/g, '');
        assert.equal((await copied.getAttribute('data-copied'))?.split('\t').at(-1), number);

        await row(page, name).click();
        await page.locator('[data-value=price]', { hasText: said.shown }).waitFor();
        await page.locator('[data-value=price]', { hasText: said.edit }).click();
        const field = page.getByLabel(said.price, { exact: true });
        // Beside the field, and told to whoever doesn't see it.
        await page.locator('.svc-pane .svc-measured', { hasText: '€' }).waitFor();
        const describing = await field.getAttribute('aria-describedby');
        assert.equal(await page.locator(`[id="${describing?.split(' ')[0]}"]`).innerText(), '€');
        // What a page shows can be taken over as it is.
        await field.fill(`${said.written} €`);
        await page.keyboard.press('Control+s');
        await page.locator('[data-value=price]', { hasText: said.after }).waitFor();
        assert.equal((await application.ask<{ price: number }>(`/odata/v1/Products(${id})`)).price, 1250);

        await visit({ app: 'sets.Products', state: { r: 'new' } });
        await page
          .locator('.svc-measured', { has: page.getByLabel(said.price, { exact: true }) })
          .getByText('€')
          .waitFor();
      },
    ),
  ),

  story('what isn’t saved is asked about before it’s lost', { app: 'sets.Products' }, async ({ page, application }) => {
    const name = fresh('Kept');
    await makeProduct(application, name);
    await page.getByRole('searchbox').fill(name);
    await row(page, name).click();
    await page.getByRole('button', { name: 'Edit Name' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Other');
    await page.locator('.svc-pane-back').click();
    await page.locator('dialog[open]').getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Other');
    await page.getByLabel('Name', { exact: true }).press('Escape');
    await page.locator('.svc-pane-back').click();
    await page.locator('.svc-pane').waitFor({ state: 'detached' });
  }),

  story(
    'the browser asks before a page goes on which something isn’t saved',
    { app: 'sets.Products', state: { r: 'new' } },
    async ({ page, application }) => {
      const opens = async (app: string, state?: unknown) => {
        await page.goto('about:blank');
        await page.goto(addressOf(application.url, { app, state }));
        await page.locator('.svc-app').first().waitFor();
      };
      // A browser asks only whoever has touched the page.
      const write = async (field: Locator, value: string) => {
        await field.click();
        await page.keyboard.type(value);
      };
      const field = page.getByLabel('Name', { exact: true });
      await field.waitFor();
      assert.equal(await asksBeforeItGoes(page), false);
      await write(field, 'Not yet');
      assert.equal(await asksBeforeItGoes(page), true);
      assert.equal(await field.inputValue(), 'Not yet');
      await page.locator('svc-create').getByRole('button', { name: 'Cancel' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Discard' }).click();
      await page.locator('svc-create').waitFor({ state: 'detached' });
      assert.equal(await asksBeforeItGoes(page), false);

      // A page of a module, one that is drawn, and what stands in a dialog.
      await opens('webhooks', { open: 'new' });
      await write(page.getByLabel('Description'), 'Half an endpoint');
      assert.equal(await asksBeforeItGoes(page), true);
      await opens('workflows.designer');
      await page.locator('.svc-pane-body .svc-button').first().click();
      assert.equal(await asksBeforeItGoes(page), true);
      await opens('system.people');
      await page.getByRole('button', { name: 'Invite' }).click();
      await write(page.locator('dialog[open]').getByLabel('Name'), 'Half a name');
      assert.equal(await asksBeforeItGoes(page), true);
    },
  ),

  story('two people change one record', { app: 'sets.Products', expects: /412/ }, async ({ page, application }) => {
    const name = fresh('Shared');
    const { id } = await makeProduct(application, name);
    await page.getByRole('searchbox').fill(name);
    await row(page, name).click();
    await page.getByRole('button', { name: 'Edit Price' }).click();
    await page.getByLabel('Price', { exact: true }).fill('20');
    await page.getByRole('button', { name: 'Edit Unit' }).click();
    await page.getByLabel('Unit', { exact: true }).fill('box');
    await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 30, reorderLevel: 7 } });
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'Changed by somebody else' });
    await dialog.getByLabel('30.00').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await said(page, 'Saved together');
    const now = await application.ask<Record<string, unknown>>(`/odata/v1/Products(${id})`);
    assert.deepEqual([now.price, now.unit, now.reorderLevel], [30, 'box', 7]);
  }),

  story(
    'a record is made, and the server’s refusals stand at their fields',
    { app: 'sets.Products', expects: /40[09]|422/ },
    async ({ page, application }) => {
      const taken = await makeProduct(application, fresh('Taken'));
      const name = fresh('Made');
      await page.getByRole('button', { name: 'New product' }).click();
      await page.getByRole('button', { name: 'Create' }).click();
      await page.locator('[name=name]:focus').waitFor();
      assert.equal(await page.getByText('This is needed').count(), 4);
      await page.getByLabel('Name').fill(name);
      await page.getByLabel('SKU').fill(taken.sku);
      await page.getByLabel('Price', { exact: true }).fill('7.5');
      await page.getByRole('combobox', { name: 'Category' }).fill('garden');
      await page.getByRole('option', { name: 'Garden' }).click();
      await page.keyboard.press('Control+Enter');
      await page
        .locator('[name=sku][aria-invalid=true], .svc-create [role=alert], svc-create [role=alert]')
        .first()
        .waitFor();
      await page.getByLabel('SKU').fill(fresh('N'));
      await page.keyboard.press('Control+Enter');
      await said(page, `${name} is there`);
      await page.locator('.svc-pane h2', { hasText: name }).waitFor();
    },
  ),

  story('what a record refers to is made on the way', { app: 'sets.Products' }, async ({ page, application }) => {
    const [name, category] = [fresh('Anchor'), fresh('Anchors')];
    await page.getByRole('button', { name: 'New product' }).click();
    await page.getByRole('group', { name: 'Prices' }).getByLabel('Price', { exact: true }).fill('70');
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('SKU').fill(fresh('A'));
    const combobox = page.getByRole('combobox', { name: 'Category' });
    await combobox.fill(category);
    await page.locator('.svc-options-new[aria-selected=true]').waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New category' });
    assert.equal(await dialog.getByLabel('Name').inputValue(), category);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox');
    assert.equal(await combobox.inputValue(), category);
    await page.keyboard.press('Control+Enter');
    await said(page, `${name} is there`);
    await page.locator('[data-property=categoryId]', { hasText: category }).waitFor();
    await page.locator('.svc-group', { hasText: 'Prices' }).locator('[data-property=price]').waitFor();
    const filter = encodeURIComponent(`name eq '${category}'`);
    const { value } = await application.ask<{ value: unknown[] }>(`/odata/v1/Categories?$filter=${filter}`);
    assert.equal(value.length, 1);
  }),

  story(
    'a record is deleted by name, and brought back with Ctrl+Z',
    { app: 'sets.Products' },
    async ({ page, application }) => {
      const name = fresh('Gone');
      const { id } = await makeProduct(application, name);
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.locator('dialog[open]').getByText(`“${name}”`).waitFor();
      await page.locator('dialog[open]').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No products found').waitFor();
      await said(page, `${name} deleted`);
      await page.locator('.svc-list h1').click();
      await page.locator('.svc-notice button').first().focus();
      await page.keyboard.press('Control+z');
      await row(page, name).waitFor();
      assert.equal((await application.ask<{ name: string }>(`/odata/v1/Products(${id})`)).name, name);
    },
  ),

  story(
    'an action asks for its parameters and shows what is refused',
    { app: 'sets.Products', expects: /422/ },
    async ({ page, application }) => {
      const name = fresh('Received');
      await makeProduct(application, name);
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'Receive stock' }).click();
      const dialog = page.getByRole('dialog', { name: 'Receive stock' });
      await dialog.getByLabel('Quantity').fill('-5');
      await dialog.getByRole('button', { name: 'Receive stock' }).click();
      await dialog.locator('[data-wrong], [role=alert]').first().waitFor();
      await dialog.getByLabel('Quantity').fill('5');
      await dialog.getByRole('button', { name: 'Receive stock' }).click();
      await said(page, 'Receive stock: done');
      await page.locator('[data-property=stock]', { hasText: '5' }).waitFor();
    },
  ),

  story('whoever went to the search while a record is stored stays there', {}, async ({ page, application }) => {
    const name = fresh('Slow');
    await makeProduct(application, name);
    await page.locator('.shell-tile', { hasText: 'Products' }).click();
    await page.getByRole('searchbox').fill(name);
    await row(page, name).click();
    await page.getByRole('button', { name: 'Edit Price' }).click();
    await page.getByLabel('Price', { exact: true }).fill('12.5');
    const { promise: gone, resolve: go } = Promise.withResolvers<void>();
    await page.route('**/odata/v1/Products(*', async (route) => {
      await gone;
      await route.continue();
    });
    await page.keyboard.press('Control+s');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Cust');
    go();
    await said(page, 'Saved: Price');
    await page.keyboard.type('omers');
    assert.equal(await page.getByRole('combobox').inputValue(), 'Customers');
  }),

  story('related records lead to their own app', {}, async ({ page }) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('claw hammer');
    await page.locator('.shell-start, .shell-results').getByText('Claw hammer 450 g').first().click();
    const product = page.locator('.shell-window[data-active]', { hasText: 'Claw hammer 450 g' });
    await product.locator('.svc-related', { hasText: 'Order lines' }).getByText('Show all').click();
    await page
      .locator('.shell-window[data-app="sets.OrderLines"]')
      .getByRole('button', { name: /^Product is/ })
      .waitFor();
    await page.keyboard.press('Alt+Shift+w');
    await page.keyboard.press('Alt+Shift+w');
  }),

  story(
    'a server that doesn’t answer takes nothing away',
    { app: 'sets.Products', expects: /ERR_|NetworkError|Failed to load|fetch/ },
    async ({ page, application }) => {
      const name = fresh('Offline');
      await makeProduct(application, name);
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'Edit Name' }).click();
      await page.getByLabel('Name', { exact: true }).fill(`${name} two`);
      await page.route('**/odata/**', (route) => route.abort());
      await page.keyboard.press('Control+s');
      await page.getByText(/could not be reached|can’t be reached/).waitFor();
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), `${name} two`);
      await page.getByRole('searchbox').fill('');
      await page.locator('.svc-list [role=alert]').waitFor();
      await row(page, name).waitFor();
      await page.unroute('**/odata/**');
      await page.locator('.svc-list [role=alert]').getByRole('button', { name: 'Try again' }).click();
      await row(page, 'Claw hammer').waitFor();
      await page.locator('.svc-pane').getByRole('button', { name: 'Save' }).click();
      await said(page, 'Saved');
    },
  ),
];
