/** Whole days: an administrator's, from an empty system to a receiver that was ill; a clerk's, on a phone. Played with a pointer, and by keys alone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { signIn, startApplication, type Application } from './application.ts';
import { keys, pointer, type Hands } from './hands.ts';
import { fresh, makeProduct, row, said, signInAs, story, until, type Scenario } from './scenario.ts';

const ROLES = { id: 'system.roles', title: 'Roles' };
const PEOPLE = { id: 'system.people', title: 'People' };
const WEBHOOKS = { id: 'webhooks', title: 'Webhooks' };
const CATEGORIES = { id: 'sets.Categories', title: 'Categories' };
const PRODUCTS = { id: 'sets.Products', title: 'Products' };

/** Plays a scenario in front of a shop that nobody has set up. */
function fromNothing(scenario: Scenario): Scenario {
  return {
    ...scenario,
    async run({ signedIn: _ofAnother, ...world }) {
      const application = await startApplication(world.database, 'shop', false);
      try {
        await scenario.run({ ...world, application });
      } finally {
        await application.end();
      }
    },
  };
}

function button(within: Page | Locator, name: string): Locator {
  return within.getByRole('button', { name, exact: true });
}

/** The first page of an empty system. */
async function setUp(page: Page, hands: Hands, { url, person }: Application): Promise<void> {
  await page.goto(url);
  await hands.write(page.locator('[name=organisation]'), 'Harbour Supplies');
  await hands.write(page.locator('[name=displayName]'), 'Ada');
  await hands.write(page.locator('[name=email]'), person.email);
  await hands.write(page.locator('[name=password]'), person.password);
  await hands.write(page.locator('[name=repeated]'), person.password);
  await hands.press(page.locator('form .primary'));
  await page.locator('.shell-taskbar').waitFor();
}

async function makeRole(page: Page, hands: Hands, name: string): Promise<void> {
  const roles = await hands.open(ROLES);
  await hands.press(button(roles, 'New role'));
  const dialog = page.locator('dialog[open]');
  await hands.write(dialog.getByLabel('Name'), name);
  for (const right of ['Categories.View', 'Products.View']) await hands.check(dialog.locator(`[value="${right}"]`));
  await hands.press(button(dialog, 'Save'));
  await said(page, `${name} saved`);
}

/** Invites a clerk; gives back the link that is passed on. */
async function invite(page: Page, hands: Hands, name: string, role: string): Promise<string> {
  const people = await hands.open(PEOPLE);
  await hands.press(button(people, 'Invite'));
  const dialog = page.locator('dialog[open]');
  await hands.write(dialog.getByLabel('Name'), name);
  await hands.write(dialog.getByLabel('Mail address'), 'ben@shop.example');
  await hands.check(dialog.getByRole('checkbox', { name: role }));
  await hands.press(button(dialog, 'Invite'));
  const link = await page.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await hands.press(button(page.locator('dialog[open]'), 'Done'));
  return link;
}

async function register(page: Page, hands: Hands, address: string): Promise<Locator> {
  const webhooks = await hands.open(WEBHOOKS);
  await hands.press(button(webhooks, 'Add endpoint').first());
  await hands.write(webhooks.getByLabel('Address'), address);
  await hands.press(button(webhooks.locator('.svc-suggested'), 'products.*'));
  await hands.press(button(webhooks, 'Add'));
  const secret = page.getByRole('dialog', { name: 'Signing secret' });
  assert.match(await secret.getByLabel('Signing secret').inputValue(), /^whsec_/);
  await hands.press(button(secret, 'Done'));
  return webhooks;
}

