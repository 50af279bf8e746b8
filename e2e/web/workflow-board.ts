/** Records by their states: a card is dragged to where it is to go. */
import assert from 'node:assert/strict';
import { said, story } from './scenario.ts';

const BOARD = { app: 'sets.Orders', state: { g: 'workflowState' } } as const;

export const board = [
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
      const column = (title: string) => page.getByRole('region', { name: title, exact: true });
      const card = page.locator(`[data-key="${order.id}"]`);
      await column('Draft').locator(`[data-key="${order.id}"]`).waitFor();
      const drag = async (title: string) => {
        const start = await card.boundingBox();
        const end = await column(title).boundingBox();
        assert.ok(start && end);
        await page.mouse.move(start.x + start.width / 2, start.y + start.height - 6);
        await page.mouse.down();
        await page.mouse.move(end.x + end.width / 2, end.y + 80, { steps: 6 });
        await page.mouse.up();
      };
      await drag('Waits');
      await said(page, /It is now: Waits/);
      await column('Waits').locator(`[data-key="${order.id}"]`).waitFor();
      // Whoever handed it in doesn't approve it.
      await drag('Approved');
      await said(page, /Somebody else has to/);
      await column('Waits').locator(`[data-key="${order.id}"]`).waitFor();
      // By keys.
      await card.getByRole('button', { name: /^Take .* on$/ }).focus();
      await page.keyboard.press('Enter');
      const which = page.locator('dialog[open]');
      await which.getByRole('radio', { name: /Refuse/ }).check();
      await which.getByRole('button', { name: 'Take on' }).press('Enter');
      const why = page.locator('dialog[open]', { hasText: 'Comment' });
      await why.getByLabel('Comment').fill('Not this year');
      await why.getByRole('button', { name: 'Refuse' }).press('Enter');
      await column('Draft').locator(`[data-key="${order.id}"]`).waitFor();
      // A press opens it beside the board.
      await card.locator('.svc-card-name').click();
      await page.locator('.svc-pane h2', { hasText: order.number }).waitFor();
    },
  ),
];
