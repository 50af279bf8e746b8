/** Sign-in through a real OpenID provider: redirect, exchange, refresh, sign-out; and what happens when it goes wrong. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startIssuer, type Issuer } from '../../shell/scripts/oidc.ts';
import { serve } from '../../shell/scripts/play.ts';
import type { ShellApi } from '../../shell/src/index.ts';
import { open, type Desktop, type World } from './browser.ts';
import { openApp, type Scenario } from './scenario.ts';

/** What runs on the page sees nothing of this file. */
function setupFor(issuer: Issuer): (shell: ShellApi) => void {
  return new Function('shell', `(${connect})(shell, ${JSON.stringify(issuer.url)})`) as (shell: ShellApi) => void;
}

/** A page, its provider, and both gone afterwards. Access tokens live for `seconds`. */
function party(
  name: string,
  seconds: number,
  play: (desktop: Desktop, issuer: Issuer, world: World) => Promise<void>,
): Scenario {
  return {
    name,
    async run(world) {
      const others: string[] = [];
      const site = await serve(0, others);
      const issuer = await startIssuer(`${site.url}/`, seconds);
      others.push(issuer.url);
      try {
        await play(await open(world, { url: site.url, setup: setupFor(issuer) }), issuer, world);
      } finally {
        for (const server of [issuer.server, site.server]) {
          server.close();
          server.closeAllConnections();
        }
      }
    },
  };
}

function connect(shell: ShellApi, authority: string): void {
  shell.configure({ brand: { title: 'Acme' } });
  shell.registerAuthProvider(
    shell.createOidcProvider({
      authority,
      clientId: 'desktop',
      title: 'Example ID',
      scope: 'openid profile email offline_access',
      extraParams: { prompt: 'consent', ui_locales: 'en' },
      roleClaims: ['realm_access.roles', 'groups'],
      mapSession: (claims) => ({ permissions: claims.email ? ['Vault.Open'] : [] }),
    }),
  );
}

async function signIn(page: Page, who: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with Example ID' }).click();
  await page.locator('input[name=login]').fill(who);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('input[name=login]').waitFor({ state: 'detached' });
  await page.locator('button[type=submit]').click();
  await page.locator('.shell-tile').first().waitFor();
}

const token = (page: Page) => page.evaluate(() => window.Shell.session?.token);

export const oidc = [
  party(
    'oidc: sign in, roles by path, a reload, another tab, a 401, sign out',
    600,
    async ({ page, context, errors }, issuer, world) => {
      await page.locator('.shell-login-card').waitFor();
      const before = page.url();
      const leaving = page.waitForRequest((request) => request.url().startsWith(`${issuer.url}/auth?`));
      await signIn(page, 'ada');
      const query = new URL((await leaving).url()).searchParams;
      assert.deepEqual(
        ['response_type', 'code_challenge_method', 'prompt', 'ui_locales'].map((name) => query.get(name)),
        ['code', 'S256', 'consent', 'en'],
      );
      for (const name of ['code_challenge', 'state', 'nonce']) assert.ok(query.get(name), name);
      assert.equal(page.url(), before, 'neither code nor state stay in the address');
      const who = await page.evaluate(() => window.Shell.access);
      assert.deepEqual(who, {
        identity: { id: 'ada', displayName: 'ada Example' },
        roles: ['keeper'],
        permissions: ['Vault.Open'],
      });
      await openApp(page, 'vault');
      assert.deepEqual(
        await page.evaluate(() =>
          Object.keys(localStorage).filter((key) => JSON.stringify(localStorage[key]).includes('token')),
        ),
        [],
        'no token outlives the tab',
      );
      await page.reload();
      await page.locator('.shell-window[data-app=vault]').waitFor();
      assert.equal(issuer.refreshes, 0, 'a token that is good isn’t refreshed');
      // A further tab has no tokens of its own: it asks the first one.
      const other = await open(world, {
        context,
        url: new URL(before).origin,
        path: '/?app=vault',
        setup: setupFor(issuer),
      });
      await other.page.locator('.shell-window[data-app=vault]').waitFor();
      await other.page.close();
      let refused = 0;
      await page.route('**/api/thing', (route) => {
        refused += 1;
        return route.fulfill(refused === 1 ? { status: 401 } : { contentType: 'text/plain', body: 'here' });
      });
      const first = await token(page);
      assert.equal(await page.evaluate(() => window.Shell.request('/api/thing')), 'here');
      assert.equal(issuer.refreshes, 1);
      assert.notEqual(await token(page), first);
      await page.locator('.shell-start-button').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      // The provider asks, too, and brings the browser back.
      await page.locator('button[name=logout], form button[type=submit]').first().click();
      await page.waitForURL(`${new URL(before).origin}/**`);
      await page.locator('.shell-login-card').waitFor();
      assert.equal(await token(page), undefined);
      assert.equal(await page.locator('.shell-window').count(), 0);
      errors.splice(0, errors.length, ...errors.filter((text) => !text.startsWith('Failed to load resource')));
      assert.deepEqual(errors, []);
    },
  ),
  party(
    'oidc: a token is refreshed before it ends; when the provider refuses, the login screen comes',
    33,
    async ({ page }, issuer) => {
      await signIn(page, 'ada');
      const first = await token(page);
      const win = await openApp(page, 'notes');
      await win.locator('textarea').fill('kept');
      await page.waitForFunction((old) => window.Shell.session?.token !== old, first);
      assert.equal(issuer.refreshes >= 1, true);
      issuer.revoked = true;
      await page.getByText('Your session has ended, ada Example.').waitFor();
      issuer.revoked = false;
      await page.getByRole('button', { name: 'Sign in with Example ID' }).click();
      // The provider still knows the browser, so consent is all it asks for.
      await page.locator('button[type=submit]').click();
      await page.locator('.shell-window[data-app=notes]').waitFor();
    },
  ),
  party(
    'oidc: cancelled, forged or unreachable: said in words, and another attempt works',
    600,
    async ({ page, errors }, issuer) => {
      const home = page.url();
      await page.getByRole('button', { name: 'Sign in with Example ID' }).click();
      await page.locator('input[name=login]').waitFor();
      await page.locator('a', { hasText: /cancel|abort/i }).click();
      await page
        .getByRole('alert')
        .filter({ hasText: 'Example ID refused the sign-in, or it was cancelled.' })
        .waitFor();
      // An answer nobody asked for is nobody's, and signs nobody in.
      await page.goto(`${home}?code=stolen&state=guessed`);
      await page.locator('.shell-login-card').waitFor();
      assert.equal(await page.evaluate(() => window.Shell.session), undefined);
      await page.route(`${issuer.url}/**`, (route) => route.abort());
      await page.getByRole('button', { name: 'Sign in with Example ID' }).click();
      await page.getByRole('alert').filter({ hasText: 'Example ID can’t be reached.' }).waitFor();
      await page.unroute(`${issuer.url}/**`);
      await page.goto(home);
      await signIn(page, 'bert');
      assert.equal(await page.evaluate(() => window.Shell.session?.identity?.id), 'bert');
      errors.splice(0, errors.length);
    },
  ),
];
