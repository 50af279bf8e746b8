/** Records by their states: a card is dragged to where it is to go. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Application } from './application.ts';
import { row, said, story, until } from './scenario.ts';
import { begin, DESIGNER, place, publishDrawn } from './workflow-designer.ts';

const BOARD = { app: 'sets.Orders', state: { g: 'workflowState' } } as const;

/** The column of a state. */
function column(page: Page, title: string) {
  return page.getByRole('region', { name: title, exact: true });
}

/** Drags a card to the column of a state; one that isn't in sight comes while the card is held at the end of the board. */
async function drag(page: Page, id: string, title: string): Promise<void> {
  const card = page.locator(`[data-key="${id}"]`);
  await card.scrollIntoViewIfNeeded();
  const start = await card.boundingBox();
  const board = await page.locator('.svc-board').boundingBox();
  assert.ok(start && board);
  await page.mouse.move(start.x + start.width / 2, start.y + start.height - 6);
  await page.mouse.down();
  const centre = async () => {
    const box = await column(page, title).boundingBox();
    assert.ok(box);
    return { x: box.x + box.width / 2, y: box.y + 80 };
  };
  const { x, y } = await centre();
  const [first, last] = [board.x + 10, board.x + board.width - 10];
  if (x < first || x > last) {
    await page.mouse.move(x < first ? first : last, y, { steps: 6 });
    await until('the column came into sight', async () => {
      const now = await centre();
      return now.x >= first && now.x <= last;
    });
  }
  const end = await centre();
  await page.mouse.move(end.x, end.y, { steps: 6 });
  await page.mouse.up();
}

/** Has an order stand in a state that the workflow has no more: two ways lead back, and both are closed. Tells the order and what the state is called. */
async function leftBehind(application: Application): Promise<{ id: string; name: string; title: string }> {
  await begin(application);
  const name = `left${Math.random().toString(36).slice(2, 7)}`;
  const title = `Left ${name.slice(4)}`;
  const { definition } = await application.ask<{ definition: { states: unknown[]; transitions: unknown[] } }>(DESIGNER);
  const way = (way: object) => ({ title: 'A way', by: ['creator'], ...way });
  await publishDrawn(application, {
    ...definition,
    states: [...definition.states, { name, title, kind: 'intermediate', colour: 'red' }],
    transitions: [
      ...definition.transitions,
      way({ name: `to${name}`, from: ['draft'], to: name, title: 'Leave behind' }),
      way({ name: `from${name}`, from: [name], to: 'draft', title: 'Come back', notByLast: true }),
      way({ name: `paid${name}`, from: [name], to: 'draft', title: 'Pay for it', condition: 'total lt 0' }),
    ],
  });
  const id = await place(application);
  const { version } = await application.ask<{ version: string }>(`/api/v1/workflows/Orders/${id}`);
  const take = `/api/v1/workflows/Orders/${id}/transitions/to${name}`;
  await application.ask(take, { method: 'POST', body: { version } });
  await publishDrawn(application, definition);
  return { id, name, title };
}

export const board = [
  story(
    'an order in a state that the workflow has no more is shown as it was drawn: in the list, its filter and its history, and on the board with each reason why it stays',
    { later: true },
    async ({ page, application, visit }) => {
      const { id, name, title } = await leftBehind(application);
      const chip = (word: string, tone: string) => page.locator(`.svc-badge[data-tone=${tone}]`, { hasText: word });
      await visit({ app: BOARD.app, state: { c: ['number', 'workflowState'], f: [['workflowState', 'is', name]] } });
      await row(page, title).locator(chip(title, 'bad')).waitFor();
      const filter = page.locator('.svc-chip', { hasText: title });
      await filter.getByRole('button').first().click();
      // Facets tell the states in which any order is, by their colours; the sample has some that nobody has handed in.
      await page.locator('.svc-choice').locator(chip(title, 'bad')).waitFor();
      await page.locator('.svc-choice').locator(chip('Draft', 'none')).waitFor();
      await page.keyboard.press('Escape');
      await row(page, title).click();
      await page.getByRole('button', { name: 'History' }).click();
      await page.locator('.svc-entry').getByText(`to ${title}`).first().waitFor();

      await visit({ app: BOARD.app, state: { ...BOARD.state, f: [['status', 'is', 'placed']] } });
      await column(page, title).locator(`[data-key="${id}"]`).waitFor();
      await column(page, 'Draft').waitFor();
      await drag(page, id, 'Draft');
      await said(page, /Come back – .*Pay for it – /);
      await column(page, title).locator(`[data-key="${id}"]`).waitFor();
    },
  ),

  story(
    'an order is dragged from one state to another, told why it can not go further, and taken on by keys',
    { later: true },
    async ({ page, application, visit }) => {
      // One that stands first among those that wait, so that it is on the board.
      const filter = encodeURIComponent("status eq 'placed' and workflowState eq 'draft'");
      const { value } = await application.ask<{ value: { id: string; number: string }[] }>(
        `/odata/v1/Orders?$filter=${filter}&$orderby=orderedAt desc&$top=1&$select=id,number`,
      );
      const [order] = value;
      assert.ok(order);
      const conditions = { ...BOARD.state, f: [['status', 'is', 'placed']] };
      await visit({ app: BOARD.app, state: conditions });
      const card = page.locator(`[data-key="${order.id}"]`);
      await column(page, 'Draft').locator(`[data-key="${order.id}"]`).waitFor();
      await drag(page, order.id, 'Waits');
      await said(page, /It is now: Waits/);
      await column(page, 'Waits').locator(`[data-key="${order.id}"]`).waitFor();
      // Whoever handed it in doesn't approve it.
      await drag(page, order.id, 'Approved');
      await said(page, /Somebody else has to/);
      await column(page, 'Waits').locator(`[data-key="${order.id}"]`).waitFor();
      // By keys.
      await card.getByRole('button', { name: /^Take .* on$/ }).focus();
      await page.keyboard.press('Enter');
      const which = page.locator('dialog[open]');
      await which.getByRole('radio', { name: /Refuse/ }).check();
      await which.getByRole('button', { name: 'Take on' }).press('Enter');
      const why = page.locator('dialog[open]', { hasText: 'Comment' });
      await why.getByLabel('Comment').fill('Not this year');
      await why.getByRole('button', { name: 'Refuse' }).press('Enter');
      await column(page, 'Draft').locator(`[data-key="${order.id}"]`).waitFor();
      // A press opens it beside the board.
      await card.locator('.svc-card-name').click();
      await page.locator('.svc-pane h2', { hasText: order.number }).waitFor();
    },
  ),
];
