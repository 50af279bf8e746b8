/** Rights follow their person: they fall before others are asked for, and the desktop follows them while it is in use. */
import assert from 'node:assert/strict';
import type { ShellApi } from '../../shell/src/index.ts';
import { open, type World } from './browser.ts';
import { frames, openApp, story, withSite, type Answer, type Scenario } from './scenario.ts';

const shown = (page: import('playwright-core').Page) =>
  page.evaluate(() => [
    document.querySelectorAll('.shell-window[data-app=vault]').length,
    // Once in the start menu, or twice when it was opened lately.
    Number(document.querySelector('.shell-tile[data-app=vault], .shell-start [data-app=vault]') !== null),
  ]);

/** What the scenarios look at of a profile. */
interface Kept {
  windows?: { appId: string }[];
  webtops?: { items: unknown[] }[];
}

/** A server that keeps a profile per person, told by the token. */
function keepProfiles(profiles: Map<string, Kept>): Answer {
  return ({ method, url, headers, body }) => {
    const who = headers.authorization?.toString().replace('Bearer ', '') ?? 'nobody';
    if (url.pathname.endsWith('/me')) return { identity: { id: who, displayName: who }, roles: [], permissions: [] };
    if (method === 'PUT') profiles.set(who, JSON.parse(body));
    return method === 'GET' ? profiles.get(who) : undefined;
  };
}

function onServer(shell: ShellApi): void {
  shell.configure({
    serverBaseUrl: '/api',
    profileStore: shell.httpProfileStore((path, init) => shell.request(path, init)),
  });
  shell.registerAuthProvider({
    id: 'name',
    title: 'Name',
    fields: [{ name: 'user', label: 'User' }],
    login: ({ user = '' }) => ({ token: user, identity: { id: user, displayName: user } }),
  });
}

const signInAs = (page: import('playwright-core').Page, user: string) =>
  page.evaluate((name) => window.Shell.login('name', { user: name }), user);

