/** What happened to records, told in words, and taken back. */
import assert from 'node:assert/strict';
import { fresh, makeProduct, row, said, story, until } from './scenario.ts';

export const history = [
  story(
    'a record tells what happened to it, and an earlier change is undone while a later one stays',
    { app: 'sets.Products' },
    async ({ page, application }) => {
      const name = fresh('Told');
      const { id } = await makeProduct(application, name);
      const change = (body: unknown) => application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body });
      await change({ price: 12.5, unit: 'box' });
      await change({ price: 13 });
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'History' }).click();
      const entries = page.locator('.svc-entry');
      await entries.getByText(/changed Price from €12\.50 to €13\.00$/).waitFor();
      await entries.getByText(/made it$/).waitFor();
      assert.equal(await entries.count(), 3);

      // Undone: the unit goes back, the price was changed later and stays.
      await entries.nth(1).getByRole('button', { name: 'Ways back' }).click();
      await page.getByRole('menuitem', { name: 'Undo this change' }).click();
      const dialog = page.locator('dialog[open]');
      const price = dialog.locator('tr', { hasText: 'Price' });
      await price.getByText('Changed later').waitFor();
      assert.equal(await price.getByRole('checkbox').isChecked(), false);
      assert.equal(await dialog.locator('tr', { hasText: 'Unit' }).getByRole('checkbox').isChecked(), true);
      await dialog.getByRole('button', { name: 'Restore' }).click();
      await said(page, 'Restored');
      await entries.getByText('takes back an earlier change').waitFor();
      const now = await application.ask<{ price: number; unit: string }>(`/odata/v1/Products(${id})`);
      assert.deepEqual([now.price, now.unit === 'box'], [13, false]);

      // Back to what the record is.
      await page.getByRole('button', { name: 'History' }).click();
      await page.locator('[data-value=price]', { hasText: '13.00' }).waitFor();
    },
  ),

  story(
    'an address leads to an entry of a record’s history, and the back button to where one was',
    { app: 'sets.Products' },
    async ({ page, another, application }) => {
      const name = fresh('Linked');
      const { id } = await makeProduct(application, name);
      // More than a page of the history lies before what is looked for.
      for (let price = 1; price <= 21; price += 1) {
        await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price } });
      }
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'History' }).click();
      await page.getByRole('button', { name: 'Show older' }).click();
      const made = page.locator('.svc-entry', { hasText: 'made it' });
      await made.locator('a').click();
      await page.locator('.svc-entry[data-pointed]', { hasText: 'made it' }).waitFor();
      const address = page.url();

      await page.goBack();
      await page.locator('.svc-entry').first().waitFor();
      assert.equal(await page.locator('.svc-entry[data-pointed]').count(), 0);
      await page.goBack();
      await page.locator('[data-value=price]', { hasText: '21.00' }).waitFor();
      await page.goBack();
      await page.locator('.svc-pane').waitFor({ state: 'detached' });
      assert.equal(await page.getByRole('searchbox').inputValue(), name);
      await page.goForward();
      await page.locator('.svc-pane h2', { hasText: name }).waitFor();

      const other = await another({ app: 'sets.Customers' });
      await other.goto(address);
      await other.locator('.svc-entry[data-pointed]:focus', { hasText: 'made it' }).waitFor();
    },
  ),

  story(
    'a way back that somebody overtook is shown anew, and making a record is undone by deleting it',
    { app: 'sets.Products', expects: /409|404/, once: true },
    async ({ page, application }) => {
      const name = fresh('Overtaken');
      const { id } = await makeProduct(application, name);
      await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 12.5 } });
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'History' }).click();
      const first = page.locator('.svc-entry').first();
      await first.getByText(/changed Price from €10\.00 to €12\.50$/).waitFor();
      await first.getByRole('button', { name: 'Ways back' }).click();
      await page.getByRole('menuitem', { name: 'Undo this change' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.locator('tr', { hasText: 'Price' }).getByText('12.50').waitFor();
      await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 14 } });
      await dialog.getByRole('button', { name: 'Restore' }).click();
      await dialog.getByText('Somebody has changed it meanwhile').waitFor();
      await dialog.locator('tr', { hasText: 'Price' }).getByText('14.00').waitFor();
      await dialog.getByRole('checkbox', { name: 'Price' }).check();
      await dialog.getByRole('button', { name: 'Restore' }).click();
      await said(page, 'Restored');
      const now = await application.ask<{ price: number }>(`/odata/v1/Products(${id})`);
      assert.equal(now.price, 10);
    },
  ),

  story(
    'a way back that the data refuses says why, and not that somebody was first',
    { app: 'sets.Products', expects: /409/, once: true },
    async ({ page, application }) => {
      const name = fresh('Taken');
      const { id, sku } = await makeProduct(application, name);
      const other = await makeProduct(application, fresh('Taker'));
      const change = (key: string, body: unknown) =>
        application.ask(`/odata/v1/Products(${key})`, { method: 'PATCH', body });
      await change(id, { sku: fresh('T') });
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.getByRole('button', { name: 'History' }).click();
      await page.locator('.svc-entry').first().getByRole('button', { name: 'Ways back' }).click();
      await page.getByRole('menuitem', { name: 'Undo this change' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.locator('tr', { hasText: sku }).waitFor();
      await change(other.id, { sku });
      await dialog.getByRole('button', { name: 'Restore' }).click();
      await dialog.getByText('is taken by another record').first().waitFor();
      assert.equal(await dialog.getByText('Somebody has changed it meanwhile').count(), 0);
      // Looked at anew, it says so of the field and of the whole.
      await dialog.getByText('A record with these values already exists').waitFor();
      await dialog.locator('tr', { hasText: sku }).getByText('is taken by another record').waitFor();
      assert.equal(await dialog.locator('tr', { hasText: sku }).getByRole('checkbox').isEnabled(), false);
    },
  ),

  story(
    'the audit log brings back what was deleted, and tells of sign-ins',
    { app: 'system.audit' },
    async ({ page, application }) => {
      const name = fresh('Gone');
      const { id } = await makeProduct(application, name);
      await application.ask(`/odata/v1/Products(${id})`, { method: 'DELETE' });
      await page.getByLabel('All data').selectOption('Products');
      await page.getByLabel('Any kind').selectOption('deleted');
      await row(page, name).click();
      await page
        .locator('.svc-pane')
        .getByText(/deleted it$/)
        .waitFor();
      await page.locator('.svc-pane').getByRole('button', { name: 'Ways back' }).click();
      await page.getByRole('menuitem', { name: 'Bring it back' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Restore' }).click();
      await said(page, 'Restored');
      const again = await application.ask<{ name: string }>(`/odata/v1/Products(${id})`);
      assert.equal(again.name, name);

      // All that happened to it, and what was done together.
      await page.locator('.svc-pane').getByRole('button', { name: 'All that happened to it' }).click();
      await page.getByText('Only this record').waitFor();
      await page.getByLabel('Any kind').selectOption('');
      await row(page, name).nth(2).waitFor();
      await page.getByRole('button', { name: 'Remove filter: Only this record' }).click();
      await page.getByLabel('All data').selectOption('');
      await page.getByLabel('Any kind').selectOption('event');
      await row(page, 'Somebody signed in').first().click();
      await page.locator('.svc-pane h2', { hasText: 'Somebody signed in' }).waitFor();
    },
  ),

  story('what an address makes up is looked for only so far', { later: true }, async ({ page, visit }) => {
    const further: string[] = [];
    page.on('request', (request) => /\/audit\?.*after=/.test(request.url()) && further.push(request.url()));
    await visit({ app: 'system.audit', state: { open: 'nothing' } });
    await until('ten pages are read', () => further.length === 9);
    // The log is looked at again, and nothing further is asked for.
    await page.waitForResponse((response) => /\/audit\?/.test(response.url()));
    await page.waitForResponse((response) => /\/audit\?/.test(response.url()));
    assert.equal(further.length, 9);
    assert.equal(await page.locator('.svc-pane').count(), 0);
  }),

  story(
    'what a command did is taken back as a whole',
    { app: 'system.audit', once: true },
    async ({ page, application }) => {
      const [name, other] = [fresh('Whole'), fresh('Whole')];
      const products = [await makeProduct(application, name), await makeProduct(application, other)];
      const requests = products.map(({ id }, index) => ({
        id: String(index),
        atomicityGroup: 'together',
        method: 'PATCH',
        url: `Products(${id})`,
        headers: { 'content-type': 'application/json' },
        body: { price: 99 },
      }));
      await application.ask('/odata/v1/$batch', { method: 'POST', body: { requests } });
      await page.getByLabel('All data').selectOption('Products');
      await row(page, name).filter({ hasText: 'Changed' }).first().click();
      await page.locator('.svc-pane').getByRole('button', { name: 'Ways back' }).click();
      await page.getByRole('menuitem', { name: 'Take back all of it' }).click();
      const dialog = page.locator('dialog[open]');
      for (const one of [name, other]) await dialog.getByText(`Product ${one} changes back`).waitFor();
      await dialog.getByRole('button', { name: 'Take back all of it' }).click();
      await said(page, 'Taken back');
      for (const { id } of products) {
        const now = await application.ask<{ price: number }>(`/odata/v1/Products(${id})`);
        assert.equal(now.price, 10);
      }
    },
  ),

  story('the audit log is exported', { app: 'system.audit' }, async ({ page }) => {
    await page.getByLabel('Any kind').selectOption('event');
    await row(page, 'Somebody signed in').first().waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    // Firefox as it is driven here doesn't tell of downloads.
    const isTold = page.context().browser()?.browserType().name() === 'chromium';
    const begun = isTold ? page.waitForEvent('download') : undefined;
    await page.getByRole('menuitem', { name: 'Export as JSON lines' }).click();
    await said(page, 'The audit log is exported');
    const download = await begun;
    if (!download) return;
    assert.match(download.suggestedFilename(), /^audit-.*\.jsonl$/);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
    assert.ok(lines.some((line) => (JSON.parse(line) as { event: string | null }).event === 'identity.signed_in'));
  }),
];
