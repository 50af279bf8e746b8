/** The shop's own pages, and those of the system. */
import assert from 'node:assert/strict';
import { fresh, makeProduct, row, said, story } from './scenario.ts';

export const shop = [
  story(
    'a clerk places an order on a phone',
    { app: 'shop.order', width: 390, height: 844, touch: true, expects: /409/ },
    async ({ page, application }) => {
      const name = fresh('Ordered');
      const { id } = await makeProduct(application, name);
      await application.ask(`/odata/v1/Products(${id})/Shop.ReceiveStock`, { method: 'POST', body: { quantity: 5 } });
      const place = page.getByRole('button', { name: 'Place order' });
      assert.equal(await place.isDisabled(), true);
      await page.getByRole('combobox', { name: 'Customer' }).fill('brecon');
      await page.getByRole('option', { name: 'Brecon Farm Supplies' }).tap();
      await page.getByRole('combobox', { name: 'Product 1' }).fill(name);
      await page.getByRole('option', { name }).tap();
      await page.getByRole('textbox', { name: 'Quantity 1' }).fill('6');
      await page.getByText('Only 5 in stock').waitFor();
      await place.tap();
      await page.locator('[data-wrong]', { hasText: '5' }).waitFor();
      await page.getByRole('textbox', { name: 'Quantity 1' }).fill('4');
      await page.getByText('Total €40.00').waitFor();
      await place.tap();
      await page.getByText('Total €0.00').waitFor();
      const { value } = await application.ask<{ value: { total: number; customer: { name: string } }[] }>(
        '/odata/v1/Orders?$orderby=orderedAt%20desc&$top=1&$select=total&$expand=customer($select=name)',
      );
      assert.deepEqual([value[0]?.total, value[0]?.customer.name], [40, 'Brecon Farm Supplies']);
    },
  ),

  story('figures lead to what they count', {}, async ({ page }) => {
    await page.locator('.shell-tile', { hasText: 'Dashboard' }).click();
    const waiting = page.locator('.svc-figures div', { hasText: 'Orders to ship' }).getByRole('button');
    const count = await waiting.innerText();
    await waiting.click();
    const orders = page.locator('.shell-window[data-app="sets.Orders"]');
    await orders.getByRole('button', { name: 'Status is Placed', exact: true }).waitFor();
    await orders.locator('.svc-head [role=status]', { hasText: new RegExp(`^\\s*${count}\\s*$`) }).waitFor();
    await page.keyboard.press('Alt+Shift+w');
    await page.keyboard.press('Alt+Shift+w');
  }),

  story(
    'a mail address is typed as one, and leads to where it is written to',
    { app: 'sets.Customers', expects: /422/ },
    async ({ page }) => {
      await page.getByRole('searchbox').fill('Brecon Farm Supplies');
      await row(page, 'Brecon Farm Supplies').click();
      const email = page.locator('[data-property=email]');
      const way = email.getByRole('link', { name: 'Open E-mail' });
      const address = await email.locator('.svc-text').innerText();
      assert.equal(await way.getAttribute('href'), `mailto:${address}`);
      assert.match((await page.locator('[data-property=phone] a').getAttribute('href')) ?? '', /^tel:\+\d+$/);
      await page.getByRole('button', { name: 'Edit E-mail' }).click();
      const input = email.getByRole('textbox');
      assert.equal(await input.getAttribute('type'), 'email');
      await page.keyboard.type('nobody');
      await page.keyboard.press('Control+s');
      await email.getByText('must be a mail address').waitFor();
      await page.getByRole('button', { name: 'Discard' }).click();
      await email.getByText(address).waitFor();
    },
  ),

  story('an API key is made, shown once, and revoked', { app: 'system.keys', expects: /422/ }, async ({ page }) => {
    const name = fresh('Key');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.locator('dialog[open]');
    await dialog.getByRole('button', { name: 'Make key' }).click();
    await dialog.locator('[role=alert]:not(:empty)').waitFor();
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Make key' }).click();
    assert.match(await page.getByRole('textbox', { name: 'Your new API key' }).inputValue(), /^svck_/);
    await page.getByRole('button', { name: 'Done' }).click();
    await row(page, name).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.locator('dialog[open]').getByRole('button', { name: 'Revoke' }).click();
    await said(page, 'The key is revoked');
    await row(page, name).getByText('Revoked').waitFor();
  }),
];