/** A category, and a product in it. */
async function stockUp(page: Page, hands: Hands): Promise<Locator> {
  const categories = await hands.open(CATEGORIES);
  await hands.press(button(categories, 'New category').first());
  await hands.write(categories.getByLabel('Name'), 'Ropes');
  await page.keyboard.press('Control+Enter');
  await said(page, 'Ropes is there');
  const products = await hands.open(PRODUCTS);
  await hands.press(button(products, 'New product').first());
  await hands.write(products.getByLabel('Name'), 'Hemp rope');
  await hands.write(products.getByLabel('SKU'), 'R-1');
  await hands.write(products.getByLabel('Price', { exact: true }), '10');
  await hands.write(products.getByRole('combobox', { name: 'Category' }), 'Ropes');
  await products.getByRole('option', { name: 'Ropes' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+Enter');
  await said(page, 'Hemp rope is there');
  return products;
}

async function reprice(page: Page, hands: Hands, price: string): Promise<void> {
  const products = await hands.open(PRODUCTS);
  await hands.press(products.getByRole('button', { name: /^Edit Price/ }));
  await hands.write(products.getByLabel('Price', { exact: true }), price);
  await page.keyboard.press('Control+s');
  // A notice may still be the one of the price before.
  await products.locator('[data-value="price"]', { hasText: price }).waitFor();
}

/** The receiver breaks, is switched off, is mended, switched on, and told what it missed. */
async function mend(page: Page, hands: Hands, webhooks: Locator, { receiver }: Application): Promise<void> {
  receiver.status = 500;
  await reprice(page, hands, '12');
  await reprice(page, hands, '13');
  await hands.open(WEBHOOKS);
  await webhooks.getByText(/Off since/).waitFor();
  await reprice(page, hands, '14');
  receiver.status = 200;
  receiver.got.length = 0;
  await hands.open(WEBHOOKS);
  await hands.press(button(webhooks.locator('.svc-pane'), 'Switch on'));
  await said(page, 'Switched on');
  await hands.choose(button(webhooks.locator('.svc-pane-actions'), 'More'), 'Send what was missed');
  const dialog = page.locator('dialog[open]');
  await dialog.getByLabel('Since').fill('2026-01-01T00:00');
  await hands.press(button(dialog, 'Send what was missed'));
  await said(page, 'A job sends them now');
  const tells = (price: number) => receiver.got.some(({ body }) => JSON.parse(body).data?.price === price);
  await until('what was missed arrives', () => tells(12) && tells(13) && tells(14));
}

async function administratorsDay(page: Page, hands: Hands, application: Application): Promise<string> {
  await setUp(page, hands, application);
  const role = fresh('Clerk');
  await makeRole(page, hands, role);
  const link = await invite(page, hands, 'Ben', role);
  const webhooks = await register(page, hands, application.receiver.url);
  await stockUp(page, hands);
  await reprice(page, hands, '11');
  await hands.open(WEBHOOKS);
  await webhooks
    .locator('.svc-related', { hasText: 'products.updated' })
    .getByText('Delivered · 200')
    .first()
    .waitFor();
  await mend(page, hands, webhooks, application);
  return link;
}

/** Two people at one record: the second decides, field by field. */
async function conflict(page: Page, application: Application, id: string): Promise<void> {
  await page.getByRole('button', { name: /^Edit Price/ }).tap();
  await page.getByLabel('Price', { exact: true }).fill('20');
  await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 30 } });
  await page.locator('.svc-pane').getByRole('button', { name: 'Save' }).tap();
  const dialog = page.getByRole('dialog', { name: 'Changed by somebody else' });
  await dialog.getByLabel('20.00').check();
  await dialog.getByRole('button', { name: 'Save' }).tap();
  await said(page, 'Saved together');
  assert.equal((await application.ask<{ price: number }>(`/odata/v1/Products(${id})`)).price, 20);
}

/** The network goes away while somebody writes, and comes back. */
async function away(page: Page, application: Application, id: string): Promise<void> {
  await page.getByRole('button', { name: /^Edit Unit/ }).tap();
  await page.getByLabel('Unit', { exact: true }).fill('coil');
  await page.context().setOffline(true);
  await page.locator('.svc-connection[data-away]').waitFor();
  await page.locator('.svc-pane').getByRole('button', { name: 'Save' }).tap();
  await page.getByText(/could not be reached|can’t be reached/).waitFor();
  assert.equal(await page.getByLabel('Unit', { exact: true }).inputValue(), 'coil');
  await page.context().setOffline(false);
  await page.locator('.svc-connection:not([data-away])').waitFor({ state: 'attached' });
  await page.locator('.svc-pane').getByRole('button', { name: 'Save' }).tap();
  await said(page, 'Saved: Unit');
  assert.equal((await application.ask<{ unit: string }>(`/odata/v1/Products(${id})`)).unit, 'coil');
}

