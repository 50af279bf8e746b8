/** Coming in, going, and a page that the browser keeps for when the network is away. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { signIn } from './application.ts';
import { assertAccessible } from './axe.ts';
import { startBehindHost } from './host.ts';
import { addressOf, fresh, makeProduct, row, story, type Scenario } from './scenario.ts';

/** Plays a scenario in front of a shop that browsers reach through a browser host in a process of its own. */
function throughHost(scenario: Scenario): Scenario {
  return {
    ...scenario,
    async run({ signedIn: _ofAnother, ...world }) {
      const application = await startBehindHost(world.database);
      try {
        await scenario.run({ ...world, application });
      } finally {
        await application.end();
      }
    },
  };
}

/** What a script of the page is answered: the status, and what was said. */
async function asked(page: Page, path: string, init: RequestInit): Promise<[number, string]> {
  const asking = async ([address, options]: [string, RequestInit]): Promise<[number, string]> => {
    const response = await fetch(address, options);
    return [response.status, await response.text()];
  };
  return page.evaluate(asking, [path, init] as [string, RequestInit]);
}

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

  throughHost(
    story(
      'the desktop signs in, works, hears and signs out through a browser host of its own',
      { app: 'sets.Products', state: { q: 'hammer' }, stranger: true, expects: /status of 40[13]|401|403/ },
      async ({ page, application, another }) => {
        await page.locator('[name=email]').waitFor();
        assert.match(page.url(), /\/account\/sign-in/);
        await signIn(page, application.person);
        await row(page, 'Claw hammer').waitFor();
        assert.equal(new URL(page.url()).origin, application.url);
        assert.equal(await page.evaluate(() => document.cookie), '');

        // The host says who it is, and passes on what a page of its own asks for.
        const headers = { 'X-CSRF': '1' };
        const [status, user] = await asked(page, '/bff/user', { headers });
        assert.equal(status, 200, user);
        assert.deepEqual((JSON.parse(user) as { roles: string[] }).roles, ['Administrator']);
        const name = fresh('Category');
        const made = { method: 'POST', body: JSON.stringify({ name }) };
        const media = { 'Content-Type': 'application/json' };
        const [forged, problem] = await asked(page, '/odata/v1/Categories', { ...made, headers: media });
        assert.equal(forged, 403);
        assert.match(problem, /bff\.needs_header/);
        const [sent, answer] = await asked(page, '/odata/v1/Categories', {
          ...made,
          headers: { ...headers, ...media },
        });
        assert.equal(sent, 201, answer);

        // What somebody else does comes by a stream, while one looks.
        await makeProduct(application, 'A hammer of somebody else');
        await row(page, 'A hammer of somebody else').waitFor();

        // A session that is ended on the account page has ended here with the next request.
        const desktop = await another({ stranger: true });
        await desktop.locator('.shell-taskbar').waitFor();
        await desktop.locator('.shell-start-button').click();
        await desktop.getByRole('button', { name: 'Sign out' }).click();
        await desktop.locator('[name=email]').waitFor();
        assert.equal(new URL(desktop.url()).origin, application.url);
        const [over] = await asked(page, '/bff/user', { headers });
        assert.equal(over, 401);
        const left = await page.context().cookies();
        assert.deepEqual(
          left.filter(({ name }) => name === 'svc-bff' || name === 'svc-session'),
          [],
        );
      },
    ),
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
      // Pictures have addresses that say what they are, and are kept for good.
      const pictures = await page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .map(({ name }) => new URL(name).pathname)
          .filter((path) => path.endsWith('.svg') && !path.startsWith('/icons/application')),
      );
      assert.ok(pictures.length > 0);
      for (const path of pictures) assert.match(path, /^\/assets\/icons-[\w-]{10}\//);
      const keeping = await page.evaluate(
        async (path) => (await fetch(path)).headers.get('cache-control'),
        pictures[0] ?? '',
      );
      // Files that are read from the disk are kept by nobody.
      assert.match(keeping ?? '', process.env.Svc__Http__FilesFromDisk ? /no-store/ : /immutable/);
      // The second visit has its files from the worker.
      await page.reload();
      await page.locator('.shell-taskbar').waitFor();
      await page.context().setOffline(true);
      await page.locator('.svc-connection[data-away]').waitFor();
      // What Playwright calls offline keeps Firefox from asking its service worker, too.
      if (page.context().browser()?.browserType().name() === 'firefox') return;
      await page.goto(application.url).catch(() => undefined);
      await page.getByRole('heading', { name: 'No connection' }).waitFor();
      await assertAccessible(page, 'the page without a network');
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
