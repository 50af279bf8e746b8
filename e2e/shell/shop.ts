/**
 * The desktop before the project's own server: sign-in through its OpenID provider and through its browser host, rights and
 * profiles that it keeps. Played when `SVC_SHOP_BINARY` names the sample shop.
 */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { serve } from '../../shell/scripts/play.ts';
import { startShop, type Shop } from '../../shell/scripts/shop.ts';
import type { ShellApi } from '../../shell/src/index.ts';
import { open, type Desktop, type World } from './browser.ts';
import { openApp, type Scenario } from './scenario.ts';

/** Somebody who has a role that lets them see the stock. */
interface Keeper {
  id: string;
  email: string;
  role: string;
}

/** What both ways to sign in share: rights and profiles come from the server. */
function onServer(shell: ShellApi): void {
  shell.configure({
    serverBaseUrl: '/api/v1',
    accessProvider: () => shell.request('/me'),
    profileStore: shell.httpProfileStore(shell.request),
  });
  shell.registerApp({
    id: 'stock',
    title: 'Stock',
    icon: 'box.svg',
    requiredPermissions: ['Products.View'],
    render: async ({ request }) => {
      const { identity } = await request<{ identity: { displayName: string } }>('/me');
      return document.createTextNode(`Seen by ${identity.displayName}`);
    },
  });
}

/** What runs on the page sees nothing of this file. */
function setup(connect: (shell: ShellApi, ...told: string[]) => void, ...told: string[]): (shell: ShellApi) => void {
  const parts = `(${onServer})(shell); (${connect})(shell, ...${JSON.stringify(told)})`;
  return new Function('shell', parts) as (shell: ShellApi) => void;
}

/** Invites somebody and accepts the invitation in their place. */
async function invite(shop: Shop, site: string, world: World): Promise<Keeper> {
  const role = await shop.api<{ id: string }>('POST', '/identity/roles', {
    name: 'Keepers',
    permissions: ['Products.View'],
  });
  const email = 'grace@example.com';
  const user = await shop.api<{ id: string; invitationLink: string }>('POST', '/identity/users', {
    email,
    displayName: 'Grace Hopper',
    roles: [role.id],
  });
  const context = await world.browser.newContext();
  const page = await context.newPage();
  const { pathname, search } = new URL(user.invitationLink);
  await page.goto(site + pathname + search);
  for (const field of await page.locator('input[type=password]').all()) await field.fill(shop.password);
  await page.locator('form button').first().click();
  await page.waitForURL((url) => !url.pathname.includes('invitation'));
  await context.close();
  return { id: user.id, email, role: role.id };
}

/** A shop, a page in front of it, and a person; all gone afterwards. */
function party(
  name: string,
  play: (shop: Shop, keeper: Keeper, site: { url: string; others: string[] }, world: World) => Promise<void>,
): Scenario {
  return {
    name,
    async run(world) {
      const shop = await startShop(process.env.SVC_SHOP_BINARY ?? '');
      const others: string[] = [];
      const { server, url } = await serve(0, others, (request, response) => shop.behind(request, response));
      try {
        await play(shop, await invite(shop, url, world), { url, others }, world);
      } finally {
        server.close();
        server.closeAllConnections();
        await shop.end();
      }
    },
  };
}

