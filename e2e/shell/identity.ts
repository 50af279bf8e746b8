/** The Users and roles app, by mouse and keys, with ten users and with ten thousand. */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { serve } from '../../shell/scripts/play.ts';
import type { ShellApi } from '../../shell/src/index.ts';
import { open, type Opening, type World } from './browser.ts';
import { check, LOOKS } from './accessibility.ts';
import { frames, openApp, story, type Scenario } from './scenario.ts';

/** Two roles, Ada who may manage them, and others. */
function store(shell: ShellApi): void {
  const many = Number(new URLSearchParams(location.search).get('users') ?? 4);
  const identityStore = shell.localIdentityStore({
    users: [
      {
        id: 'ada',
        userName: 'ada',
        displayName: 'Ada Lovelace',
        email: 'ada@example.com',
        roles: ['admin', 'retired'],
      },
      ...Array.from({ length: many }, (_none, index) => ({
        id: `u${index}`,
        userName: `user${index}`,
        displayName: `User ${index}`,
        roles: index % 2 ? ['keeper'] : [],
      })),
    ],
    roles: [
      { id: 'admin', title: 'Administrator', permissions: [shell.MANAGE_IDENTITY, 'Vault.Open', 'Gone.Since'] },
      { id: 'keeper', title: 'Keeper', description: 'Looks after the vault', permissions: ['Vault.Open'] },
    ],
    permissions: [
      { id: shell.MANAGE_IDENTITY, title: 'Manage users and roles', group: 'Administration' },
      { id: 'Vault.Open', title: 'Open the great vault', group: 'Vault' },
      { id: 'Books.Read', title: 'Read books', group: 'Library', description: 'Also the old ones' },
    ],
  });
  shell.configure({ identityStore });
  shell.registerAuthProvider(shell.localAuthProvider(identityStore, { title: 'Demo' }));
}

const HOW: Opening = { setup: store };

/** A server that keeps users, and takes no further ones while it is full. */
function identityServer() {
  const users = new Map<string, object>([
    ['ada', { id: 'ada', userName: 'ada', displayName: 'Ada Lovelace', roles: ['keeper'] }],
  ]);
  const keeper = {
    users,
    full: true,
    changes: [] as string[],
    answer(request: IncomingMessage, response: ServerResponse): boolean {
      const { method = 'GET', url = '' } = request;
      const [, what = '', id = ''] = /^\/api\/identity\/(\w+)\/?(.*)/.exec(url) ?? [];
      if (!what) return false;
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        const json = (status: number, answer: unknown) =>
          response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(answer));
        if (method === 'GET') {
          const roles = [{ id: 'keeper', title: 'Keeper', permissions: ['Vault.Open'] }];
          json(200, { users: [...users.values()], roles, permissions: [] }[what]);
          return;
        }
        keeper.changes.push(`${method} ${url}`);
        if (method === 'PUT' && keeper.full) {
          json(409, { title: 'there are too many users' });
          return;
        }
        if (method === 'PUT') users.set(id, JSON.parse(body));
        else users.delete(id);
        response.writeHead(204).end();
      });
      return true;
    },
  };
  return keeper;
}

function onServer(shell: ShellApi): void {
  shell.configure({ serverBaseUrl: '/api', identityStore: shell.httpIdentityStore(shell.request) });
  void shell.setSession({ identity: { id: 'ada', displayName: 'Ada' }, permissions: [shell.MANAGE_IDENTITY] });
}

async function enter(page: Page) {
  await page.getByLabel('User name').fill('Ada');
  await page.keyboard.press('Enter');
  await page.locator('.shell-login').waitFor({ state: 'detached' });
  const win = await openApp(page, 'shell.identity');
  await win.getByRole('option').first().waitFor();
  return win;
}

