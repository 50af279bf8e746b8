/** An administrator draws a workflow, and records go through it. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Application } from './application.ts';
import { fresh, makeProduct, said, story } from './scenario.ts';

const APP = 'workflows.designer';
const HAND = { app: APP, later: true } as const;

interface Choices {
  readonly state: { readonly name: string };
  readonly version: string;
  readonly choices: readonly { readonly name: string }[];
}

/** Has an order placed, which begins with what holds now. */
async function place(application: Application): Promise<string> {
  const { id: productId } = await makeProduct(application, fresh('Drawn'));
  const stock = `/odata/v1/Products(${productId})/Shop.ReceiveStock`;
  await application.ask(stock, { method: 'POST', body: { quantity: 1 } });
  const { value } = await application.ask<{ value: { id: string }[] }>('/odata/v1/Customers?$top=1&$orderby=number');
  const body = { customerId: value[0]?.id, lines: [{ productId, quantity: 1 }] };
  return (await application.ask<{ id: string }>('/api/v1/shop/orders', { method: 'POST', body })).id;
}

function look(application: Application, id: string): Promise<Choices> {
  return application.ask<Choices>(`/api/v1/workflows/Orders/${id}`);
}

/** The box of a state, by its name. */
export function box(page: Page, name: string) {
  return page.locator(`[data-state="${name}"]`);
}

/** Nobody else's draft stands in the way. */
export async function begin(application: Application): Promise<void> {
  const path = '/api/v1/workflows/designer/Orders';
  const { draft } = await application.ask<{ draft: { revision: number } | null }>(path);
  if (!draft) return;
  const { revision } = draft;
  await application.ask(`${path}/draft/drop`, { method: 'POST', body: { revision } });
}

export async function publish(page: Page): Promise<void> {
  await page.getByText('Nothing is wrong').waitFor();
  await page.locator('.svc-head').getByRole('button', { name: 'Publish' }).click();
  const dialog = page.locator('dialog[open]');
  await dialog.getByLabel('What to say of the version').fill('They may rest');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await said(page, /holds now/);
}

interface Drawn {
  readonly draft: { readonly revision: number } | null;
  readonly version: number;
  readonly definition: { states: { name: string }[]; transitions: { name: string; to: string }[] };
}

/** Publishes what holds with a further state between two ways, and tells the names of the versions before and after. */
async function publishWith(application: Application, name: string): Promise<{ before: number; after: number }> {
  const path = '/api/v1/workflows/designer/Orders';
  const { definition, version } = await application.ask<Drawn>(path);
  const way = (from: string, to: string) => ({ name: `${from}To${to}`, from: [from], to, by: ['creator'] });
  const ways = [way('draft', name), way(name, 'draft')];
  const states = [...definition.states, { name, kind: 'intermediate' }];
  const changed = { states, transitions: [...definition.transitions, ...ways] };
  const body = { revision: 0, definition: { ...definition, ...changed } };
  const { revision } = await application.ask<{ revision: number }>(`${path}/draft`, { method: 'PUT', body });
  const published = await application.ask<{ version: number }>(`${path}/publish`, {
    method: 'POST',
    body: { revision },
  });
  return { before: version, after: published.version };
}

