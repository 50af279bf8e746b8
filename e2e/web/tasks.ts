/** What awaits a person: the badge, and steps that are taken without opening the record. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Application } from './application.ts';
import {
  addressOf,
  deafen,
  fresh,
  makeProduct,
  type Opened,
  type Opening,
  row,
  said,
  signInAs,
  story,
  until,
} from './scenario.ts';

const APP = 'workflows.tasks';
const CLERK = ['Orders.View', 'Orders.Place', 'Workflows.View', 'Workflows.Act'];

/** An order that somebody has placed. */
export interface Order {
  readonly id: string;
  readonly number: string;
}

/** Makes a role, invites somebody with it, and comes in as that person. */
export async function comeIn(
  application: Application,
  stranger: Opened['stranger'],
  { first = 'Cy', permissions = CLERK, how }: { first?: string; permissions?: readonly string[]; how?: Opening } = {},
): Promise<Page> {
  const name = fresh(first);
  const email = `${name.toLowerCase()}@shop.example`;
  const role = await application.ask<{ id: string }>('/api/v1/identity/roles', {
    method: 'POST',
    body: { name: fresh('Orders'), description: '', permissions },
  });
  const { invitationLink } = await application.ask<{ invitationLink: string }>('/api/v1/identity/users', {
    method: 'POST',
    body: { email, displayName: name, roles: [role.id] },
  });
  const { pathname, search } = new URL(invitationLink);
  const page = await stranger(application.url + pathname + search, how);
  const password = fresh('a long password ');
  for (const field of await page.locator('input[type=password]').all()) await field.fill(password);
  await page.locator('form .primary').click();
  await signInAs(page, { email, password });
  return page;
}