export const identity: Scenario[] = [
  story('identity: the local provider knows its users; the app is for those who may', HOW, async ({ page }) => {
    await page.getByLabel('User name').fill('nobody');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'There is no user “nobody”.' }).waitFor();
    await page.getByLabel('User name').fill('user1');
    await page.keyboard.press('Enter');
    await page.locator('.shell-login').waitFor({ state: 'detached' });
    assert.deepEqual(
      await page.evaluate(() => [window.Shell.can('Vault.Open'), window.Shell.openApp('shell.identity')]),
      [true, false],
    );
    await page.evaluate(() => window.Shell.logout());
    await enter(page);
    await page.reload();
    await page.locator('.shell-window[data-app="shell.identity"]').waitFor();
  }),
  story('identity: a user gets a role by mouse; search finds; rights follow at once', HOW, async ({ page }) => {
    const win = await enter(page);
    await win.getByRole('tab', { name: 'Users (5)' }).waitFor();
    await win.getByRole('searchbox').fill('lovel');
    assert.equal(await win.getByRole('option').count(), 1);
    await win.getByRole('option', { name: /Ada/ }).click();
    assert.equal(await win.getByLabel('retired').isChecked(), true, 'a role that is gone is still told');
    await win.getByLabel('Administrator').check();
    await page.evaluate(() => window.Shell.registerPermission({ id: 'Press.Print', title: 'Print', group: 'Press' }));
    await win.getByRole('tab', { name: /Roles/ }).click();
    await win.getByRole('searchbox').fill('');
    await win.getByRole('option', { name: /Administrator/ }).click();
    const groups = await win.locator('legend').allTextContents();
    assert.deepEqual(groups, ['Administration', 'Library', 'Other', 'Press', 'Vault']);
    assert.equal(await win.getByText('Open the great vault').count(), 1, 'the server’s title, once');
    await win.getByLabel('Open the great vault').uncheck();
    await win.getByRole('button', { name: 'Save' }).click();
    await page.waitForFunction(() => !window.Shell.can('Vault.Open'));
    await win.getByLabel('Manage users and roles').uncheck();
    await win.getByRole('button', { name: 'Save' }).click();
    await win.waitFor({ state: 'detached' });
  }),
  story(
    'identity: by keys alone; changes aren’t lost without a question, nothing goes without one',
    HOW,
    async ({ page }) => {
      const win = await enter(page);
      await win.getByRole('searchbox').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      assert.equal(await win.getByLabel('Name', { exact: true }).inputValue(), 'User 0');
      await win.getByLabel('Name', { exact: true }).fill('Renamed');
      await win.getByRole('listbox').focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Discard changes?' }).waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await win.getByLabel('Name', { exact: true }).inputValue(), 'Renamed');
      await page.keyboard.press('Alt+Shift+W');
      await page.getByRole('dialog', { name: 'Discard changes?' }).waitFor();
      await page.keyboard.press('Escape');
      await win.getByRole('button', { name: 'Save' }).press('Enter');
      await win.getByRole('option', { name: /Renamed/ }).waitFor();
      await frames(page);
      const saver = win.getByRole('button', { name: 'Save' });
      assert.equal(
        await saver.evaluate((button) => button === document.activeElement),
        true,
        'the focus stays at Save',
      );
      await win.getByRole('button', { name: 'New user' }).press('Enter');
      await win.getByRole('button', { name: 'Save' }).press('Enter');
      assert.equal(await win.getByLabel('Name', { exact: true }).inputValue(), '', 'an empty name isn’t saved');
      await win.getByLabel('Name', { exact: true }).fill('Grace Hopper');
      await win.getByLabel('User name').fill('ADA');
      await page.keyboard.press('Enter');
      await win.getByRole('alert').filter({ hasText: '“ada” is already in use.' }).waitFor();
      await win.getByLabel('User name').fill('grace');
      await page.keyboard.press('Enter');
      await win.getByRole('option', { name: /Grace/ }).waitFor();
      await win.getByRole('tab', { name: /^Users/ }).focus();
      await page.keyboard.press('ArrowRight');
      await win.getByRole('listbox').focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await win.getByRole('button', { name: 'Remove' }).press('Enter');
      await page.getByRole('dialog', { name: 'Remove “Keeper”?' }).getByText('2 users have it').waitFor();
      await page.keyboard.press('Escape');
      await win.getByRole('option', { name: /Keeper/ }).waitFor();
      await win.getByRole('button', { name: 'Remove' }).press('Enter');
      await page.locator('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
      await win.getByRole('tab', { name: 'Roles (1)' }).waitFor();
    },
  ),
  story(
    'identity: in a narrow window the focus goes to the form and back',
    { ...HOW, width: 390 },
    async ({ page }) => {
      const win = await enter(page);
      const list = win.getByRole('listbox');
      await list.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await win.getByLabel('Name', { exact: true }).waitFor();
      await frames(page);
      const at = () => page.evaluate(() => document.activeElement?.className);
      assert.match((await at()) ?? '', /shell-identity-back/);
      await page.keyboard.press('Enter');
      await list.waitFor();
      await frames(page);
      assert.match((await at()) ?? '', /shell-rows/);
    },
  ),
  story('identity: whoever leaves with changes is asked nothing over the login screen', HOW, async ({ page }) => {
    const win = await enter(page);
    await win.getByRole('option', { name: /User 0/ }).click();
    await win.getByLabel('Name', { exact: true }).fill('Renamed');
    await page.evaluate(() => window.Shell.logout());
    await page.locator('.shell-login').waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.locator('.shell-dialog').count(), 0);
    await page.locator('.shell-login input').first().fill('ada');
    await page.keyboard.press('Enter');
    await page.locator('.shell-login').waitFor({ state: 'detached' });
  }),
  {
    name: 'identity: on a server: what is typed arrives as a record, a refusal is said in the form, and nothing is lost by it',
    async run(world: World) {
      const keeper = identityServer();
      const { server, url } = await serve(0, [], keeper.answer);
      try {
        const { page, errors } = await open(world, { url, setup: onServer });
        const win = await openApp(page, 'shell.identity');
        await win.getByRole('button', { name: 'New user' }).click();
        await win.getByLabel('Name', { exact: true }).fill('Bert Brecht');
        await win.getByLabel('User name').fill('bert');
        await win.getByLabel('Keeper').check();
        await win.getByRole('button', { name: 'Save' }).click();
        await win.getByRole('alert').filter({ hasText: 'there are too many users' }).waitFor();
        assert.equal(await win.getByLabel('User name').inputValue(), 'bert', 'what was typed is still there');
        keeper.full = false;
        await win.getByRole('button', { name: 'Save' }).click();
        await win.getByRole('option', { name: /Bert/ }).waitFor();
        const [, bert] = [...keeper.users.values()];
        const { id, ...said } = bert as { id: string };
        assert.deepEqual(said, { userName: 'bert', displayName: 'Bert Brecht', roles: ['keeper'] });
        await win.getByRole('button', { name: 'Remove' }).click();
        await page.locator('dialog').getByRole('button', { name: 'Remove' }).click();
        await win.getByRole('option', { name: /Bert/ }).waitFor({ state: 'detached' });
        assert.deepEqual(
          keeper.changes,
          ['PUT', 'PUT', 'DELETE'].map((method) => `${method} /api/identity/users/${id}`),
        );
        const unexpected = errors.filter((text) => !/409|too many/.test(text));
        assert.deepEqual(unexpected, []);
      } finally {
        server.close();
        server.closeAllConnections();
      }
    },
  },
  {
    name: 'identity: ten thousand users: few rows in the document, quick to open, to search and to walk',
    async run(world: World) {
      const { page, errors } = await open(world, { ...HOW, path: '/?users=10000' });
      const win = await enter(page);
      await win.getByRole('tab', { name: 'Users (10,001)' }).waitFor();
      assert.ok((await win.getByRole('option').count()) < 40);
      await win.getByRole('listbox').focus();
      await page.keyboard.press('End');
      await win.getByRole('option', { name: /User 9999/ }).waitFor();
      assert.equal(await win.getByRole('option', { name: /User 9999/ }).getAttribute('aria-posinset'), '10001');
      const cost = await page.evaluate(async () => {
        const search = document.querySelector<HTMLInputElement>('.shell-identity input[type=search]');
        const began = performance.now();
        for (const text of ['user 7', 'user 77', 'user 777', 'zzz', '']) {
          if (search) search.value = text;
          search?.dispatchEvent(new InputEvent('input', { bubbles: true }));
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
        return performance.now() - began;
      });
      assert.ok(cost < 1_500, `five searches took ${cost} ms`);
      await frames(page);
      assert.deepEqual(errors, []);
    },
  },
  ...LOOKS.map(([name, how]) =>
    story(`axe: login, users and roles (${name})`, { ...how, ...HOW }, async ({ page }) => {
      await page.getByLabel('User name').fill('nobody');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'nobody' }).waitFor();
      await check(page, 'login');
      const win = await enter(page);
      await check(page, 'list');
      await win.getByRole('option', { name: /Ada/ }).click();
      await check(page, 'user');
    }),
  ),
];
