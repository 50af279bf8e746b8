/** Whole days: an administrator's, from an empty system to a receiver that was ill; a clerk's, on a phone. Played with a pointer, and by keys alone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Application, Person } from './application.ts';
import { finger, keys, pointer, type Hands } from './hands.ts';
import { fromNothing } from './own.ts';
import {
  fresh,
  makeProduct,
  row,
  said,
  signInAs,
  story,
  until,
  type Opened,
  type Opening,
  type Scenario,
} from './scenario.ts';

const ROLES = { id: 'system.roles', title: 'Roles' };
const PEOPLE = { id: 'system.people', title: 'People' };
const WEBHOOKS = { id: 'webhooks', title: 'Webhooks' };
const CATEGORIES = { id: 'sets.Categories', title: 'Categories' };
const ORDER = { id: 'shop.order', title: 'New order' };
const PRODUCTS = { id: 'sets.Products', title: 'Products' };

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
  await hands.refer(products.getByRole('combobox', { name: 'Category' }), 'Ropes', 'Ropes');
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
  await hands.writeTime(dialog.getByLabel('Since'), '2026-01-01T08:30');
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

/** Which windows there are, the one in front first. */
async function windowsOf(page: Page): Promise<string[]> {
  await page.locator('.shell-window[data-active] .svc-app').first().waitFor();
  return page.locator('.shell-window').evaluateAll((windows) =>
    windows
      .map(({ dataset }) => `${dataset.active === undefined ? 'behind' : 'before'} ${dataset.app}`)
      .sort()
      .reverse(),
  );
}

/** The desktop is as it was left: when the page is read anew, and on another machine. */
async function comesBack(page: Page, elsewhere: Page, person: Person): Promise<void> {
  const left = await windowsOf(page);
  await page.reload();
  assert.deepEqual(await windowsOf(page), left);
  await signInAs(elsewhere, person);
  await elsewhere
    .locator('.shell-window')
    .nth(left.length - 1)
    .waitFor({ state: 'attached' });
  assert.deepEqual(await windowsOf(elsewhere), left);
}

/** An order of two pieces, at one hand's reach where it's a hand: the primary action lies at the thumb. */
async function placeOrder(page: Page, hands: Hands, product: string): Promise<void> {
  const order = await hands.open(ORDER);
  await hands.refer(order.getByRole('combobox', { name: 'Customer' }), 'brecon', 'Brecon Farm Supplies');
  await hands.refer(order.getByRole('combobox', { name: 'Product 1' }), product, product);
  await hands.write(order.getByRole('textbox', { name: 'Quantity 1' }), '2');
  await order.getByText('Total €20.00').waitFor();
  const place = button(order, 'Place order');
  const [box, size] = [await place.boundingBox(), page.viewportSize()];
  assert.ok(box && size && box.y > size.height / 2, `the button is at ${box?.y}`);
  assert.ok(size.width > 600 || box.height >= 44, `the button is ${box.height} px high`);
  await hands.press(place);
  // It is shown in the app of orders.
  await page.locator('.shell-window[data-app="sets.Orders"][data-active] .svc-pane h2').waitFor();
}

/** Two people at one record: the second decides, field by field. */
async function conflict(
  page: Page,
  hands: Hands,
  products: Locator,
  application: Application,
  id: string,
): Promise<void> {
  await hands.press(products.getByRole('button', { name: /^Edit Price/ }));
  await hands.write(products.getByLabel('Price', { exact: true }), '20');
  await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 30 } });
  await hands.press(button(products.locator('.svc-pane'), 'Save'));
  const dialog = page.getByRole('dialog', { name: 'Changed by somebody else' });
  await hands.check(dialog.getByLabel('20.00'));
  await hands.press(button(dialog, 'Save'));
  await said(page, 'Saved together');
  assert.equal((await application.ask<{ price: number }>(`/odata/v1/Products(${id})`)).price, 20);
}

/** The network goes away while somebody writes, and comes back. */
async function away(page: Page, hands: Hands, products: Locator, application: Application, id: string): Promise<void> {
  await hands.press(products.getByRole('button', { name: /^Edit Unit/ }));
  const unit = products.getByLabel('Unit', { exact: true });
  await hands.write(unit, 'coil');
  await page.context().setOffline(true);
  await page.locator('.svc-connection[data-away]').waitFor();
  const save = button(products.locator('.svc-pane'), 'Save');
  await hands.press(save);
  await products.getByText(/could not be reached|can’t be reached/).waitFor();
  assert.equal(await unit.inputValue(), 'coil');
  await page.context().setOffline(false);
  await page.locator('.svc-connection:not([data-away])').waitFor({ state: 'attached' });
  await hands.press(save);
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

/** Follows the link of an invitation, and comes in. */
async function accept(page: Page, hands: Hands, { url }: Application, link: string, person: Person): Promise<void> {
  const { pathname, search } = new URL(link);
  await page.goto(url + pathname + search);
  const fields = page.locator('input[type=password]');
  await fields.first().waitFor();
  for (const field of await fields.all()) await hands.write(field, person.password);
  await hands.press(page.locator('form .primary'));
  await page.locator('[name=email], .shell-taskbar').first().waitFor();
  if ((await page.locator('.shell-taskbar').count()) > 0) return;
  await hands.write(page.locator('[name=email]'), person.email);
  await hands.write(page.locator('[name=password]'), person.password);
  await hands.press(page.locator('form .primary'));
  await page.locator('.shell-taskbar').waitFor();
}

async function clerksDay({ page, stranger, application }: Opened, hands: Hands, how: Opening): Promise<void> {
  const { link, ...clerk } = await makeClerk(application);
  await accept(page, hands, application, link, clerk);
  const name = fresh('Rope');
  const { id } = await makeProduct(application, name);
  await application.ask(`/odata/v1/Products(${id})/Shop.ReceiveStock`, { method: 'POST', body: { quantity: 5 } });
  await placeOrder(page, hands, name);
  const products = await hands.open(PRODUCTS);
  await hands.write(products.getByRole('searchbox'), name);
  await hands.pick(row(page, name));
  await products.locator('.svc-pane h2', { hasText: name }).waitFor();
  await conflict(page, hands, products, application, id);
  await away(page, hands, products, application, id);
  await comesBack(page, await stranger(application.url, how), clerk);
}

/** Nobody is here yet, and what people leave on their desktop is kept. */
const HERE: Opening = { stranger: true, later: true, ownDesktop: true, expects: /401|412|503/ };
const AWAY: Opening = { ...HERE, expects: /401|412|ERR_INTERNET|NetworkError|Failed to (load|fetch)/ };
const PHONE: Opening = { ...AWAY, width: 390, height: 844, touch: true };

export const days: Scenario[] = [
  fromNothing(
    story(
      'an administrator’s day, from an empty system to a receiver that was ill',
      HERE,
      async ({ page, stranger, application }) => {
        const link = await administratorsDay(page, pointer(page), application);
        await comesBack(page, await stranger(application.url, HERE), application.person);
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
    story('an administrator’s day by keyboard alone', HERE, async ({ page, stranger, application }) => {
      await administratorsDay(page, keys(page), application);
      await comesBack(page, await stranger(application.url, HERE), application.person);
    }),
  ),

  story('a clerk’s day on a phone: an order, two at one record, the network away and back', PHONE, (opened) =>
    clerksDay(opened, finger(opened.page), PHONE),
  ),

  story('a clerk’s day by keyboard alone', AWAY, (opened) => clerksDay(opened, keys(opened.page), AWAY)),
];