/** A clerk of the shop, who may do a clerk's work and no more. */
async function makeClerk(application: Application): Promise<{ email: string; password: string; link: string }> {
  const sets = ['Products', 'Categories', 'Suppliers', 'Customers', 'Orders', 'OrderLines'];
  const permissions = [...sets.map((set) => `${set}.View`), 'Products.Update', 'Orders.Place'];
  const name = fresh('Kim');
  const known = await application.ask<{ name: string }[]>('/api/v1/identity/permissions');
  const held = permissions.filter((one) => known.some(({ name }) => name === one));
  assert.deepEqual(held, permissions);
  const role = await application.ask<{ id: string }>('/api/v1/identity/roles', {
    method: 'POST',
    body: { name: fresh('Clerk'), permissions },
  });
  const email = `${name.toLowerCase()}@shop.example`;
  const { invitationLink } = await application.ask<{ invitationLink: string }>('/api/v1/identity/users', {
    method: 'POST',
    body: { displayName: name, email, roles: [role.id] },
  });
  return { email, password: fresh('a long password '), link: invitationLink };
}

export const days: Scenario[] = [
  fromNothing(
    story(
      'an administrator’s day, from an empty system to a receiver that was ill',
      { stranger: true, later: true, expects: /401|412|503/ },
      async ({ page, stranger, application }) => {
        const link = await administratorsDay(page, pointer(page), application);
        const { pathname, search } = new URL(link);
        const clerk = await stranger(application.url + pathname + search);
        const password = fresh('a long password ');
        for (const field of await clerk.locator('input[type=password]').all()) await field.fill(password);
        await clerk.locator('form .primary').click();
        await signInAs(clerk, { email: 'ben@shop.example', password });
        await clerk.locator('.shell-tile', { hasText: 'Products' }).waitFor();
        assert.equal(await clerk.locator('.shell-tile', { hasText: 'Webhooks' }).count(), 0);
      },
    ),
  ),

  fromNothing(
    story(
      'an administrator’s day by keyboard alone',
      { stranger: true, later: true, once: true, expects: /401|412|503/ },
      async ({ page, application }) => {
        await administratorsDay(page, keys(page), application);
      },
    ),
  ),

  story(
    'a clerk’s day on a phone: an order, two at one record, the network away and back',
    {
      stranger: true,
      later: true,
      width: 390,
      height: 844,
      touch: true,
      expects: /401|412|ERR_INTERNET|NetworkError|Failed to (load|fetch)/,
    },
    async ({ page, application }) => {
      const { email, password, link } = await makeClerk(application);
      const { pathname, search } = new URL(link);
      await page.goto(application.url + pathname + search);
      for (const field of await page.locator('input[type=password]').all()) await field.fill(password);
      await page.locator('form .primary').tap();
      await page.locator('[name=email], .shell-taskbar').first().waitFor();
      if ((await page.locator('.shell-taskbar').count()) === 0) await signIn(page, { email, password });

      const name = fresh('Rope');
      const { id } = await makeProduct(application, name);
      await application.ask(`/odata/v1/Products(${id})/Shop.ReceiveStock`, { method: 'POST', body: { quantity: 5 } });
      await page.goto(`${application.url}/?app=shop.order`);
      await page.getByRole('combobox', { name: 'Customer' }).fill('brecon');
      await page.getByRole('option', { name: 'Brecon Farm Supplies' }).tap();
      await page.getByRole('combobox', { name: 'Product 1' }).fill(name);
      await page.getByRole('option', { name }).tap();
      await page.getByRole('textbox', { name: 'Quantity 1' }).fill('2');
      await page.getByText('Total 20.00').waitFor();
      const place = page.getByRole('button', { name: 'Place order' });
      // One hand's reach: the primary action lies at the thumb.
      const box = await place.boundingBox();
      assert.ok(box && box.y > 844 / 2 && box.height >= 44, `the button is at ${box?.y}`);
      await place.tap();
      await page.getByText('Total 0.00').waitFor();
      // It is shown in the app of orders, which has to be there before one leaves it.
      await page.locator('svc-set-app .svc-pane h2').waitFor();

      await page.goto(`${application.url}/?app=sets.Products`);
      await page.getByRole('searchbox').fill(name);
      await row(page, name).locator('.svc-card').tap();
      await page.locator('.svc-pane h2', { hasText: name }).waitFor();
      await conflict(page, application, id);
      await away(page, application, id);
    },
  ),
];