/** Types mail address and password on the server's own page. */
async function fillIn(page: Page, shop: Shop, email: string): Promise<void> {
  await page.getByLabel('Mail address').fill(email);
  await page.getByLabel('Password').fill(shop.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** How long the tokens of this shop live. */
const TOKEN_MS = 60_000;

const token = (page: Page) => page.evaluate(() => window.Shell.session?.token);

/** Grace's own desktop: the app that her role opens is there, and says who she is. */
async function isGrace({ page }: Desktop): Promise<void> {
  await page.locator('.shell-tile').first().waitFor();
  await page.waitForFunction(() => window.Shell.can('Products.View'));
  const win = await openApp(page, 'stock');
  await win.getByText('Seen by Grace Hopper').waitFor();
}

/** The role is taken away on the server; `ask` lets the desktop learn of it. */
async function losesHerRole({ page }: Desktop, shop: Shop, keeper: Keeper, ask: () => Promise<void>): Promise<void> {
  const notes = await openApp(page, 'notes');
  await notes.locator('textarea').fill('half a thought');
  await shop.api('PUT', `/identity/users/${keeper.id}`, { roles: [] });
  await ask();
  await page.locator('.shell-window[data-app=stock]').waitFor({ state: 'detached' });
  assert.equal(await notes.locator('textarea').inputValue(), 'half a thought', 'what is allowed stays as it is');
  assert.equal(await page.evaluate(() => window.Shell.openApp('stock')), false);
  await page.locator('.shell-start-button').click();
  await page.locator('.shell-start [data-app=notes]').first().waitFor();
  assert.equal(await page.locator('.shell-start [data-app=stock]').count(), 0);
  await page.keyboard.press('Escape');
}

/** Signs out here and at the provider, which brings the browser back. */
async function signOut(page: Page): Promise<void> {
  await page.locator('.shell-start-button').click();
  const back = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await back;
  await page.locator('.shell-login-card').waitFor();
}

function byOidc(shell: ShellApi, authority = '', clientId = ''): void {
  shell.registerAuthProvider(
    shell.createOidcProvider({
      authority,
      clientId,
      title: 'Example Ltd',
      scope: 'openid profile email roles offline_access',
      roleClaims: ['roles'],
    }),
  );
}

function byHost(shell: ShellApi): void {
  shell.registerAuthProvider(shell.createCookieProvider({ title: 'Example Ltd' }));
}

export const shop: Scenario[] = [
  party(
    'shop: by its OpenID provider: sign in, a token refreshed, a role lost with windows open, sign out',
    async (server, keeper, { url, others }, world) => {
      others.push(server.url);
      const { id } = await server.api<{ id: string }>('POST', '/identity/clients', {
        name: 'Desktop',
        isPublic: true,
        redirectUris: [`${url}/`],
        signedOutUris: [`${url}/`],
        origins: [url],
      });
      const desktop = await open(world, { url, setup: setup(byOidc, server.url, id) });
      const { page, errors } = desktop;
      await page.getByRole('button', { name: 'Sign in with Example Ltd' }).click();
      await fillIn(page, server, keeper.email);
      await isGrace(desktop);
      assert.deepEqual(await page.evaluate(() => window.Shell.session?.roles), ['Keepers']);
      const first = await token(page);
      // Tokens live for a minute here and are refreshed 30 s before; the refresh asks for the rights, too.
      const refreshed = (old: string | undefined) => window.Shell.session && window.Shell.session.token !== old;
      await losesHerRole(desktop, server, keeper, async () => {
        await page.waitForFunction(refreshed, first, { timeout: 60_000 });
      });
      await signOut(page);
      assert.equal(await token(page), undefined);
      // The provider has forgotten her, too.
      await page.getByRole('button', { name: 'Sign in with Example Ltd' }).click();
      await page.getByLabel('Mail address').waitFor();
      assert.deepEqual(errors, []);
    },
  ),
  party(
    'shop: by its browser host: sign in by cookie, the profile on another machine, tokens renewed, a role lost, sign out',
    async (server, keeper, { url }, world) => {
      const desktop = await open(world, { url, setup: setup(byHost) });
      const { page, errors } = desktop;
      await page.getByRole('button', { name: 'Sign in with Example Ltd' }).click();
      await fillIn(page, server, keeper.email);
      await isGrace(desktop);
      assert.equal(await token(page), undefined, 'the page has no token');
      assert.equal(await page.evaluate(() => document.cookie.includes('svc-bff')), false, 'nor the cookie');
      const tiles = await page.locator('.shell-tile').count();
      await page.locator('.shell-tile').first().focus();
      await page.keyboard.press('Delete');
      // At once, with the change not yet saved.
      await page.reload();
      await page.locator('.shell-window[data-app=stock]').waitFor();
      const elsewhere = await open(world, { url, setup: setup(byHost) });
      await elsewhere.page.getByRole('button', { name: 'Sign in with Example Ltd' }).click();
      await fillIn(elsewhere.page, server, keeper.email);
      await elsewhere.page.locator('.shell-window[data-app=stock]').waitFor();
      const signedIn = Date.now();
      assert.equal(await elsewhere.page.locator('.shell-tile').count(), tiles - 1);
      // The tokens that the host was given at both sign-ins are over; neither page notices.
      await page.waitForTimeout(Math.max(0, signedIn + TOKEN_MS + 1_000 - Date.now()));
      for (const one of [page, elsewhere.page]) {
        const { identity } = await one.evaluate(() =>
          window.Shell.request<{ identity: { displayName: string } }>('/me'),
        );
        assert.equal(identity.displayName, 'Grace Hopper');
        assert.equal(await one.locator('.shell-login').count(), 0);
      }
      // Something that she tries is refused: that lets the desktop ask what else has changed, though not all the time.
      await losesHerRole(desktop, server, keeper, async () => {
        for (let tries = 0; tries < 20 && (await page.evaluate(() => window.Shell.can('Products.View'))); tries += 1) {
          await page.evaluate(() => window.Shell.request('/identity/users').catch(() => undefined));
          await page.waitForTimeout(1_000);
        }
      });
      await signOut(page);
      assert.equal(await page.evaluate(() => window.Shell.request('/me').catch((error) => error.status)), 401);
      const unexpected = [...errors, ...elsewhere.errors].filter((text) => !/40[13]/.test(text));
      assert.deepEqual(unexpected, []);
    },
  ),
];
