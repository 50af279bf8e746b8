/** What an administrator draws is played by three people: one with a mouse, one on a phone, one by keys alone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Application } from './application.ts';
import { addressOf, row, said, story, until } from './scenario.ts';
import { askAs, comeIn, place, type Order } from './tasks.ts';
import { begin, box, DESIGNER, publish, publishDrawn } from './workflow-designer.ts';

const TASKS = 'workflows.tasks';
const OWN = ['Orders.View', 'Workflows.View', 'Workflows.Act'];

/** Writes into a field as somebody does, so that it tells of its change. */
async function write(page: Page, field: Locator, value: string): Promise<void> {
  await field.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(value);
  await page.keyboard.press('Tab');
}

/** What held before holds again, for the scenarios that come. */
export async function publishAgain(application: Application, version: number): Promise<void> {
  await begin(application);
  await publishDrawn(application, await application.ask(`${DESIGNER}/versions/${version}`));
}

/** The role that somebody came in with. */
async function roleOf(page: Page): Promise<string> {
  const roles = await page.evaluate(async () => {
    const answer = await fetch('/api/v1/me', { headers: { accept: 'application/json', 'X-CSRF': '1' } });
    return ((await answer.json()) as { roles: string[] }).roles;
  });
  assert.equal(roles.length, 1);
  return roles[0] as string;
}

interface Definition {
  readonly transitions: readonly { readonly name: string; readonly by: readonly unknown[] }[];
}

/** Walks to a button of a task by keys alone, and presses it. */
async function pressByKeys(page: Page, { number }: Order, title: string): Promise<void> {
  const place = Number(await row(page, number).getAttribute('data-index'));
  await page.getByRole('grid', { name: 'Tasks' }).focus();
  await page.keyboard.press('Control+Home');
  for (let walked = 0; walked < place; walked += 1) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  while (!(await focused()).startsWith(title)) await page.keyboard.press('ArrowRight');
  assert.ok((await focused()).endsWith(number));
  await page.keyboard.press('Enter');
}

export const people = [
  story(
    'an administrator draws two groups of approvers and a deadline, and a clerk, a phone and a keyboard play it',
    { app: 'workflows.designer', later: true },
    async ({ page, application, visit, stranger }) => {
      await begin(application);
      const { version } = await application.ask<{ version: number }>(DESIGNER);
      await visit({ app: 'workflows.designer' });
      await box(page, 'draft').waitFor();
      const part = page.getByLabel('Choose a state or a transition');
      await part.selectOption('transition:approve');
      const more = page.getByRole('button', { name: 'Another group of people' });
      await more.click();
      await more.click();
      const second = page.getByRole('group', { name: 'Group group2' });
      await write(page, second.getByLabel('Who is of it'), 'Orders.Ship');
      await write(page, second.getByLabel('Name', { exact: true }), 'store');
      await page.getByLabel('One group after the other').check();
      await part.selectOption('state:submitted');
      await page.getByLabel('Due within', { exact: true }).selectOption('hours');
      await write(page, page.getByLabel('Due within: how many'), '4');
      await publish(page);
      try {
        const clerk = await comeIn(application, stranger);
        const phone = await comeIn(application, stranger, {
          first: 'Pia',
          permissions: [...OWN, 'Orders.Approve'],
          how: { width: 390, height: 844, touch: true },
        });
        const keys = await comeIn(application, stranger, { first: 'Kay', permissions: [...OWN, 'Orders.Ship'] });
        const [order] = (await place(application, (path, body) => askAs(clerk, path, body), 1)) as [Order];

        await clerk.goto(addressOf(application.url, { app: 'sets.Orders', state: { r: order.id } }));
        const standing = clerk.getByRole('region', { name: 'Workflow' });
        await standing.getByRole('button', { name: 'Submit' }).click();
        await standing.getByText('Due').waitFor();

        // The store comes after those who approve.
        const tasks = addressOf(application.url, { app: TASKS, state: { order: 'newest' } });
        await keys.goto(tasks);
        await phone.goto(tasks);
        await row(phone, order.number)
          .getByRole('button', { name: /^Approve/ })
          .first()
          .tap();
        // What is left is to refuse it all the same.
        await row(phone, order.number)
          .getByRole('button', { name: /^Approve/ })
          .waitFor({ state: 'detached' });
        await row(keys, order.number)
          .getByRole('button', { name: /^Approve/ })
          .first()
          .waitFor();
        await pressByKeys(keys, order, 'Approve');
        await said(keys, `${order.number}: It is now: Approved`);
        await until('the clerk sees that it is approved', () =>
          standing.locator('h3', { hasText: 'Approved' }).isVisible(),
        );
        await standing.locator('summary').click();
        await standing.getByText(/^Pia/).first().waitFor();
        await standing.getByText(/^Kay/).first().waitFor();
      } finally {
        await publishAgain(application, version);
      }
    },
  ),

  story(
    'an administrator draws that a role approves, too: its member does, and who isn’t one is told whose it is',
    { app: 'workflows.designer', later: true, once: true },
    async ({ page, application, visit, stranger }) => {
      await begin(application);
      const { version } = await application.ask<{ version: number }>(DESIGNER);
      const member = await comeIn(application, stranger, { first: 'Mel', permissions: OWN });
      const role = await roleOf(member);
      await visit({ app: 'workflows.designer' });
      await box(page, 'draft').waitFor();
      const part = page.getByLabel('Choose a state or a transition');
      await part.selectOption('transition:approve');
      const roles = page.getByRole('group', { name: 'Who may take it: roles' });
      await roles.getByLabel('Add a role').selectOption('Administrator');
      await roles.getByLabel('Add a role').selectOption(role);
      assert.equal(await roles.getByLabel('Add a role').inputValue(), '', 'it is ready for another one');
      await roles.getByRole('button', { name: 'Not the role Administrator' }).click();
      await roles.getByRole('button', { name: `Not the role ${role}` }).waitFor();
      await publish(page);
      try {
        const drawn = await application.ask<{ definition: Definition }>(DESIGNER);
        const approve = drawn.definition.transitions.find(({ name }) => name === 'approve');
        assert.deepEqual(approve?.by, [{ permission: 'Orders.Approve' }, { role }]);
        const clerk = await comeIn(application, stranger);
        const [order] = (await place(application, (path, body) => askAs(clerk, path, body), 1)) as [Order];
        await clerk.goto(addressOf(application.url, { app: 'sets.Orders', state: { r: order.id } }));
        const standing = clerk.getByRole('region', { name: 'Workflow' });
        await standing.getByRole('button', { name: 'Submit' }).click();
        await standing.getByText(`This is for members of the role ${role}.`).waitFor();
        await member.goto(addressOf(application.url, { app: TASKS, state: { order: 'newest' } }));
        await row(member, order.number)
          .getByRole('button', { name: /^Approve/ })
          .first()
          .click();
        await said(member, `${order.number}: It is now: Approved`);
        await standing.locator('h3', { hasText: 'Approved' }).waitFor();
      } finally {
        await publishAgain(application, version);
      }
    },
  ),
];
