/** The login screen and the lock: who is let in, how it looks while they are not, and what stays of them afterwards. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { serve } from '../../shell/scripts/play.ts';
import type { ShellApi } from '../../shell/src/index.ts';
import { open, type Opening, type World } from './browser.ts';
import { box, frames, middle, openApp, story } from './scenario.ts';

/** Two people with passwords, and a service that hangs; what the providers were asked is on the page as `asked`. */
function people(shell: ShellApi): void {
  const page = window as unknown as {
    asked: string[];
    session?: object;
    lasts?: number;
    endsAt?: number;
    refreshedAt?: number;
    refresh?: 'gone' | 'down';
  };
  page.asked = [];
  const session = (name: string) => ({
    token: `token-${name}-${page.asked.length}`,
    identity: { id: name, displayName: name === 'ada' ? 'Ada Lovelace' : 'Bert Brecht' },
    permissions: name === 'ada' ? ['Vault.Open'] : [],
    ...(page.lasts && { expiresAt: Date.now() + page.lasts }),
  });
  shell.registerAuthProvider({
    id: 'password',
    title: 'Company account',
    hint: 'Your usual password.',
    fields: [
      { name: 'user', label: 'User name' },
      { name: 'password', label: 'Password', type: 'password' },
    ],
    async login({ user = '', password = '' }) {
      page.asked.push(`login ${user}`);
      await new Promise((resolve) => setTimeout(resolve, 60));
      if (password !== 'secret') throw new Error('User name or password is wrong.');
      sessionStorage.setItem('who', user);
      const made = session(user);
      if (made.expiresAt) page.endsAt = made.expiresAt;
      return made;
    },
    restore({ refresh }) {
      page.asked.push(refresh ? 'refresh' : 'restore');
      if (refresh) page.refreshedAt ??= Date.now();
      if (refresh && page.refresh === 'down') throw new Error('the service is down');
      if (refresh && page.refresh === 'gone') return undefined;
      const who = sessionStorage.getItem('who');
      return who ? session(who) : undefined;
    },
    logout() {
      page.asked.push('logout');
      sessionStorage.removeItem('who');
    },
  });
  shell.registerAuthProvider({
    id: 'card',
    title: 'Smart card',
    login: () => Promise.reject(new Error('No card found.')),
  });
}

const asked = (page: Page) => page.evaluate(() => (window as unknown as { asked: string[] }).asked);
/** A desktop with both ways to sign in. */
export const SIGN_IN: Opening = {
  setup: people,
  options: { loginHint: 'Use your badge number.', brand: { title: 'Acme' } },
};

/** Fills in the card and sends it off. */
export async function fill(page: Page, user: string, password = 'secret'): Promise<void> {
  await page.getByLabel('User name').fill(user);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

/** Signs in and waits until the desktop is there. */
export async function signIn(page: Page, user = 'ada'): Promise<void> {
  await fill(page, user);
  await page.locator('.shell-login').waitFor({ state: 'detached' });
}

/** The service ends the session, and a request learns of it. */
export async function end(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.assign(window, { refresh: 'gone' });
    window.fetch = async () => new Response(undefined, { status: 401 });
    return window.Shell.request('/api/x').catch(() => undefined);
  });
}

async function signOut(page: Page): Promise<void> {
  await page.locator('.shell-start-button').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('.shell-login-card').waitFor();
}

/** A service that keeps one session for the browser; what it's given at sign-in ends in 33 s, what a refresh brings in an hour. */
class SessionService {
  refreshes = 0;
  #session: string | undefined;
  #held: (() => void)[] | undefined;

  /** What is answered from now on to those who ask for the session is held back; the result lets it go. */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = undefined;
      for (const send of held) send();
    };
  }

  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const [, what] = /^\/auth\/(\w+)/.exec(request.url ?? '') ?? [];
    if (!what) return false;
    if (what === 'refresh') this.refreshes += 1;
    if (what === 'login' || what === 'refresh') {
      const lasts = what === 'login' ? 33_000 : 3_600_000;
      const identity = { id: 'ada', displayName: 'Ada' };
      this.#session = JSON.stringify({ token: `${this.refreshes}`, identity, expiresAt: Date.now() + lasts });
    }
    if (what === 'logout') this.#session = undefined;
    const session = this.#session;
    const send = () => response.writeHead(session ? 200 : 204, { 'content-type': 'application/json' }).end(session);
    if (what === 'session' && this.#held) this.#held.push(send);
    else send();
    return true;
  }
}

