/** What the shell asks servers: `request`, profiles kept by one, effective rights from one. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Request } from 'playwright-core';
import type { ShellApi } from '../../shell/src/index.ts';
import { open, type World } from './browser.ts';
import { box, drag, openApp, same, story, titleOf, withSite, type Answer, type Box } from './scenario.ts';

/** Answers requests under `/api`, and remembers them. */
async function serveApi(
  page: Page,
  answer: (request: Request) => { status?: number; contentType?: string; body?: string },
): Promise<Request[]> {
  const seen: Request[] = [];
  await page.route('**/api/**', async (route) => {
    seen.push(route.request());
    await route.fulfill(answer(route.request()));
  });
  return seen;
}

const json = (value: unknown, status = 200) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(value),
});

export const server = [
  story('request: token, JSON, text, 204, and errors with their problem', {}, async ({ page, errors }) => {
    const seen = await serveApi(page, (request) => {
      const path = new URL(request.url()).pathname;
      if (path.endsWith('/text')) return { contentType: 'text/plain', body: 'just text' };
      if (path.endsWith('/empty')) return { status: 204 };
      if (path.endsWith('/denied'))
        return {
          status: 403,
          contentType: 'application/problem+json',
          body: JSON.stringify({ title: 'Forbidden', detail: 'you may not', status: 403 }),
        };
      if (path.endsWith('/broken')) return { status: 500, contentType: 'text/html', body: '<h1>oops</h1>' };
      return json({ ok: true }, 201);
    });
    const answers = await page.evaluate(async () => {
      window.Shell.configure({ serverBaseUrl: '/api/v1' });
      await window.Shell.setSession({ token: 't0ken', identity: { id: 'u', displayName: 'Ada' } });
      const failure = async (path: string) => {
        try {
          await window.Shell.request(path);
          return 'nothing was thrown';
        } catch (error) {
          const { name, message, status, body, problem } = error as Error & Record<string, unknown>;
          return { name, message: message.replace(/http:\/\/[^/]*/, ''), status, body, problem };
        }
      };
      return {
        made: await window.Shell.request('/things', { method: 'POST', body: JSON.stringify({ a: 1 }) }),
        text: await window.Shell.request('/text'),
        empty: (await window.Shell.request('/empty')) === undefined,
        denied: await failure('/denied'),
        broken: await failure('/broken'),
      };
    });
    assert.deepEqual(answers, {
      made: { ok: true },
      text: 'just text',
      empty: true,
      denied: {
        name: 'ShellRequestError',
        message: 'the server answered 403 to `/api/v1/denied`: you may not',
        status: 403,
        body: { title: 'Forbidden', detail: 'you may not', status: 403 },
        problem: { title: 'Forbidden', detail: 'you may not', status: 403 },
      },
      broken: {
        name: 'ShellRequestError',
        message: 'the server answered 500 to `/api/v1/broken`: Internal Server Error',
        status: 500,
        body: '<h1>oops</h1>',
        problem: undefined,
      },
    });
    const [first, second] = seen.map((request) => request.headers());
    assert.equal(first?.authorization, 'Bearer t0ken');
    assert.equal(first?.['content-type'], 'application/json');
    assert.equal(second?.['content-type'], undefined, 'no body, no content type');
    // The browser itself writes failed requests to the console.
    errors.splice(0, errors.length, ...errors.filter((text) => !text.startsWith('Failed to load resource')));
  }),
  {
    name: 'request: the token stays with its own server; an own transport replaces it all',
    async run(world: World) {
      const seen: (string | undefined)[] = [];
      const stranger = createServer((request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(200, { 'access-control-allow-origin': '*' }).end('stranger');
      });
      await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
      const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
      const play = async (url: string) => {
        const { page, errors } = await open(world, { url });
        const answers = await page.evaluate(async (address) => {
          await window.Shell.setSession({ token: 't0ken' });
          const answer = await window.Shell.request(address);
          window.Shell.configure({ request: async (path, init) => [path, init?.method ?? 'GET'] });
          return [answer, await window.Shell.request('/x', { method: 'PUT' })];
        }, `${elsewhere}/x`);
        assert.deepEqual(answers, ['stranger', ['/x', 'PUT']]);
        assert.deepEqual(seen, [undefined]);
        assert.deepEqual(errors, []);
      };
      await withSite(() => undefined, play, [elsewhere]);
      stranger.close();
      stranger.closeAllConnections();
    },
  },
  {
    name: 'httpProfileStore: 204 is a first start, changes are PUT, and come back on another machine',
    run(world: World) {
      let stored: { windows: { bounds: Box }[] } | undefined;
      const keys = new Set<string | null>();
      const answer: Answer = ({ method, url, body }) => {
        keys.add(url.searchParams.get('key'));
        if (method === 'PUT') stored = JSON.parse(body);
        return method === 'GET' ? stored : undefined;
      };
      return withSite(answer, async (url) => {
        const setup = (shell: ShellApi) =>
          shell.configure({
            serverBaseUrl: '/api',
            profileStore: shell.httpProfileStore((path, init) => shell.request(path, init), '/profile'),
          });
        const first = await open(world, { url, setup });
        const win = await openApp(first.page, 'clock');
        await drag(first.page, await titleOf(win), { x: 420, y: 380 });
        const before = await box(win);
        const savedX = () => stored?.windows[0]?.bounds.x;
        for (let tries = 0; Math.abs((savedX() ?? 0) - before.x) > 1; tries += 1) {
          assert.ok(tries < 200, `the window was saved at ${savedX()}, not ${before.x}`);
          await first.page.waitForTimeout(100);
        }
        const second = await open(world, { url, setup });
        await second.page.locator('.shell-window[data-app=clock]').waitFor();
        same(await box(second.page.locator('.shell-window')), before, 'restored from the server');
        assert.deepEqual([...keys], ['shell']);
        assert.deepEqual([...first.errors, ...second.errors], []);
      });
    },
  },
  story('access: `/me` as accessProvider, asked again by refreshAccess, events for both', {}, async ({ page }) => {
    let permissions = ['Vault.Open'];
    const seen = await serveApi(page, () =>
      json({ identity: { id: 'u', displayName: 'Ada Lovelace' }, roles: ['keeper'], permissions }),
    );
    const dom = await page.evaluate(async () => {
      const events: string[] = [];
      for (const name of ['login', 'logout', 'access-changed', 'app-opened'])
        document.addEventListener(`shell:${name}`, (event) =>
          events.push(`${name} ${JSON.stringify((event as CustomEvent).detail ?? null)}`),
        );
      (window as unknown as { events: string[] }).events = events;
      window.Shell.configure({
        serverBaseUrl: '/api',
        accessProvider: () => window.Shell.request('/me') as Promise<{ roles: string[]; permissions: string[] }>,
      });
      await window.Shell.setSession({ token: 't' });
      return [window.Shell.can('Vault.Open'), window.Shell.access.identity?.displayName, window.Shell.session?.token];
    });
    assert.deepEqual(dom, [true, 'Ada Lovelace', 't']);
    await openApp(page, 'vault');
    await page.locator('.shell-start-button').click();
    assert.equal(await page.locator('.shell-start-who').textContent(), 'Ada Lovelace');
    await page.keyboard.press('Escape');
    permissions = [];
    await page.evaluate(() => window.Shell.refreshAccess());
    await page.locator('.shell-window[data-app=vault]').waitFor({ state: 'detached' });
    await page.evaluate(() => window.Shell.setSession(undefined));
    const events = await page.evaluate(() => (window as unknown as { events: string[] }).events);
    assert.deepEqual(
      events.map((event) => event.replace(/"windowId":"[^"]*"/, '"windowId":"…"')),
      [
        'access-changed {"roles":["keeper"],"permissions":["Vault.Open"]}',
        'login {"token":"t"}',
        'app-opened {"appId":"vault","windowId":"…"}',
        'access-changed {"roles":["keeper"],"permissions":[]}',
        'access-changed {"roles":[],"permissions":[]}',
        'logout null',
      ],
    );
    assert.equal(seen.length, 2);
  }),
  {
    name: 'locale: the browser’s language when nothing else is said',
    async run(world: World) {
      for (const [browser, expected] of [
        ['de-CH', 'de'],
        ['en-US', 'en'],
        ['it-IT', 'en'],
      ] as const) {
        const { page } = await open(world, { locale: browser });
        assert.equal(await page.locator('shell-desktop').getAttribute('lang'), expected, browser);
      }
    },
  },
];