export const access: Scenario[] = [
  story(
    'access: rights fall before another person’s are asked for, and stay gone when that fails',
    {},
    async ({ page }) => {
      const answers = await page.evaluate(async () => {
        const { Shell } = window;
        Shell.configure({
          accessProvider: async (session) => {
            if (session.identity?.id === 'bert') throw new Error('the server is down');
            return { roles: ['keeper'], permissions: ['Vault.Open'] };
          },
        });
        const changes: number[] = [];
        Shell.on('access-changed', ({ permissions }) => changes.push(permissions.length));
        await Shell.setSession({ identity: { id: 'anna', displayName: 'Anna' } });
        const first = Shell.openApp('vault');
        const failed = await Shell.setSession({ identity: { id: 'bert', displayName: 'Bert' } }).catch(
          (error) => error.message,
        );
        return [first, failed, Shell.openApp('vault'), Shell.access, changes];
      });
      assert.deepEqual(answers, [
        true,
        'the server is down',
        false,
        { identity: { id: 'bert', displayName: 'Bert' }, roles: [], permissions: [] },
        [1, 0],
      ]);
      await page.getByText('What you may do couldn’t be found out.').waitFor();
      await page.locator('.shell-window[data-app=vault]').waitFor({ state: 'detached' });
      await page.locator('.shell-start-button').click();
      assert.equal(await page.locator('.shell-start-who').textContent(), 'Bert');
      await page.keyboard.press('Escape');
      await page.evaluate(() =>
        window.Shell.configure({ accessProvider: async () => ({ permissions: ['Vault.Open'] }) }),
      );
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.waitForFunction(() => window.Shell.can('Vault.Open'));
    },
  ),
  story(
    'access: session and identity store: roles of both, record by id or by user name, none when disabled',
    {},
    async ({ page }) => {
      const seen = await page.evaluate(async () => {
        const { Shell } = window;
        const identityStore = Shell.localIdentityStore({
          users: [
            { id: 'u1', userName: 'anna', displayName: 'Anna', roles: ['keeper'] },
            { id: 'u2', userName: 'bert', displayName: 'Bert', roles: ['keeper'], disabled: true },
          ],
          roles: [
            { id: 'keeper', title: 'Keeper', permissions: ['Vault.Open'] },
            { id: 'reader', title: 'Reader', permissions: ['Books.Read'] },
          ],
        });
        Shell.configure({ identityStore });
        const of = async (id: string, more: object) => {
          await Shell.setSession({ identity: { id, displayName: id }, ...more });
          return [...Shell.access.permissions].sort().join();
        };
        return [
          await of('u1', {}),
          await of('anna', { roles: ['reader'], permissions: ['Own.Thing'] }),
          await of('u2', { roles: ['reader'] }),
          await of('stranger', { roles: ['reader'] }),
        ];
      });
      assert.deepEqual(seen, ['Vault.Open', 'Books.Read,Own.Thing,Vault.Open', '', 'Books.Read']);
    },
  ),
  story(
    'access: a role lost on the server: windows, tiles, start menu, search and shortcuts follow, and come back',
    {},
    async ({ page }) => {
      await page.evaluate(async () => {
        const state = { permissions: ['Vault.Open'] };
        Object.assign(window, { state });
        window.Shell.configure({ accessProvider: async () => ({ ...state }) });
        await window.Shell.setSession({ identity: { id: 'anna', displayName: 'Anna' } });
      });
      await openApp(page, 'vault');
      await openApp(page, 'notes');
      const role = (permissions: string[]) =>
        page.evaluate(async (now) => {
          Object.assign((window as unknown as { state: object }).state, { permissions: now });
          await window.Shell.refreshAccess();
        }, permissions);
      await page.locator('.shell-start-button').click();
      assert.deepEqual(await shown(page), [1, 1]);
      await role([]);
      await frames(page);
      assert.deepEqual(await shown(page), [0, 0]);
      await page.getByRole('combobox').fill('vault');
      await page.getByText('Nothing found').waitFor();
      assert.equal(await page.locator('.shell-window[data-app=notes]').count(), 1, 'what is allowed stays');
      await role(['Vault.Open']);
      await page.getByRole('option', { name: /Vault/ }).waitFor();
    },
  ),
  story(
    'access: whoever is refused, or comes back to the page, has their rights asked for again, but not all the time',
    {},
    async ({ page, errors }) => {
      await page.route('**/api/**', (route) => route.fulfill({ status: 403 }));
      await page.evaluate(async () => {
        const state = { permissions: ['Vault.Open'], asked: 0 };
        const [now, clock] = [performance.now.bind(performance), { ahead: 0 }];
        performance.now = () => now() + clock.ahead;
        Object.assign(window, { state, clock });
        window.Shell.configure({
          accessProvider: async () => {
            state.asked += 1;
            return { permissions: [...state.permissions] };
          },
        });
        await window.Shell.setSession({ identity: { id: 'anna', displayName: 'Anna' } });
      });
      type Played = { state: { permissions: string[]; asked: number }; clock: { ahead: number } };
      const change = (permissions: string[], ahead: number) =>
        page.evaluate(
          ([now, by]) => {
            const { state, clock } = window as unknown as Played;
            state.permissions = now;
            clock.ahead += by;
          },
          [permissions, ahead] as const,
        );
      const refused = () => page.evaluate(() => window.Shell.request('/api/stock').catch((error) => error.status));
      const asked = () => page.evaluate(() => (window as unknown as Played).state.asked);
      await openApp(page, 'vault');
      await openApp(page, 'notes');
      await change([], 0);
      assert.equal(await refused(), 403);
      assert.equal(await asked(), 1, 'it was asked a moment ago');
      await change([], 10_500);
      assert.equal(await refused(), 403);
      await page.locator('.shell-window[data-app=vault]').waitFor({ state: 'detached' });
      for (let round = 0; round < 3; round += 1) await refused();
      assert.equal(await asked(), 2);
      assert.equal(await page.locator('.shell-window[data-app=notes]').count(), 1);
      await change(['Vault.Open'], 10_500);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await page.waitForFunction(() => window.Shell.can('Vault.Open'));
      assert.equal(await asked(), 3);
      errors.splice(0, errors.length, ...errors.filter((text) => !text.includes('403')));
    },
  ),
  {
    name: 'people: two on one machine never get each other’s profile, neither from the browser nor on the server',
    run(world: World) {
      const profiles = new Map<string, Kept>();
      return withSite(keepProfiles(profiles), async (url) => {
        const { page, errors, context } = await open(world, { setup: onServer, url });
        await signInAs(page, 'anna');
        await page.locator('.shell-tile').first().waitFor();
        await openApp(page, 'notes', { note: 'n2' });
        await page.locator('.shell-tile').first().focus();
        await page.keyboard.press('Delete');
        // At once, with the change not yet saved and its undo still offered.
        await signInAs(page, 'bert');
        await page.locator('.shell-tile').nth(9).waitFor();
        assert.equal(await page.locator('.shell-window').count(), 0);
        assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
        await openApp(page, 'clock');
        await page.evaluate(() => window.Shell.logout());
        const appsOf = (who: string) => profiles.get(who)?.windows?.map(({ appId }) => appId);
        assert.deepEqual(appsOf('anna'), ['notes']);
        assert.deepEqual(appsOf('bert'), ['clock']);
        assert.deepEqual([...profiles.keys()].sort(), ['anna', 'bert']);
        const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
        assert.doesNotMatch(kept, /note|clock/i, 'nothing of them stays in the browser');
        assert.deepEqual(errors, []);
        await context.close();
      });
    },
  },
  {
    name: 'leaving: the last change is saved on the server although the page goes at once, and is there on another machine',
    run(world: World) {
      const profiles = new Map<string, Kept>();
      return withSite(keepProfiles(profiles), async (url) => {
        const { page, errors } = await open(world, { setup: onServer, url });
        await signInAs(page, 'anna');
        await page.locator('.shell-tile').nth(9).waitFor();
        await page.waitForTimeout(1_500);
        await page.locator('.shell-tile').first().focus();
        await page.keyboard.press('Delete');
        await frames(page);
        await page.goto('about:blank');
        const items = () => profiles.get('anna')?.webtops?.[0]?.items.length;
        for (let tries = 0; items() !== 9; tries += 1) {
          assert.ok(tries < 50, `the server has ${items()} shortcuts, not 9`);
          await page.waitForTimeout(50);
        }
        const other = await open(world, { setup: onServer, url });
        await signInAs(other.page, 'anna');
        await other.page.locator('.shell-tile').first().waitFor();
        assert.equal(await other.page.locator('.shell-tile').count(), 9);
        assert.deepEqual([...errors, ...other.errors], []);
      });
    },
  },
  {
    name: 'tabs: windows closed in one tab stay open in another, after a reload, too',
    async run(world: World) {
      const first = await open(world);
      await openApp(first.page, 'notes');
      await openApp(first.page, 'clock');
      await first.page.waitForTimeout(1_000);
      const second = await open(world, { context: first.context });
      await second.page.locator('.shell-window').nth(1).waitFor();
      for (const id of ['notes', 'clock']) {
        await first.page.locator(`.shell-window[data-app=${id}] [data-act=close]`).click({ force: true });
      }
      await first.page.waitForTimeout(1_200);
      await second.page.reload();
      await second.page.locator('.shell-window').nth(1).waitFor();
      await first.page.reload();
      await first.page.locator('.shell-tile').first().waitFor();
      await frames(first.page);
      assert.equal(await first.page.locator('.shell-window').count(), 0);
      assert.deepEqual([...first.errors, ...second.errors], []);
    },
  },
  ...(['at once', 'slowly'] as const).map(
    (how): Scenario => ({
      name: `trouble: when every request fails ${how}, people can sign in, work and sign out`,
      async run(world: World) {
        const { page } = await open(world, {
          setup: (shell) => {
            shell.configure({
              serverBaseUrl: '/api',
              profileStore: shell.httpProfileStore((path, init) => shell.request(path, init)),
              accessProvider: () => shell.request('/me') as Promise<object>,
              identityStore: shell.httpIdentityStore((path, init) => shell.request(path, init)),
            });
            shell.registerAuthProvider({
              id: 'name',
              title: 'Name',
              fields: [{ name: 'user', label: 'User' }],
              login: ({ user = '' }) => ({ token: user, identity: { id: user, displayName: user } }),
              restore: () => shell.request('/session') as Promise<undefined>,
              logout: () => shell.request('/logout', { method: 'POST' }),
            });
          },
        });
        await page.route('**/api/**', async (route) => {
          if (how === 'slowly') await new Promise((resolve) => setTimeout(resolve, 20_000));
          await route.fulfill({ status: 503 }).catch(() => undefined);
        });
        await page.reload();
        await page.getByLabel('User').fill('anna');
        await page.keyboard.press('Enter');
        await page.locator('.shell-login').waitFor({ state: 'detached' });
        await page.locator('.shell-start-button').click();
        await page.locator('.shell-start [data-app=clock]').click();
        await page.locator('playground-clock').waitFor();
        const began = Date.now();
        await page.evaluate(() => void window.Shell.logout());
        await page.locator('.shell-login-card').waitFor();
        assert.ok(Date.now() - began < 20_000);
        assert.equal(await page.evaluate(() => window.Shell.session), undefined);
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      },
    }),
  ),
  story('request: what a window reads is given up with it; what it writes goes on', {}, async ({ page }) => {
    await page.route('**/api/**', async (route) => {
      // A read is never answered; only closing the window ends it.
      if (route.request().method() === 'PUT') await route.fulfill({ body: 'kept' });
    });
    await page.evaluate(() => {
      const outcomes: string[] = [];
      Object.assign(window, { outcomes });
      window.Shell.registerApp({
        id: 'asker',
        title: 'Asker',
        icon: 'box.svg',
        render({ request }) {
          for (const method of ['GET', 'PUT']) {
            request('/api/x', { method }).then(
              () => outcomes.push(`${method} done`),
              (error: Error) => outcomes.push(`${method} ${error.name}`),
            );
          }
        },
      });
    });
    await openApp(page, 'asker');
    await page.locator('.shell-window [data-act=close]').click();
    await page.waitForFunction(() => (window as unknown as { outcomes: string[] }).outcomes.length === 2);
    assert.deepEqual(await page.evaluate(() => (window as unknown as { outcomes: string[] }).outcomes.sort()), [
      'GET AbortError',
      'PUT done',
    ]);
  }),
  story(
    'cookie provider: sign-in by a browser host: its header on every request, no token, a way out',
    {},
    async ({ page, errors }) => {
      const seen: string[] = [];
      let user: object | undefined;
      await page.route('**/bff/**', (route) => {
        const request = route.request();
        const path = new URL(request.url()).pathname;
        seen.push(`${request.method()} ${path} ${request.headers()['x-csrf'] ?? '-'}`);
        if (path === '/bff/login') {
          user = { id: 'anna', displayName: 'Anna', permissions: ['Vault.Open'] };
          return route.fulfill({
            status: 302,
            headers: { location: new URL(request.url()).searchParams.get('returnUrl') ?? '/' },
          });
        }
        if (path === '/bff/logout') user = undefined;
        if (path === '/bff/user' && user)
          return route.fulfill({ contentType: 'application/json', body: JSON.stringify(user) });
        return route.fulfill({ status: path === '/bff/user' ? 401 : 204 });
      });
      await page.route('**/api/**', (route) => {
        const { authorization, 'x-csrf': csrf } = route.request().headers();
        return route.fulfill({ contentType: 'application/json', body: JSON.stringify({ authorization, csrf }) });
      });
      await page.addInitScript(() => {
        const setup = (shell: ShellApi) => shell.registerAuthProvider(shell.createCookieProvider({ title: 'Acme' }));
        Object.assign(globalThis, { playground: { setup } });
      });
      await page.goto(`${page.url()}?tenant=acme`);
      await page.getByRole('button', { name: 'Sign in with Acme' }).click();
      await page.locator('.shell-tile').first().waitFor();
      assert.match(page.url(), /\?tenant=acme$/);
      assert.equal(await page.evaluate(() => window.Shell.can('Vault.Open')), true);
      assert.deepEqual(await page.evaluate(() => window.Shell.request('/api/x')), { csrf: '1' });
      await page.evaluate(() => window.Shell.logout());
      await page.locator('.shell-login-card').waitFor();
      errors.splice(0, errors.length, ...errors.filter((text) => !text.includes('401')));
      assert.deepEqual(seen, ['GET /bff/user 1', 'GET /bff/login -', 'GET /bff/user 1', 'POST /bff/logout 1']);
    },
  ),
  story(
    'url: one that can’t be shown is refused at once; a pop-out keeps what else the page’s query says',
    { path: '/?tenant=acme' },
    async ({ page, context }) => {
      const said = await page.evaluate(() =>
        ['https://x:99999/', 'javascript:alert(1)'].map((url, index) => {
          try {
            window.Shell.registerApp({ id: `bad${index}`, title: 'Bad', icon: 'box.svg', url });
            return 'registered';
          } catch (error) {
            return (error as Error).message;
          }
        }),
      );
      for (const message of said) assert.match(message, /must be the address of a page or module/);
      assert.equal(await page.locator('.shell-window').count(), 0);
      const win = await openApp(page, 'clock');
      await win.locator('.shell-window-icon').click();
      const [tab] = await Promise.all([
        context.waitForEvent('page'),
        page.getByRole('menuitem', { name: 'Open in browser' }).click(),
      ]);
      await tab.locator('playground-clock').waitFor();
      assert.deepEqual(Object.fromEntries(new URL(tab.url()).searchParams), { tenant: 'acme', app: 'clock' });
    },
  ),
];
