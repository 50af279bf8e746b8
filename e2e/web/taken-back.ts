/** What somebody did is taken back: the whole story, with a pointer, by keys alone, and on a phone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Application } from './application.ts';
import { keys, pointer, type Hands } from './hands.ts';
import { addressOf, fresh, makeProduct, row, said, story, until, type Opening } from './scenario.ts';

/** What one command changes. */
const MANY = 40;

/** Somebody who calls the API with a key of its own. */
type Ask = <T = Record<string, unknown>>(path: string, method?: string, body?: unknown) => Promise<T>;

/** A person with these permissions, past the client. */
async function person(application: Application, name: string, permissions: readonly string[]): Promise<Ask> {
  const made = (path: string, body: unknown) =>
    application.ask<{ id: string; key: string }>(`/api/v1/identity/${path}`, { method: 'POST', body });
  const role = await made('roles', { name: fresh(name), permissions });
  const user = await made('users', { displayName: name, isMachine: true, roles: [role.id] });
  const { key } = await made('api-keys', { name, userId: user.id, permissions });
  return async <T>(path: string, method = 'GET', body?: unknown) => {
    const answer = await fetch(application.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as T;
  };
}

/** An order that three people have changed. */
async function order(application: Application): Promise<{ id: string; number: string }> {
  const sets = ['Orders', 'OrderLines', 'Customers', 'Products'].map((set) => `${set}.View`);
  const anna = await person(application, 'Anna', [...sets, 'Orders.Place', 'Orders.Update']);
  const ben = await person(application, 'Ben', [...sets, 'Orders.Update']);
  const cleo = await person(application, 'Cleo', [...sets, 'Orders.Cancel']);
  const { id: productId } = await makeProduct(application, fresh('Ordered'));
  const received = { method: 'POST', body: { quantity: 5 } };
  await application.ask(`/odata/v1/Products(${productId})/Shop.ReceiveStock`, received);
  const { value } = await anna<{ value: { id: string }[] }>('/odata/v1/Customers?$top=1');
  const lines = [{ productId, quantity: 1 }];
  const placed = { customerId: value[0]?.id, reference: 'PO 1', lines };
  const { id, number } = await anna<{ id: string; number: string }>('/api/v1/shop/orders', 'POST', placed);
  await anna(`/odata/v1/Orders(${id})`, 'PATCH', { reference: 'PO 2' });
  await ben(`/odata/v1/Orders(${id})`, 'PATCH', { reference: 'PO 3' });
  await cleo(`/odata/v1/Orders(${id})/Shop.Cancel`, 'POST', {});
  return { id, number };
}

async function takeBack(page: Page, hands: Hands, ways: Locator, way: string): Promise<void> {
  await hands.choose(ways.getByRole('button', { name: 'Ways back' }), way);
  const dialog = page.locator('dialog[open]');
  await hands.press(dialog.getByRole('button', { name: 'Restore' }));
  await said(page, 'Restored');
}

/** Of three changes the second is undone; the third stays. */
async function undoSecond(page: Page, hands: Hands, application: Application): Promise<void> {
  const { id, number } = await order(application);
  await page.goto(addressOf(application.url, { app: 'sets.Orders' }));
  // The newest order comes first.
  await hands.pick(row(page, number));
  await hands.press(page.getByRole('button', { name: 'History' }));
  const entries = page.locator('.svc-entry');
  await entries.getByText('Anna changed Reference from PO 1 to PO 2').waitFor();
  await entries.getByText(/^Cleo changed Status/).waitFor();
  const second = entries.filter({ hasText: 'Ben changed Reference from PO 2 to PO 3' });
  await takeBack(page, hands, second, 'Undo this change');
  const now = await application.ask<{ reference: string; status: string }>(`/odata/v1/Orders(${id})`);
  assert.deepEqual([now.reference, now.status], ['PO 2', 'cancelled']);
}

/** A deletion is undone from the audit log. */
async function undoDeletion(page: Page, hands: Hands, application: Application): Promise<void> {
  const name = fresh('Deleted');
  const ben = await person(application, 'Ben', ['Products.View', 'Products.Delete', 'Products.SeeAllRegions']);
  const { id } = await makeProduct(application, name);
  await ben(`/odata/v1/Products(${id})`, 'DELETE');
  await page.goto(addressOf(application.url, { app: 'system.audit' }));
  await hands.pick(row(page, name).filter({ hasText: 'Deleted' }).first());
  const pane = page.locator('.svc-pane');
  await pane.getByText('Ben deleted it').waitFor();
  await takeBack(page, hands, pane, 'Bring it back');
  const again = await application.ask<{ name: string }>(`/odata/v1/Products(${id})`);
  assert.equal(again.name, name);
}

/** All that one command changed goes back together. */
async function undoCommand(page: Page, hands: Hands, application: Application): Promise<void> {
  const [before, after] = [fresh('Before'), fresh('After')];
  const products = [];
  for (let number = 0; number < MANY; number += 1) products.push(await makeProduct(application, `${before} ${number}`));
  const requests = products.map(({ id }, number) => ({
    id: String(number),
    atomicityGroup: 'together',
    method: 'PATCH',
    url: `Products(${id})`,
    headers: { 'content-type': 'application/json' },
    body: { name: `${after} ${number}` },
  }));
  await application.ask('/odata/v1/$batch', { method: 'POST', body: { requests } });
  const named = async (name: string) => {
    const filter = encodeURIComponent(`startswith(name,'${name} ')`);
    const path = `/odata/v1/Products?$filter=${filter}&$count=true&$top=0`;
    return (await application.ask<{ '@odata.count': number }>(path))['@odata.count'];
  };
  assert.equal(await named(after), MANY);
  await page.goto(addressOf(application.url, { app: 'system.audit' }));
  await hands.pick(row(page, after).first());
  await hands.choose(page.locator('.svc-pane').getByRole('button', { name: 'Ways back' }), 'Take back all of it');
  const dialog = page.locator('dialog[open]');
  await dialog.getByText(`Product ${after} 39 changes back`).waitFor();
  assert.equal(await dialog.locator('.svc-undone li').count(), MANY);
  await hands.press(dialog.getByRole('button', { name: 'Take back all of it' }));
  await said(page, 'Taken back');
  await until('all of them are called as before', async () => (await named(before)) === MANY);
}

function played(by: string, how: Opening, handsOn: (page: Page) => Hands) {
  return story(
    `three people’s changes, a deletion and a command that changed forty records are taken back ${by}`,
    { later: true, ...how },
    async ({ page, application }) => {
      const hands = handsOn(page);
      await undoSecond(page, hands, application);
      await undoDeletion(page, hands, application);
      await undoCommand(page, hands, application);
    },
  );
}

export const takenBack = [
  played('with a pointer', {}, pointer),
  played('by keyboard alone', { once: true }, keys),
  played('on a phone', { width: 390, height: 844, touch: true }, pointer),

  story(
    'sign-ins and refusals stand in the audit log, and what it is narrowed to is counted',
    { later: true, expects: /401/, once: true },
    async ({ page, stranger, visit, application }) => {
      const door = await stranger(application.url);
      const { email, password } = application.person;
      // The page keeps the address when it refuses.
      await door.locator('[name=email]').fill(email);
      for (const typed of ['not the password', password]) {
        await door.locator('[name=password]').fill(typed);
        await door.locator('form .primary').click();
        if (typed !== password) await door.getByRole('alert').filter({ hasText: /./ }).waitFor();
      }
      await door.locator('.shell-taskbar').waitFor();

      await visit({ app: 'system.audit' });
      const events = page.getByLabel('Any event');
      await events.selectOption({ label: await told(events, 'Somebody signed in') });
      await row(page, 'Somebody signed in').first().click();
      await page.locator('.svc-pane').getByText('"methods"').waitFor();
      await events.selectOption('');
      await page.getByLabel('Any kind').selectOption('event');
      // A refusal is told within a minute: an answer takes as long for a known account as for another.
      const refused = row(page, 'A sign-in was refused').first();
      await refused.click({ timeout: 90_000 });
      await page.locator('.svc-pane').getByText('"reason"').waitFor();
    },
  ),
];

/** What a choice of a list says, with its number. */
async function told(list: Locator, label: string): Promise<string> {
  const choice = list.locator('option', { hasText: new RegExp(`^${label} \\(\\d+\\)$`) });
  await choice.waitFor({ state: 'attached' });
  return (await choice.innerText()).trim();
}
