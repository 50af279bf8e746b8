/** Coming in, going, and a page that the browser keeps for when the network is away. */
import assert from 'node:assert/strict';
import { signIn } from './application.ts';
import { addressOf, row, story } from './scenario.ts';

export const door = [
  story(
    'whoever comes without a sign-in signs in, and finds what the address said',
    { app: 'sets.Products', state: { q: 'hammer' }, stranger: true, expects: /401/ },
    async ({ page, application }) => {
      await page.locator('[name=email]').waitFor();
      assert.match(page.url(), /\/account\/sign-in/);
      await signIn(page, application.person);
      await row(page, 'Claw hammer').waitFor();
      assert.equal(await page.getByRole('searchbox').inputValue(), 'hammer');
      const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
      assert.doesNotMatch(kept, /access_token|refresh|svck_|Bearer/);
      assert.equal(await page.evaluate(() => document.cookie), '');
    },
  ),

  story(
    'the page says so when the network is away, and comes back',
    { installed: true, expects: /ERR_INTERNET|NetworkError|Failed to (load|fetch)|503/ },
    async ({ page, application }) => {
      await page.evaluate(async () => {
        await navigator.serviceWorker.ready;
      });
      const manifest = await page.evaluate(async () => {
        const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]');
        return (await fetch(link?.href ?? '')).json() as Promise<{ name: string; icons: { src: string }[] }>;
      });
      assert.equal(manifest.name, 'Shop');
      for (const { src } of manifest.icons) {
        assert.equal(await page.evaluate(async (path) => (await fetch(path)).status, src), 200);
      }
      // The second visit has its files from the worker.
      await page.reload();
      await page.locator('.shell-taskbar').waitFor();
      await page.context().setOffline(true);
      await page.locator('.svc-connection[data-away]').waitFor();
      // What Playwright calls offline keeps Firefox from asking its service worker, too.
      if (page.context().browser()?.browserType().name() === 'firefox') return;
      await page.goto(application.url).catch(() => undefined);
      await page.getByRole('heading', { name: 'No connection' }).waitFor();
      const kept = await page.evaluate(async () => {
        const files = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
        return files.flat().map(({ url }) => new URL(url).pathname);
      });
      assert.ok(kept.length > 0);
      for (const path of kept) assert.match(path, /^\/(assets|icons)\//);
      await page.context().setOffline(false);
      await page.getByRole('button', { name: /Try again/ }).click();
      await page.locator('.shell-taskbar').waitFor();
    },
  ),

  // Firefox tells of requests that a page has left behind.
  story(
    'a link leads to the record of another tab',
    { app: 'sets.Products', expects: /NetworkError/ },
    async ({ page, another, application }) => {
      await page.getByRole('searchbox').fill('claw');
      await row(page, 'Claw hammer').click();
      await page.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
      const address = page.url();
      const other = await another({ app: 'sets.Customers' });
      await other.goto(address);
      await other.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
      await other.goto(addressOf(application.url, { app: 'sets.Customers' }));
      await other.locator('h1', { hasText: 'Customers' }).waitFor();
      await other.goBack();
      await other.locator('.svc-pane h2', { hasText: 'Claw hammer' }).waitFor();
    },
  ),
];