function shared(shell: ShellApi): void {
  const ask = async (what: string) => {
    const response = await fetch(`/auth/${what}`);
    return response.status === 200 ? response.json() : undefined;
  };
  shell.registerAuthProvider({
    id: 'shared',
    title: 'Shared',
    login: () => ask('login'),
    restore: ({ refresh }) => ask(refresh ? 'refresh' : 'session'),
    logout: () => ask('logout'),
  });
}

export const signin = [
  story('login: the desktop is locked; the card lists every provider, hint and brand', SIGN_IN, async ({ page }) => {
    const card = page.locator('.shell-login-card');
    await card.getByText('Use your badge number.').waitFor();
    assert.equal(await card.getByRole('heading', { level: 1 }).textContent(), 'Acme');
    await card.getByText('Your usual password.').waitFor();
    await card.getByRole('button', { name: 'Sign in with Smart card' }).waitFor();
    assert.equal(await page.getByLabel('Password').getAttribute('type'), 'password');
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'user', 'the caret waits');
    // Nothing behind it: neither by keys nor by the API.
    await page.keyboard.press('Control+k');
    await page.keyboard.press('F9');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.shell-start, .shell-pilot').count(), 0);
    assert.equal(await card.isVisible(), true);
    assert.equal(await page.locator('.shell-start-button').isVisible(), false);
    assert.equal(await page.locator('.shell-tile').count(), 0, 'nobody’s profile is loaded');
    for (let index = 0; index < 8; index += 1) {
      await page.keyboard.press('Tab');
      assert.ok(
        await page.evaluate(
          () => !document.activeElement?.closest('.shell-root') || !!document.activeElement.closest('.shell-login'),
        ),
        'Tab stays inside',
      );
    }
  }),
  story(
    'login: a failure shakes the card and says why; success shrinks it into the start button',
    { ...SIGN_IN, reducedMotion: false },
    async ({ page }) => {
      await page.evaluate(() => {
        const seen: string[] = [];
        Object.assign(window, { seen });
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (frames, options) {
          if (this.classList.contains('shell-login-card')) seen.push(JSON.stringify(frames));
          return animate.call(this, frames, options);
        };
      });
      const seen = () => page.evaluate(() => (window as unknown as { seen: string[] }).seen);
      await fill(page, 'ada', 'wrong');
      await page.getByRole('alert').filter({ hasText: 'User name or password is wrong.' }).waitFor();
      assert.match((await seen())[0] ?? '', /translateX/, 'it shakes');
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'password');
      assert.equal(await page.evaluate(() => window.Shell.session), undefined);
      // Once it stands still.
      await page
        .locator('.shell-login-card')
        .evaluate((element) => Promise.all(element.getAnimations().map(({ finished }) => finished)));
      const card = await box(page.locator('.shell-login-card'));
      await signIn(page);
      const flight = JSON.parse((await seen()).at(-1) ?? '[]').at(-1).transform as string;
      const [, x = 0, y = 0] = (/translate\(([-\d.]+)px,([-\d.]+)px\)/.exec(flight) ?? []).map(Number);
      const start = await middle(page.locator('.shell-start-button'));
      assert.ok(Math.abs(card.x + card.width / 2 + x - start.x) < 4, 'into the start button');
      assert.ok(Math.abs(card.y + card.height / 2 + y - start.y) < 60);
      assert.equal(await page.locator('.shell-tile').count(), 10);
      await openApp(page, 'vault');
    },
  ),
  story('login: by the API; wrong providers and values say what to do', SIGN_IN, async ({ page }) => {
    const problems = await page.evaluate(async () => {
      const said: string[] = [];
      for (const attempt of [
        () => window.Shell.login('nope'),
        () => window.Shell.login('password', { user: 'ada', password: 'x' }),
        () => window.Shell.registerAuthProvider({ id: 'card', title: 'Again', login: () => undefined }),
        () => window.Shell.registerAuthProvider({ id: 'x', title: 'X' } as never),
        () => window.Shell.on('nope' as never, () => undefined),
        () => window.Shell.on('login', 5 as never),
      ]) {
        try {
          await attempt();
          said.push('nothing was thrown');
        } catch (error) {
          said.push((error as Error).message);
        }
      }
      return said;
    });
    assert.match(problems[0] ?? '', /no auth provider `nope`; register it first/);
    assert.equal(problems[1], 'User name or password is wrong.');
    assert.match(problems[2] ?? '', /`card` is already registered/);
    assert.match(problems[3] ?? '', /no `login`; add one/);
    assert.match(problems[4] ?? '', /one of login, logout, access-changed, app-opened, access-denied/);
    assert.match(problems[5] ?? '', /a function/);
    const session = await page.evaluate(() => window.Shell.login('password', { user: 'ada', password: 'secret' }));
    assert.equal(session?.identity?.displayName, 'Ada Lovelace');
    await page.locator('.shell-login').waitFor({ state: 'detached' });
  }),
  story(
    'logout: login and logout events, of both kinds; the card is back and nothing of the person is',
    SIGN_IN,
    async ({ page }) => {
      await page.evaluate(() => {
        const events: string[] = [];
        Object.assign(window, { events });
        for (const name of ['login', 'logout'] as const) {
          window.Shell.on(name, (session) => events.push(`${name} ${session?.identity?.id ?? ''}`));
          document.addEventListener(`shell:${name}`, () => events.push(`dom ${name}`));
        }
      });
      await signIn(page);
      await openApp(page, 'notes');
      await openApp(page, 'vault');
      await signOut(page);
      assert.equal(await page.locator('.shell-window, .shell-tile').count(), 0);
      const after = await page.evaluate(() => [
        window.Shell.session,
        window.Shell.access,
        window.Shell.openApp('notes'),
      ]);
      assert.deepEqual(after, [undefined, { roles: [], permissions: [] }, false]);
      const events = await page.evaluate(() => (window as unknown as { events: string[] }).events);
      assert.deepEqual(events, ['login ada', 'dom login', 'logout ', 'dom logout']);
      assert.deepEqual(await asked(page), ['restore', 'login ada', 'logout']);
      await signIn(page, 'ada');
      await page.locator('.shell-window[data-app=notes]').waitFor();
      await page.locator('.shell-window[data-app=vault]').waitFor();
    },
  ),
  story(
    'guest: `requireLogin: false` starts without login; sign-in is in the start menu, or asked for while somebody leaves',
    { ...SIGN_IN, options: { requireLogin: false } },
    async ({ page }) => {
      assert.equal(await page.locator('.shell-login').count(), 0);
      assert.equal(await page.locator('.shell-tile').count(), 10);
      await page.locator('.shell-start-button').click();
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('.shell-login-card').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.shell-login').waitFor({ state: 'detached' });
      await page.evaluate(() => window.Shell.showLogin());
      await page.getByRole('button', { name: 'Continue as guest' }).click();
      await page.locator('.shell-login').waitFor({ state: 'detached' });
      await page.evaluate(() => window.Shell.showLogin());
      await signIn(page);
      await page.locator('.shell-start-button').click();
      assert.equal(await page.locator('.shell-start-who').textContent(), 'Ada Lovelace');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.locator('.shell-tile').first().waitFor();
      assert.equal(await page.locator('.shell-login').count(), 0, 'back to the guest’s desktop');
      await page.evaluate(() => window.Shell.showLogin());
      await signIn(page);
      await page.evaluate(() => {
        void window.Shell.logout();
        window.Shell.showLogin();
      });
      await page.waitForFunction(() => !window.Shell.session);
      await page.getByRole('button', { name: 'Continue as guest' }).click();
    },
  ),
  story('restore: a reload keeps the session without a login screen', SIGN_IN, async ({ page }) => {
    await signIn(page);
    await page.reload();
    await page.locator('.shell-tile').first().waitFor();
    assert.equal(await page.evaluate(() => window.Shell.session?.identity?.id), 'ada');
    assert.equal(await page.locator('.shell-login-card').count(), 0);
  }),
  story(
    'refresh: 30 s before `expiresAt`; another token, the same windows, no further login',
    SIGN_IN,
    async ({ page }) => {
      await page.evaluate(() => Object.assign(window, { lasts: 36_000, logins: 0 }));
      await page.evaluate(() => window.Shell.on('login', () => (window as unknown as { logins: number }).logins++));
      await signIn(page);
      const win = await openApp(page, 'vault');
      const first = await page.evaluate(() => window.Shell.session?.token);
      await page.waitForFunction((token) => window.Shell.session?.token !== token, first);
      const left = await page.evaluate(() => {
        const { endsAt, refreshedAt } = window as unknown as { endsAt: number; refreshedAt: number };
        return endsAt - refreshedAt;
      });
      assert.ok(left <= 30_050 && left > 20_000, `${left} ms before the end`);
      assert.deepEqual((await asked(page)).slice(0, 3), ['restore', 'login ada', 'refresh']);
      assert.equal(await win.count(), 1);
      assert.equal(await page.evaluate(() => (window as unknown as { logins: number }).logins), 1);
      assert.equal(await page.locator('.shell-login').count(), 0);
    },
  ),
  story(
    'refresh: when there is no session any more, the login screen comes and windows wait behind it',
    SIGN_IN,
    async ({ page }) => {
      await signIn(page);
      const win = await openApp(page, 'notes');
      await win.locator('textarea').fill('half a thought');
      await openApp(page, 'vault');
      await end(page);
      await page.getByText('Your session has ended, Ada Lovelace.').waitFor();
      assert.equal(await win.isVisible(), false, 'nobody reads on');
      assert.equal(await page.evaluate(() => window.Shell.session), undefined);
      assert.equal(await page.evaluate(() => window.Shell.openApp('clock')), false);
      await signIn(page);
      assert.equal(await win.locator('textarea').inputValue(), 'half a thought');
      assert.equal(await page.locator('.shell-window').count(), 2);
    },
  ),
  story('refresh: whoever signs in instead finds nothing of the person before', SIGN_IN, async ({ page }) => {
    await signIn(page);
    await openApp(page, 'vault');
    await end(page);
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, 'bert');
    await frames(page);
    assert.equal(await page.locator('.shell-window').count(), 0);
    assert.deepEqual(await page.evaluate(() => window.Shell.access), {
      identity: { id: 'bert', displayName: 'Bert Brecht' },
      roles: [],
      permissions: [],
    });
  }),
  {
    name: 'tabs: one refreshes for all, a sign-in or sign-out in one counts in the others',
    async run(world: World) {
      const service = new SessionService();
      const { server, url } = await serve(0, [], (request, response) => service.answer(request, response));
      try {
        const first = await open(world, { setup: shared, url });
        const { context } = first;
        const second = await open(world, { setup: shared, url, context });
        await first.page.evaluate(() => window.Shell.login('shared'));
        await second.page.waitForFunction(() => window.Shell.session?.identity?.id === 'ada');
        // Both are due at the same moment. This one hasn't the time to hear anything until later.
        await second.page.evaluate(() => {
          const due = (window.Shell.session?.expiresAt as number) - 30_000;
          setTimeout(
            () => {
              while (Date.now() < due + 1_500);
            },
            due - Date.now() - 50,
          );
        });
        // A third begins with the session as it was, and learns what it is only when all is over.
        const go = service.hold();
        const third = await open(world, { setup: shared, url, context });
        await first.page.waitForFunction(() => window.Shell.session?.token === '1');
        go();
        for (const { page } of [second, third]) {
          await page.waitForFunction(() => window.Shell.session?.token === '1');
        }
        assert.equal(service.refreshes, 1, 'once for all');
        await first.page.evaluate(() => window.Shell.logout());
        for (const { page, errors } of [first, second, third]) {
          await page.waitForFunction(() => window.Shell.session === undefined);
          await page.locator('.shell-login-card').waitFor();
          assert.deepEqual(errors, []);
        }
      } finally {
        server.close();
        server.closeAllConnections();
      }
    },
  },
  story(
    '401: one refresh and one retry; a server that keeps refusing isn’t asked again and again',
    SIGN_IN,
    async ({ page, errors }) => {
      await signIn(page);
      const seen: string[] = [];
      let accepts = 'none';
      await page.route('**/api/**', (route) => {
        const token = route.request().headers().authorization ?? '';
        seen.push(token);
        return route.fulfill(token.endsWith(accepts) ? { body: 'fine', contentType: 'text/plain' } : { status: 401 });
      });
      const ask = () =>
        page.evaluate(() => window.Shell.request('/api/x').catch((error: { status: number }) => error.status));
      accepts = '-3';
      assert.equal(await ask(), 'fine');
      assert.deepEqual(seen, ['Bearer token-ada-2', 'Bearer token-ada-3']);
      accepts = 'none';
      for (let index = 0; index < 5; index += 1) assert.equal(await ask(), 401);
      assert.equal(
        (await asked(page)).filter((what) => what === 'refresh').length,
        1,
        'five refusals, no further refresh',
      );
      errors.splice(0, errors.length, ...errors.filter((text) => !text.includes('401')));
    },
  ),
];
