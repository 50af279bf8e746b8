/** What others do, seen while one looks. */
import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
import { fresh, makeProduct, row, story, total, until } from './scenario.ts';

export const live = [
  story(
    'how long ago something was goes on by itself, and rests while nobody looks',
    { later: true },
    async ({ page, application, visit }) => {
      const { id } = await makeProduct(application, fresh('Aged'));
      await page.clock.install();
      await visit({ app: 'sets.Products', state: { r: id } });
      const made = page.locator('.svc-times time').first();
      await made.filter({ hasText: /just now/ }).waitFor();
      await page.clock.fastForward('02:00');
      await made.filter({ hasText: /^\s*2 min\.? ago\s*$/ }).waitFor();
      const see = (isHidden: boolean) =>
        page.evaluate((hidden) => {
          Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, isHidden);
      await see(true);
      await page.clock.fastForward('10:00');
      assert.match(await made.innerText(), /2 min/);
      await see(false);
      await made.filter({ hasText: /^\s*12 min\.? ago\s*$/ }).waitFor();
    },
  ),

  story('a list shows what others make, change and delete', { later: true }, async ({ page, visit, application }) => {
    const name = fresh('Elsewhere');
    await visit({ app: 'sets.Products', state: { f: [['name', 'starts', name]], t: { price: 'sum' } } });
    await page.getByText('No products found').waitFor();
    const { id } = await makeProduct(application, `${name} one`);
    await row(page, `${name} one`).waitFor();
    await total(page, '1');
    // What has changed is marked for a moment: whoever began to look for the mark later could miss it.
    const mark = page.locator('.svc-row[data-fresh]', { hasText: name });
    await mark.waitFor({ state: 'detached' });
    const marked = mark.waitFor();
    await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 12 } });
    await Promise.all([marked, row(page, '12.00').waitFor()]);
    await page.locator('.svc-row-foot', { hasText: '12.00' }).waitFor();
    await makeProduct(application, `${name} two`);
    await page.locator('.svc-row-foot', { hasText: '22.00' }).waitFor();
    await application.ask(`/odata/v1/Products(${id})`, { method: 'DELETE' });
    await row(page, `${name} one`).waitFor({ state: 'detached' });
    await row(page, `${name} two`).waitFor();
  }),

  story(
    'a record follows, and keeps what is being written',
    { app: 'sets.Products' },
    async ({ page, application }) => {
      const name = fresh('Followed');
      const { id } = await makeProduct(application, name);
      const ask = (body: object) => application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body });
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      await page.locator('.svc-pane h2', { hasText: name }).waitFor();
      await ask({ price: 41 });
      await page.locator('.svc-pane [data-property=price]', { hasText: '41.00' }).waitFor();
      await page.getByRole('button', { name: 'Edit Unit' }).click();
      await page.getByLabel('Unit', { exact: true }).fill('crate');
      await ask({ price: 42 });
      await page.getByText('Somebody else has changed this meanwhile').waitFor();
      assert.equal(await page.getByLabel('Unit', { exact: true }).inputValue(), 'crate');
      await page.getByLabel('Unit', { exact: true }).press('Escape');
    },
  ),

  story(
    'what is written while a record is read anew stays',
    { app: 'sets.Products' },
    async ({ page, application }) => {
      const name = fresh('Begun');
      const { id } = await makeProduct(application, name);
      await page.getByRole('searchbox').fill(name);
      await row(page, name).click();
      const unit = page.getByRole('button', { name: 'Edit Unit' });
      await unit.waitFor();
      const read = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      await page.route(
        (url) => decodeURIComponent(url.pathname).endsWith(`/Products(${id})`),
        async (route) => {
          read.resolve();
          await release.promise;
          await route.continue();
        },
      );
      await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 43 } });
      await read.promise;
      await unit.click();
      await page.getByLabel('Unit', { exact: true }).fill('pallet');
      release.resolve();
      await page.getByText('Somebody else has changed this meanwhile').waitFor();
      assert.equal(await page.getByLabel('Unit', { exact: true }).inputValue(), 'pallet');
      await page.getByLabel('Unit', { exact: true }).press('Escape');
    },
  ),

  story(
    'a stream that breaks goes on behind what came',
    { app: 'sets.Products', expects: /ERR_|NetworkError|Failed to/ },
    async ({ page, application }) => {
      const name = fresh('Broken');
      await page.getByRole('searchbox').fill(name);
      await page.getByText('No products found').waitFor();
      await makeProduct(application, `${name} before`);
      await row(page, `${name} before`).waitFor();
      await page.context().setOffline(true);
      await makeProduct(application, `${name} meanwhile`);
      await page.context().setOffline(false);
      await row(page, `${name} meanwhile`).waitFor();
    },
  ),

  story('many windows take one stream', {}, async ({ page }) => {
    const streams = new Set<Request>();
    page.on('request', (request) => request.url().includes('/api/v1/live') && streams.add(request));
    page.on('requestfinished', (request) => streams.delete(request));
    page.on('requestfailed', (request) => streams.delete(request));
    for (const set of ['Products', 'Customers', 'Orders', 'Suppliers']) {
      await page.evaluate(
        (id) => (globalThis as unknown as { Shell: { openApp(id: string): boolean } }).Shell.openApp(id),
        `sets.${set}`,
      );
      await page.locator(`.shell-window[data-app="sets.${set}"] .svc-row[data-index="0"]`).waitFor();
    }
    await until('one stream tells of all', () => {
      const [first] = streams;
      return streams.size === 1 && ['Products', 'Suppliers'].every((set) => first?.url().includes(set));
    });
    for (let closed = 0; closed < 4; closed += 1) await page.keyboard.press('Alt+Shift+w');
  }),
];
