/** Pages of the system: people and what they may do, health, settings, first steps. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { inShopWith } from './own.ts';
import { addressOf, fresh, makeProduct, row, said, signInAs, story, until } from './scenario.ts';

/** Another organisation of somebody. */
function anotherOrganisation(id: string, email: string): string[] {
  return [
    `INSERT INTO identity_organisations SELECT ${id}, 'Other Ltd', 1, created_at, updated_at FROM identity_organisations`,
    `INSERT INTO identity_memberships SELECT o.id, o.id, u.id, u.created_at FROM identity_organisations o, identity_users u WHERE o.name = 'Other Ltd' AND u.email = '${email}'`,
  ];
}

export const system = [
  story(
    'a clerk is given a role, invited, and comes in',
    { app: 'system.roles', expects: /422|409/, once: true },
    async ({ page, another, stranger, application }) => {
      const role = fresh('Clerk');
      await page.getByRole('button', { name: 'New role' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.locator('[role=alert]:not(:empty)').waitFor();
      await dialog.getByLabel('Name').fill(role);
      for (const right of ['Products.View', 'Categories.View', 'Suppliers.View']) {
        await dialog.locator(`[value="${right}"]`).check();
      }
      await dialog.getByRole('button', { name: 'Save' }).click();
      await said(page, `${role} saved`);

      const people = await another({ app: 'system.people' });
      const name = fresh('Ben');
      await people.getByRole('button', { name: 'Invite' }).click();
      const asked = people.locator('dialog[open]');
      await asked.getByLabel('Name').fill(name);
      await asked.getByLabel('Mail address').fill(`${name.toLowerCase()}@shop.example`);
      await asked.getByRole('checkbox', { name: role }).check();
      await asked.getByRole('button', { name: 'Invite' }).click();
      const link = await people.getByRole('textbox', { name: 'Invitation link' }).inputValue();
      await people.getByRole('button', { name: 'Done' }).click();
      await row(people, name).getByText('Invited').waitFor();

      // The shop listens at any free port, which its links don't know.
      const { pathname, search } = new URL(link);
      const clerk = await stranger(application.url + pathname + search);
      const password = fresh('a long password ');
      for (const field of await clerk.locator('input[type=password]').all()) await field.fill(password);
      await clerk.locator('form .primary').click();
      await signInAs(clerk, { email: `${name.toLowerCase()}@shop.example`, password });
      await clerk.locator('.shell-tile', { hasText: 'Products' }).waitFor();
      assert.equal(await clerk.locator('.shell-tile', { hasText: 'People' }).count(), 0);
      assert.equal(await clerk.locator('.shell-tile', { hasText: 'Customers' }).count(), 0);

      await row(people, name).getByText('Active').waitFor();
      await row(people, name).click();
      await people.getByRole('button', { name: 'Disable' }).click();
      await row(people, name).getByText('Disabled').waitFor();
      await people.getByRole('button', { name: 'Take out' }).click();
      await people.locator('dialog[open]').getByRole('button', { name: 'Take out' }).click();
      await said(people, `${name} was taken out`);
    },
  ),

  story(
    'somebody is signed out by whoever manages people',
    { app: 'system.people', expects: /401/, once: true },
    async ({ page, stranger, application }) => {
      const name = fresh('Ola');
      const email = `${name.toLowerCase()}@shop.example`;
      const { invitationLink } = await application.ask<{ invitationLink: string }>('/api/v1/identity/users', {
        method: 'POST',
        body: { displayName: name, email, roles: [] },
      });
      const { pathname, search } = new URL(invitationLink);
      const first = await stranger(application.url + pathname + search);
      const password = fresh('a long password ');
      for (const field of await first.locator('input[type=password]').all()) await field.fill(password);
      await first.locator('form .primary').click();
      await signInAs(first, { email, password });
      await first.locator('.shell-taskbar').waitFor();
      const others = [await stranger(application.url), await stranger(application.url)];
      for (const other of others) await signInAs(other, { email, password });

      await row(page, name).click();
      const pane = page.locator('.svc-pane');
      const sessions = pane.locator('system-person-sessions li');
      await until('three browsers are there', async () => (await sessions.count()) === 3);
      await sessions
        .first()
        .getByText(/Last used .* signed in/)
        .waitFor();
      await sessions
        .first()
        .getByRole('button', { name: /^Sign out \S+ on \S+/ })
        .click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Sign out' }).click();
      await said(page, new RegExp(`${name} is signed out of`));
      await until('two are left', async () => (await sessions.count()) === 2);
      await pane.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Sign out' }).click();
      await said(page, `${name} is signed out everywhere`);
      await pane.getByText('Nowhere at the moment').waitFor();
      for (const left of [first, ...others]) {
        await left.goto(application.url);
        await left.locator('[name=email]').waitFor();
      }

      // The own browser isn't signed out here.
      await row(page, 'Administrator').first().click();
      await sessions.getByText('This browser').waitFor();
      assert.equal(await sessions.filter({ hasText: 'This browser' }).getByRole('button').count(), 0);
    },
  ),

  story(
    'a program has an account with keys, and sees what its claims let it see',
    { app: 'system.people', once: true },
    async ({ page, application }) => {
      const role = { name: fresh('Reader'), permissions: ['Products.View'] };
      await application.ask('/api/v1/identity/roles', { method: 'POST', body: role });
      const [north, south] = await Promise.all([
        makeProduct(application, fresh('N')),
        makeProduct(application, fresh('S')),
      ]);
      for (const [{ id }, region] of [[north, 'north'] as const, [south, 'south'] as const]) {
        await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { region } });
      }
      const name = fresh('Till');
      await page.locator('.svc-head').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Account for a program' }).click();
      const asked = page.locator('dialog[open]');
      await asked.getByLabel('Name').fill(name);
      assert.equal(await asked.getByLabel('Mail address').count(), 0);
      await asked.getByRole('checkbox', { name: role.name }).check();
      await asked.getByLabel(/^What decides/).fill('north');
      await asked.getByRole('button', { name: 'Make' }).click();
      await asked.getByText('“north” says no name').waitFor();
      await asked.getByLabel(/^What decides/).fill('regions = north');
      await asked.getByRole('button', { name: 'Make' }).click();
      await said(page, `${name} is made`);
      const pane = page.locator('.svc-pane');
      await pane.getByText('regions: north').waitFor();
      await row(page, name).getByText('Program').waitFor();
      assert.equal(await pane.getByRole('button', { name: 'New invitation' }).count(), 0);

      await pane.getByRole('button', { name: 'New key' }).click();
      await asked.getByLabel('Name').fill('Counter 1');
      await asked.getByRole('button', { name: 'Make key' }).click();
      const key = await page.getByRole('textbox', { name: 'The new API key' }).inputValue();
      await page.getByRole('button', { name: 'Done' }).click();
      const skus = `('${north.sku}','${south.sku}')`;
      const seen = () =>
        fetch(`${application.url}/odata/v1/Products?$select=sku&$filter=sku in ${skus}`, {
          headers: { Authorization: `Bearer ${key}` },
        });
      const { value } = (await (await seen()).json()) as { value: { sku: string }[] };
      assert.deepEqual(
        value.map(({ sku }) => sku),
        [north.sku],
      );
      await pane.getByRole('button', { name: 'Revoke Counter 1' }).click();
      await asked.getByRole('button', { name: 'Revoke' }).click();
      await said(page, 'The key is revoked');
      assert.equal((await seen()).status, 401);
      await pane.getByText('No key yet').waitFor();
    },
  ),

  story(
    'rights that change while one works come and go with the next refusal',
    { once: true },
    async ({ stranger, application }) => {
      const name = fresh('Nia');
      const email = `${name.toLowerCase()}@shop.example`;
      const held = ['Products.View', 'Products.Update', 'Categories.View', 'Suppliers.View'];
      const role = { name: fresh('Clerk'), permissions: held };
      const { id } = await application.ask<{ id: string }>('/api/v1/identity/roles', { method: 'POST', body: role });
      const { invitationLink } = await application.ask<{ invitationLink: string }>('/api/v1/identity/users', {
        method: 'POST',
        body: { displayName: name, email, roles: [id] },
      });
      const product = await makeProduct(application, fresh('Fender'));
      const { pathname, search } = new URL(invitationLink);
      const clerk = await stranger(application.url + pathname + search);
      const password = fresh('a long password ');
      for (const field of await clerk.locator('input[type=password]').all()) await field.fill(password);
      await clerk.locator('form .primary').click();
      await signInAs(clerk, { email, password });
      const opens = (app: string, intent?: unknown) =>
        clerk.evaluate(
          ([app, intent]) =>
            (globalThis as unknown as { Shell: { openApp(app: unknown, intent: unknown): boolean } }).Shell.openApp(
              app,
              intent,
            ),
          [app, intent] as const,
        );
      assert.equal(await opens('sets.Customers'), false);
      assert.equal(await opens('sets.Products', { r: product.id }), true);
      await clerk.getByRole('button', { name: /^Edit Price/ }).click();
      await clerk.getByLabel('Price', { exact: true }).fill('20');

      const now = [...held.filter((one) => one !== 'Products.Update'), 'Customers.View'];
      await application.ask(`/api/v1/identity/roles/${id}`, {
        method: 'PUT',
        body: { ...role, permissions: now },
      });
      await clerk.locator('.svc-pane').getByRole('button', { name: 'Save' }).click();
      await clerk.getByRole('button', { name: /^Edit Price/ }).waitFor({ state: 'detached' });
      await until('the customers are there', () => opens('sets.Customers'));
      await clerk.locator('.shell-window[data-app="sets.Customers"] .svc-row[data-index="0"]').waitFor();
    },
  ),

  inShopWith(
    {},
    story(
      'who belongs to another organisation finds the way to it in the account',
      // The tab of before asks for what is of the organisation before, and is refused.
      { app: 'system.account', once: true, expects: /status of 409/ },
      async ({ page, application }) => {
        const way = page.getByRole('link', { name: 'Another organisation' });
        await page.locator('.svc-way').first().waitFor();
        assert.equal(await way.count(), 0);
        await application.execute({
          sqlite: anotherOrganisation('randomblob(16)', application.person.email),
          postgres: anotherOrganisation('gen_random_uuid()', application.person.email),
        });
        await page.reload();
        const [choice] = await Promise.all([page.waitForEvent('popup'), way.click()]);
        await choice.getByRole('button', { name: 'Other Ltd' }).click();
        await choice.locator('.shell-taskbar').waitFor();
        await choice.goto(addressOf(application.url, { app: 'system.account' }));
        await choice.getByText('Other Ltd').waitFor();
        // What the other tab shows is of the organisation before, and nothing that is written there may come to be in this one.
        await page.getByLabel('Density').selectOption('compact');
        const asked = page.getByRole('dialog', { name: 'You work in another organisation now' });
        await asked.getByRole('button', { name: 'Load again' }).click();
        await page.getByText('Other Ltd').waitFor();
      },
    ),
  ),

  story(
    'rows stand closer for whoever chooses so, at once and wherever they sign in',
    { app: 'system.account' },
    async ({ page, application, another, stranger }) => {
      const height = async (of: Page) => (await row(of, /\S/).first().boundingBox())?.height;
      const list = await another({ app: 'sets.Products' });
      await row(list, 'Claw hammer').waitFor();
      assert.equal(await height(list), 40);
      const choice = page.getByLabel('Density');
      await choice.selectOption('compact');
      await until('rows are closer in the other tab', async () => (await height(list)) === 32);
      // The rows are where the closer ones belong, down to the last.
      await list.getByRole('grid').focus();
      await list.keyboard.press('Control+End');
      const count = Number(await list.getByRole('grid').getAttribute('aria-rowcount')) - 1;
      const last = list.locator(`.svc-row[data-index="${count - 1}"]`);
      await last.waitFor();
      const [rows, box] = [await list.locator('.svc-rows').boundingBox(), await last.boundingBox()];
      assert.ok(rows && box && Math.abs(box.y + box.height - rows.y - rows.height) < 1);

      const elsewhere = await stranger(addressOf(application.url, { app: 'sets.Products' }));
      await signInAs(elsewhere, application.person);
      await row(elsewhere, /\S/).first().waitFor();
      await until('they are closer there, too', async () => (await height(elsewhere)) === 32);
      await choice.selectOption('spacious');
      await until('rows have more room than before', async () => (await height(list)) === 48);
      await choice.selectOption('comfortable');
      await until('they are as they were', async () => (await height(list)) === 40);
    },
  ),

  story('health says how things are', { app: 'system.health' }, async ({ page }) => {
    await page.getByText('All is well').waitFor();
    await page.locator('tr', { hasText: 'webhooks' }).getByText('Works').waitFor();
    await page.locator('.svc-figures div', { hasText: 'Dead letters' }).waitFor();
  }),

  story('first steps lead to a key and an endpoint', { app: 'system.first' }, async ({ page }) => {
    await page.getByText(/curl -H 'Authorization: Bearer svck_…'/).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Reference' }).getAttribute('href'), '/docs');
    // Where the settings close the reference, nothing leads there.
    await page.route('**/api/v1/web/start', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), hasReference: false } });
    });
    await page.reload();
    await page.getByText(/curl -H 'Authorization: Bearer svck_…'/).waitFor();
    assert.equal(await page.getByRole('link', { name: /Reference|OpenAPI/ }).count(), 0);
  }),

  story('a setting is changed, and put back', { app: 'system.settings' }, async ({ page }) => {
    const field = page.getByLabel('How long lists are read');
    await field.selectOption('Pager');
    await said(page, 'How long lists are read saved');
    await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction(() => document.querySelector('select')?.value === 'EndlessScroll');
  }),

  story(
    'the program says what it goes by, and what it is made of',
    { app: 'system.program' },
    async ({ page, application }) => {
      await page.getByLabel('Only what somebody has written').check();
      await page.getByRole('searchbox').fill('webhooks maxattempts');
      const setting = page.locator('.svc-config');
      await setting.getByText('MaxAttempts', { exact: true }).waitFor();
      assert.equal(await setting.count(), 1);
      await setting.locator('.svc-config-value', { hasText: /^2$/ }).waitFor();
      await setting.locator('.svc-badge', { hasText: /environment/i }).waitFor();
      // What is secret is shown to nobody.
      await page.getByRole('searchbox').fill('setup');
      await page.locator('.svc-config', { hasText: 'AdminPassword' }).waitFor();
      assert.doesNotMatch(await page.locator('.svc-page').innerText(), new RegExp(application.person.password));
      await page.locator('.svc-config', { hasText: 'ApiKey' }).getByText('***', { exact: true }).waitFor();

      await page.getByRole('tab', { name: 'Modules' }).click();
      await page.getByRole('searchbox').fill('stock.low');
      await page.locator('.svc-types details[open]', { hasText: 'shop' }).getByText('stock.low').waitFor();
      // What is told in words elsewhere is told by them here, too.
      await page.getByRole('searchbox').fill('see cost prices');
      await page.locator('.svc-adds dd', { hasText: /^See cost prices$/ }).waitFor();
      await page.reload();
      await page.getByRole('tab', { name: 'Modules', selected: true }).waitFor();
    },
  ),

  story('what runs by the clock says when it comes next', { app: 'system.schedules' }, async ({ page }) => {
    const schedule = page.getByRole('row', { name: /webhooks\.retention/ });
    await schedule.locator('time').first().waitFor();
    assert.ok((await page.locator('.svc-schedules tbody tr').count()) > 3);
  }),

  story(
    'the organisation is renamed, and a program registered and removed',
    { app: 'system.organisation', expects: /422/ },
    async ({ page, application }) => {
      const name = page.getByLabel('Name', { exact: true });
      const before = await name.inputValue();
      await name.press('End');
      await page.keyboard.type(' Ltd');
      await page.keyboard.press('Tab');
      await said(page, `The organisation is called ${before} Ltd`);
      await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
      await page.waitForFunction(
        (was) => document.querySelector<HTMLInputElement>('.svc-setting input')?.value === was,
        before,
      );

      const program = fresh('Portal');
      await page.getByRole('button', { name: 'Register a program' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByLabel('Program').fill(program);
      await dialog.getByLabel('Addresses to come back to').fill('not an address');
      await dialog.getByRole('button', { name: 'Register' }).click();
      await dialog.locator('[role=alert]:not(:empty)').waitFor();
      await dialog.getByLabel('Addresses to come back to').fill('https://portal.example/in');
      await dialog.getByRole('button', { name: 'Register' }).click();
      assert.ok((await page.getByRole('textbox', { name: 'Client secret' }).inputValue()).length > 20);
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('row', { name: program }).getByText('https://portal.example/in').waitFor();
      await page.getByRole('button', { name: `Remove ${program}` }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Remove' }).click();
      await said(page, `${program} is removed`);
      const { items } = await application.ask<{ items: { name: string }[] }>('/api/v1/identity/clients');
      assert.ok(!items.some((one) => one.name === program));
    },
  ),
];