export const designer = [
  story(
    'an administrator draws a state and its ways by mouse, sees what is wrong, publishes it, and an order goes that way',
    HAND,
    async ({ page, application, visit }) => {
      await begin(application);
      await visit({ app: APP });
      await box(page, 'draft').waitFor();
      await page.getByRole('button', { name: 'New state' }).click();
      const name = `rest${Math.random().toString(36).slice(2, 7)}`;
      // Typed, since Firefox tells of no change that a script made.
      await page.getByLabel('Name', { exact: true }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.type(name);
      await page.getByLabel('What people call it').click();
      // It is told while one draws.
      await page.getByText(`no way leads to the state “${name}”`).waitFor();
      assert.ok(await page.locator('.svc-head').getByRole('button', { name: 'Publish' }).isDisabled());
      for (const [from, to] of [
        ['draft', name],
        [name, 'draft'],
      ] as const) {
        const start = await box(page, from).boundingBox();
        const end = await box(page, to).boundingBox();
        assert.ok(start && end);
        await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
        await page.mouse.down();
        await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 5 });
        await page.mouse.up();
        await page.getByLabel('Who may take it').waitFor();
      }
      const early = await place(application);
      await publish(page);
      const late = await place(application);
      const { choices, version } = await look(application, late);
      const way = choices.find((choice) => !['submit', 'cancel'].includes(choice.name));
      assert.ok(way, 'the way that was drawn is there');
      const path = `/api/v1/workflows/Orders/${late}/transitions/${way.name}`;
      await application.ask(path, { method: 'POST', body: { version } });
      assert.equal((await look(application, late)).state.name, name);
      // Those that there were stay with theirs until they are moved.
      assert.ok(!(await look(application, early)).choices.some((choice) => choice.name === way.name));
      await page.getByRole('tab', { name: 'Versions' }).click();
      await page.getByText('They may rest').first().waitFor();
    },
  ),

  story(
    'two versions stand side by side, what differs marked in both pictures and told in words, and what is drawn beside what holds',
    HAND,
    async ({ page, application, visit }) => {
      await begin(application);
      const name = `pause${Math.random().toString(36).slice(2, 7)}`;
      const { before, after } = await publishWith(application, name);
      await visit({ app: APP, state: { tab: 'versions' } });
      const left = page.getByRole('region', { name: 'What is compared', exact: true });
      const right = page.getByRole('region', { name: 'What it is compared with' });
      await left.getByRole('combobox').selectOption(String(before));
      await right.getByRole('combobox').selectOption(String(after));
      await right.getByText(`+ ${name}`, { exact: true }).waitFor();
      assert.equal(await left.getByText(name).count(), 0, 'the earlier one has no such state');
      await page.getByText(`State ${name}: new`).waitFor();
      await page.getByText(`Transition draftTo${name}: new`).waitFor();
      // The other way round it went away.
      await left.getByRole('combobox').selectOption(String(after));
      await right.getByRole('combobox').selectOption(String(before));
      await left.getByText(`− ${name}`, { exact: true }).waitFor();
      await page.getByText(`State ${name}: removed`).waitFor();
      await right.getByRole('combobox').selectOption(String(after));
      await page.getByText('They don’t differ.').waitFor();
      // What is drawn stands beside what holds.
      await page.getByRole('tab', { name: 'Draw' }).click();
      await page.getByRole('button', { name: 'New state' }).click();
      await page.getByRole('tab', { name: 'Versions' }).click();
      await right.getByText('+ state1').waitFor();
      assert.equal(await right.getByRole('combobox').inputValue(), 'drawn');
    },
  ),

  story(
    'the same by keys alone, on the picture and in its forms, and it is taken back',
    HAND,
    async ({ page, application, visit }) => {
      await begin(application);
      await visit({ app: APP });
      await box(page, 'draft').focus();
      const before = await page.locator('[data-state]').count();
      await page.keyboard.press('n');
      await page.getByText('A transition from draft').waitFor();
      await page.keyboard.press('Enter');
      await page.getByLabel('Who may take it').waitFor();
      assert.deepEqual(await page.getByLabel('To', { exact: true }).inputValue(), 'draft');
      await box(page, 'submitted').focus();
      await page.keyboard.press('Enter');
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'submitted');
      await box(page, 'submitted').focus();
      await page.keyboard.press('Delete');
      assert.equal(await page.locator('[data-state]').count(), before - 1);
      await page.getByRole('button', { name: 'Take back' }).focus();
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('[data-state]').count(), before);
      // What the application relies on stays.
      await box(page, 'picking').focus();
      await page.keyboard.press('Delete');
      assert.equal(await page.locator('[data-state]').count(), before);
    },
  ),

  story(
    'on a phone, in German and in the dark, states are made and removed by finger, and nothing is wider than the phone',
    { ...HAND, width: 390, height: 780, locale: 'de-DE', dark: true, touch: true },
    async ({ page, application, visit }) => {
      await begin(application);
      await visit({ app: APP, width: 390, height: 780, locale: 'de-DE', dark: true, touch: true });
      await box(page, 'submitted').tap();
      const name = page.getByLabel('Name', { exact: true });
      assert.equal(await name.inputValue(), 'submitted');
      await page.getByRole('button', { name: 'Neuer Zustand' }).tap();
      await page.getByText('2 Probleme').waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      await page.getByRole('button', { name: 'Entfernen' }).tap();
      await page.getByText('Alles in Ordnung').waitFor();
      await page.getByText('Nichts weicht von der geltenden Fassung ab.').waitFor();
    },
  ),
];
