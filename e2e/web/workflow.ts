/** Records that are taken from state to state. */
import assert from 'node:assert/strict';
import { deafen, fresh, said, story } from './scenario.ts';
import type { Application } from './application.ts';
import { board } from './workflow-board.ts';
import { designer } from './workflow-designer.ts';
import { people } from './workflow-people.ts';

/** An order that waits for its approval. */
interface Waiting {
  readonly id: string;
  readonly number: string;
}

/** Has an order wait for its approval, whatever was done with it before. */
async function waiting(application: Application): Promise<Waiting> {
  const filter = encodeURIComponent("status eq 'placed' and workflowState in ('draft','submitted')");
  const { value } = await application.ask<{ value: Waiting[] }>(
    `/odata/v1/Orders?$filter=${filter}&$orderby=orderedAt&$top=1&$select=id,number`,
  );
  const [order] = value;
  assert.ok(order, 'the sample has orders that are not approved yet');
  const path = `/api/v1/workflows/Orders/${order.id}`;
  const { version, state } = await application.ask<{ version: string; state: { name: string } }>(path);
  if (state.name === 'draft') {
    await application.ask(`${path}/transitions/submit`, { method: 'POST', body: { version } });
  }
  return order;
}

export const workflow = [
  story(
    'an order is refused with a comment, handed in again, and somebody else has to approve it',
    { later: true },
    async ({ page, application, visit }) => {
      const { id, number } = await waiting(application);
      await visit({ app: 'sets.Orders', state: { r: id } });
      const standing = page.getByRole('region', { name: 'Workflow' });
      await standing.locator('h3', { hasText: 'Waits' }).waitFor();
      await standing.getByRole('button', { name: 'Refuse' }).click();
      const dialog = page.locator('dialog[open]');
      // Nothing is refused without a word.
      await dialog.getByRole('button', { name: 'Refuse' }).click();
      await dialog.getByLabel('Comment').fill('Too many parasols');
      await dialog.getByRole('button', { name: 'Refuse' }).click();
      await said(page, 'It is now: Draft');
      await standing.locator('h3', { hasText: 'Draft' }).waitFor();
      await page.locator('.svc-pane h2', { hasText: number }).waitFor();

      await standing.getByRole('button', { name: 'Submit' }).click();
      await standing.locator('h3', { hasText: 'Waits' }).waitFor();
      await standing
        .getByRole('listitem')
        .filter({ hasText: 'Approve' })
        .getByText('Somebody else has to')
        .first()
        .waitFor();
      assert.equal(await standing.getByRole('button', { name: 'Approve' }).count(), 0);
      await standing.locator('summary').click();
      await standing.getByText('Too many parasols').waitFor();
    },
  ),

  story(
    'a record that is open hears of the step that somebody else takes, which changes nothing of it',
    { later: true },
    async ({ page, application, visit }) => {
      const { id } = await waiting(application);
      await visit({ app: 'sets.Orders', state: { r: id } });
      const standing = page.getByRole('region', { name: 'Workflow' });
      await standing.locator('h3', { hasText: 'Waits' }).waitFor();
      const path = `/api/v1/workflows/Orders/${id}`;
      const { version } = await application.ask<{ version: string }>(path);
      const body = { version, comment: 'Ask again in spring' };
      await application.ask(`${path}/transitions/refuse`, { method: 'POST', body });
      await standing.locator('h3', { hasText: 'Draft' }).waitFor();
    },
  ),

  story(
    'a purchase that was deleted and brought back from its history begins anew, and is where it is by an instance of its own',
    { app: 'workflows.tasks', once: true },
    async ({ application }) => {
      const { value } = await application.ask<{ value: { id: string }[] }>('/odata/v1/Products?$top=1&$select=id');
      const wanted = { reference: fresh('P'), productId: value[0]?.id, quantity: 1 };
      const { id } = await application.ask<{ id: string }>('/odata/v1/Purchases', { method: 'POST', body: wanted });
      await application.ask(`/odata/v1/Purchases(${id})`, { method: 'DELETE' });
      const history = `/api/v1/history/Purchases/${id}`;
      const { items } = await application.ask<{ items: { id: string }[] }>(history);
      const entry = items[0]?.id;
      const { version } = await application.ask<{ version: number }>(`${history}/${entry}/preview?mode=Before`);
      await application.ask(`${history}/restore`, { method: 'POST', body: { entry, version, mode: 'Before' } });
      const path = `/api/v1/workflows/Purchases/${id}`;
      const now = await application.ask<{ state: { name: string }; since: string | null; past: unknown[] }>(path);
      assert.deepEqual([now.state.name, now.past], ['draft', []]);
      assert.ok(now.since, 'one without an instance has no time since when');
    },
  ),

  story(
    'a step that somebody overtook says so, and shows how the order stands now',
    { later: true, expects: /409|503/ },
    async ({ page, application, visit }) => {
      const { id } = await waiting(application);
      await deafen(page);
      await visit({ app: 'sets.Orders', state: { r: id } });
      const standing = page.getByRole('region', { name: 'Workflow' });
      await standing.getByRole('button', { name: 'Refuse' }).waitFor();
      const path = `/api/v1/workflows/Orders/${id}`;
      const { version } = await application.ask<{ version: string }>(path);
      const body = { version, comment: 'Not this year' };
      await application.ask(`${path}/transitions/refuse`, { method: 'POST', body });
      await standing.getByRole('button', { name: 'Refuse' }).click();
      const dialog = page.locator('dialog[open]');
      await dialog.getByLabel('Comment').fill('Too late');
      await dialog.getByRole('button', { name: 'Refuse' }).click();
      await standing.getByText('This is how it stands now').waitFor();
      await standing.locator('h3', { hasText: 'Draft' }).waitFor();
    },
  ),
  ...designer,
  ...board,
  ...people,
];
