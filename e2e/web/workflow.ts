/** Records that are taken from state to state. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { deafen, fresh, said, story } from './scenario.ts';
import type { Application } from './application.ts';
import { board } from './workflow-board.ts';
import { begin, DESIGNER, designer, place, publishDrawn } from './workflow-designer.ts';
import { people, publishAgain } from './workflow-people.ts';

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
    'an order says what happens to it by itself, when, and why it would not yet',
    { later: true, once: true },
    async ({ page, application, visit, another }) => {
      const standing = (on: Page) => on.getByRole('region', { name: 'Workflow' });
      interface Standing {
        readonly version: string;
        readonly automatic: { readonly title: string; readonly time: string } | null;
      }
      const look = (id: string) => application.ask<Standing>(`/api/v1/workflows/Orders/${id}`);
      // As the browser of a scenario writes times: British, in Berlin.
      const written = (time: string) =>
        new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Europe/Berlin' }).format(
          new Date(time),
        );
      const filter = encodeURIComponent("workflowState eq 'shipped'");
      const { value } = await application.ask<{ value: Waiting[] }>(
        `/odata/v1/Orders?$filter=${filter}&$orderby=shippedAt%20desc&$top=1&$select=id,number`,
      );
      const [shipped] = value;
      assert.ok(shipped, 'the sample has orders that were shipped of late');
      const { automatic } = await look(shipped.id);
      assert.ok(automatic);
      await visit({ app: 'sets.Orders', state: { r: shipped.id } });
      await standing(page)
        .getByText(`By itself at ${written(automatic.time)}: Close`, { exact: true })
        .waitFor();

      await begin(application);
      interface Drawn {
        readonly version: number;
        readonly definition: { readonly states: readonly { readonly name: string }[] };
      }
      const { version, definition } = await application.ask<Drawn>(DESIGNER);
      const after = { after: { days: 1 }, transition: 'approveLarge' };
      const states = definition.states.map((state) =>
        state.name === 'submitted' ? { ...state, automatic: after } : state,
      );
      await publishDrawn(application, { ...definition, states });
      try {
        const id = await place(application);
        const { version: seen } = await look(id);
        const submit = `/api/v1/workflows/Orders/${id}/transitions/submit`;
        await application.ask(submit, { method: 'POST', body: { version: seen } });
        const next = (await look(id)).automatic;
        assert.ok(next);
        const other = await another({ app: 'sets.Orders', state: { r: id } });
        const why = 'The record doesn’t meet the condition for it.';
        await standing(other)
          .getByText(`By itself: ${next.title}. ${why} It is tried again at ${written(next.time)}.`, { exact: true })
          .waitFor();
      } finally {
        await publishAgain(application, version);
      }
    },
  ),

  story(
    'a step that somebody overtook says so, and shows how the order stands now',
    { later: true, expects: /409|503/, once: true },
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