/** Asks the API as whoever is signed in on a page. */
export function askAs<T>(page: Page, path: string, body: object): Promise<T> {
  return page.evaluate(
    async ([address, sent]) => {
      const headers = { 'content-type': 'application/json', 'X-CSRF': '1' };
      const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(sent) });
      if (!answer.ok) throw new Error(`${address}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as never;
    },
    [path, body] as const,
  );
}

/** Asks for something as somebody. */
type AskAs = (path: string, body: object) => Promise<unknown>;

/** Has somebody place orders. */
export async function place(application: Application, ask: AskAs, count: number): Promise<Order[]> {
  const { id: productId } = await makeProduct(application, fresh('Ordered'));
  const stock = `/odata/v1/Products(${productId})/Shop.ReceiveStock`;
  await application.ask(stock, { method: 'POST', body: { quantity: count } });
  const { value } = await application.ask<{ value: { id: string }[] }>('/odata/v1/Customers?$top=1&$orderby=number');
  const orders: Order[] = [];
  for (let made = 0; made < count; made += 1) {
    const body = { customerId: value[0]?.id, lines: [{ productId, quantity: 1 }] };
    orders.push((await ask('/api/v1/shop/orders', body)) as Order);
  }
  return orders;
}

const pathOf = ({ id }: Order) => `/api/v1/workflows/Orders/${id}`;

/** Takes an order on past the list, as the administrator. */
async function take(application: Application, order: Order, transition: string, comment?: string): Promise<void> {
  const { version } = await application.ask<{ version: string }>(pathOf(order));
  const body = { version, ...(comment ? { comment } : {}) };
  await application.ask(`${pathOf(order)}/transitions/${transition}`, { method: 'POST', body });
}

/** Has the administrator place and hand in orders, which the administrator may refuse and somebody else approve. */
async function waiting(application: Application, count: number): Promise<Order[]> {
  const orders = await place(application, (path, body) => application.ask(path, { method: 'POST', body }), count);
  for (const order of orders) await take(application, order, 'submit');
  return orders;
}

/** Clicks a button of a row. */
function press(page: Page, { number }: Order, title: string): Promise<void> {
  return row(page, number)
    .getByRole('button', { name: `${title}: ${number}` })
    .click();
}

async function comment(page: Page, title: string | RegExp, said: string): Promise<void> {
  const dialog = page.locator('dialog[open]');
  await dialog.getByLabel('Comment').fill(said);
  await dialog.getByRole('button', { name: title }).click();
}

async function numberIn(badge: Locator): Promise<number> {
  await badge.waitFor();
  return Number(await badge.innerText());
}

export const tasks = [
  story(
    'what a clerk hands in awaits the approver: a badge, approved and refused without opening, one and several',
    { later: true },
    async ({ page, application, visit, stranger }) => {
      const clerk = await comeIn(application, stranger);
      const orders = await place(application, (path, body) => askAs(clerk, path, body), 5);
      const [first, second, third, fourth, fifth] = orders as [Order, Order, Order, Order, Order];
      await clerk.goto(addressOf(application.url, { app: 'sets.Orders', state: { r: first.id } }));
      const standing = clerk.getByRole('region', { name: 'Workflow' });
      await standing.getByRole('button', { name: 'Submit' }).click();
      await standing.getByText('Due').waitFor();
      const submit = async (order: Order) => {
        const seen = await application.ask<{ version: string }>(pathOf(order));
        await askAs(clerk, `${pathOf(order)}/transitions/submit`, { version: seen.version });
      };
      await submit(second);

      await visit({});
      const tile = page.locator('.shell-tile', { hasText: 'Tasks' });
      const before = await numberIn(tile.locator('.shell-badge'));
      const { items } = await application.ask<{ items: { count: number }[] }>('/api/v1/workflows/tasks/counts');
      assert.ok(before >= 2 && items.length === 2);
      await tile.click();
      const app = page.locator('.shell-window[data-app="workflows.tasks"]');
      await app.getByLabel('Order', { exact: true }).selectOption('newest');
      await row(page, first.number).locator('time').first().waitFor();

      await row(page, first.number).getByText('Total €10.00 · ').waitFor();

      await press(page, first, 'Approve');
      await said(page, `${first.number}: It is now: Approved`);
      // It awaits whoever packs it next, who is the same here.
      await press(page, first, 'Pick');
      await press(page, first, 'Send off');
      await said(page, `${first.number}: It is now: On its way`);
      await row(page, first.number).waitFor({ state: 'detached' });
      const task = page.locator('.shell-task[aria-label^="Tasks"]');
      for (const place of [tile, task]) {
        await until(
          'the badge counts one less',
          async () => (await numberIn(place.locator('.shell-badge'))) === before - 1,
        );
      }

      await press(page, second, 'Refuse');
      const dialog = page.locator('dialog[open]');
      await dialog.getByText(second.number).waitFor();
      await dialog.getByRole('button', { name: 'Refuse' }).click();
      assert.equal(await dialog.isVisible(), true, 'nothing is refused without a word');
      await comment(page, 'Refuse', 'Too many parasols');
      await row(page, second.number).waitFor({ state: 'detached' });
      // Whoever handed it in reads why.
      await clerk.goto(addressOf(application.url, { app: 'sets.Orders', state: { r: second.id } }));
      await standing.locator('summary').click();
      await standing.getByText('Too many parasols').waitFor();

      // What is handed in meanwhile comes by itself; a window that was put away asks for it when it's taken out again.
      await app.getByRole('heading', { name: 'Tasks', level: 1 }).click();
      await submit(third);
      await row(page, third.number).waitFor();
      await app.getByRole('button', { name: 'Minimize' }).click();
      await app.waitFor({ state: 'hidden' });
      let asked = 0;
      page.on('request', (request) => {
        if (request.url().includes('/workflows/tasks?')) asked += 1;
      });
      for (const order of [fourth, fifth]) await submit(order);
      assert.equal(asked, 0);
      await task.click();
      await row(page, fifth.number).waitFor();
      const several = [third, fourth, fifth];
      for (const step of ['Approve', 'Pick', 'Send off']) {
        for (const order of several)
          await row(page, order.number).getByRole('button', { name: step }).first().waitFor();
        for (const order of several) await row(page, order.number).getByRole('checkbox').check();
        await app.getByRole('button', { name: `${step} (3)` }).click();
        await said(page, '3 records taken on');
      }
      for (const order of [third, fourth, fifth]) await row(page, order.number).waitFor({ state: 'detached' });
      await until(
        'the badge counts two less',
        async () => (await numberIn(task.locator('.shell-badge'))) === before - 2,
      );
      const sent = await application.ask<{ state: { name: string } }>(pathOf(fifth));
      assert.equal(sent.state.name, 'shipped');
    },
  ),

  story(
    'what somebody overtook says so and leaves, and of several each is told of',
    { later: true, expects: /409|503/, once: true },
    async ({ page, application, visit }) => {
      const [overtaken, other, third] = (await waiting(application, 3)) as [Order, Order, Order];
      await deafen(page);
      await visit({ app: APP });
      await row(page, overtaken.number).waitFor();
      await take(application, overtaken, 'refuse', 'Not this year');
      await press(page, overtaken, 'Refuse');
      await comment(page, 'Refuse', 'Too late');
      await said(page, 'Somebody has changed it or taken it on meanwhile');
      await row(page, overtaken.number).waitFor({ state: 'detached' });

      await row(page, other.number).getByRole('checkbox').check();
      await row(page, third.number).getByRole('checkbox').check();
      await take(application, other, 'refuse', 'Not this year');
      await page.getByRole('button', { name: 'Refuse (2)' }).click();
      await comment(page, 'Refuse (2)', 'Not now');
      const told = page.locator('dialog[open]', { hasText: '1 taken on, 1 refused' }).getByRole('listitem');
      await told.filter({ hasText: other.number }).getByText('Somebody has changed it').waitFor();
      await told.filter({ hasText: third.number }).getByText('It is now: Draft').waitFor();
      await page.locator('dialog[open]').getByRole('button', { name: 'Done' }).click();
      for (const order of [other, third]) await row(page, order.number).waitFor({ state: 'detached' });
    },
  ),

  story(
    'rows stay where they are while somebody points at them, and say that there is news',
    { later: true },
    async ({ page, application, visit }) => {
      const [first] = (await waiting(application, 1)) as [Order];
      await visit({ app: APP, state: { order: 'newest' } });
      await row(page, first.number).hover();
      const place = await row(page, first.number).getAttribute('data-index');
      const [second] = (await waiting(application, 1)) as [Order];
      await page.getByRole('button', { name: 'Show what is new' }).waitFor();
      assert.equal(await row(page, first.number).getAttribute('data-index'), place);
      assert.equal(await row(page, second.number).count(), 0);
      // Whoever goes away from them has them.
      await page.getByRole('heading', { name: 'Tasks', level: 1 }).hover();
      await row(page, second.number).waitFor();
      await page.getByRole('button', { name: 'Show what is new' }).waitFor({ state: 'detached' });
      // A selection is worked on, too, until it's given up.
      await row(page, first.number).getByRole('checkbox').check();
      await page.getByRole('heading', { name: 'Tasks', level: 1 }).hover();
      const [third] = (await waiting(application, 1)) as [Order];
      await page.getByRole('button', { name: 'Show what is new' }).click();
      await row(page, third.number).waitFor();
      assert.equal(await row(page, first.number).getByRole('checkbox').isChecked(), true);
    },
  ),

  story(
    'the keyboard walks to the buttons of a task, and opens its record',
    { later: true },
    async ({ page, application, visit }) => {
      const [order] = (await waiting(application, 1)) as [Order];
      await visit({ app: APP, state: { order: 'newest' } });
      await row(page, order.number).waitFor();
      const place = Number(await row(page, order.number).getAttribute('data-index'));
      await page.getByRole('grid', { name: 'Tasks' }).focus();
      for (let walked = 0; walked < place; walked += 1) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
      assert.match(await focused(), new RegExp(`: ${order.number}$`));
      while (!(await focused()).startsWith('Refuse')) await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await comment(page, 'Refuse', 'By hand');
      await said(page, `${order.number}: It is now: Draft`);
      await until('the list has the focus', () => page.evaluate(() => document.activeElement?.role === 'grid'));
      await page.keyboard.press('Home');
      const next = (await page.locator('.svc-row[data-index="0"] [data-column="0"]').innerText()).trim();
      await page.keyboard.press('Control+Home');
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await page.locator('.svc-pane h2', { hasText: next }).waitFor();
    },
  ),

  story(
    'what was written of a task is there still when the network comes back',
    { later: true, expects: /ERR_|NetworkError|Failed to/ },
    async ({ page, application, visit }) => {
      const [order] = (await waiting(application, 1)) as [Order];
      await visit({ app: APP });
      await press(page, order, 'Refuse');
      await page.context().setOffline(true);
      await comment(page, 'Refuse', 'Not in this weather');
      await page.locator('dialog[open]').getByText('The server can’t be reached').waitFor();
      await page.context().setOffline(false);
      await page.locator('dialog[open]').getByRole('button', { name: 'Refuse' }).click();
      await said(page, `${order.number}: It is now: Draft`);
      const { past } = await application.ask<{ past: { comment: string }[] }>(pathOf(order));
      assert.ok(past.some((step) => step.comment === 'Not in this weather'));
    },
  ),

  story(
    'what is overdue says so in words, on a phone too, where fingers have room',
    { later: true, width: 390, height: 844, touch: true },
    async ({ page, application, visit }) => {
      const [order] = (await waiting(application, 1)) as [Order];
      await page.clock.setFixedTime(Date.now() + 8 * 86_400_000);
      await visit({ app: APP });
      await row(page, order.number).getByText('Overdue').waitFor();
      for (const button of await page.locator('.svc-app button:visible').all()) {
        const box = await button.boundingBox();
        assert.ok(box && box.height >= 44, `${await button.innerText()} is ${box?.height} px high`);
      }
      await row(page, order.number)
        .getByRole('button', { name: /^Refuse/ })
        .tap();
      await comment(page, 'Refuse', 'From the train');
      await row(page, order.number).waitFor({ state: 'detached' });
    },
  ),

  story(
    'a turn is handed on with a reason, and somebody stands in for some days',
    { later: true, once: true },
    async ({ page, application, visit, stranger }) => {
      const first = fresh('Ina');
      const other = await comeIn(application, stranger, {
        first,
        permissions: ['Orders.View', 'Workflows.View', 'Workflows.Act'],
      });
      const [order] = (await waiting(application, 1)) as [Order];
      await visit({ app: APP, state: { order: 'newest' } });
      await row(page, order.number).getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Hand on' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByLabel('Find by name').fill(first.toUpperCase());
      await dialog.getByLabel('To whom').locator('option').first().waitFor({ state: 'attached' });
      await until('she is the one who is found', async () => (await dialog.locator('option').count()) === 1);
      // Nothing is handed on without a word.
      await dialog.getByRole('button', { name: 'Hand on' }).click();
      await dialog.getByLabel('Why').fill('On holiday');
      await dialog.getByRole('button', { name: 'Hand on' }).click();
      await said(page, `${order.number} is handed on.`);
      await row(page, order.number).waitFor({ state: 'detached' });
      await other.goto(addressOf(application.url, { app: APP, state: { order: 'newest' } }));
      await row(other, order.number).getByRole('button', { name: 'Refuse' }).first().click();
      await comment(other, 'Refuse', 'For somebody else');
      await said(other, `${order.number}: It is now: Draft`);

      await page.getByRole('button', { name: 'Stand-ins' }).click();
      await dialog.getByText('Nobody stands in for you').waitFor();
      await dialog.getByLabel('Find by name').fill(first);
      await until('she is found again', async () => (await dialog.locator('option').count()) === 1);
      await dialog.getByRole('button', { name: 'Let stand in' }).click();
      await said(page, /stands in for you/);
      // Rows stay where they are below a pointer.
      await other.getByRole('heading', { name: 'Tasks', level: 1 }).hover();
      const [later] = (await waiting(application, 1)) as [Order];
      await row(other, later.number).waitFor();
      await page.getByRole('button', { name: 'Stand-ins' }).click();
      await dialog.getByText(new RegExp(`${first}.* for `)).waitFor();
      await dialog.getByRole('button', { name: /^End that/ }).click();
      await dialog.getByText('Nobody stands in for you').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await row(other, later.number).waitFor({ state: 'detached' });
    },
  ),

  story(
    'nothing to do is said so, and whoever may only look has no buttons',
    { later: true },
    async ({ page, application, visit, stranger }) => {
      const clerk = await comeIn(application, stranger);
      await clerk.goto(addressOf(application.url, { app: APP }));
      await clerk.getByText('Nothing awaits you').waitFor();
      await page.route('**/api/v1/me', async (route) => {
        const answer = await route.fetch();
        const me = (await answer.json()) as { permissions: string[] };
        await route.fulfill({ json: { ...me, permissions: me.permissions.filter((one) => one !== 'Workflows.Act') } });
      });
      await waiting(application, 1);
      await visit({ app: APP });
      await row(page, /\S/).first().waitFor();
      assert.equal(await page.locator('.svc-acts, .svc-check-cell').count(), 0);
    },
  ),
];
