/** An administrator draws a workflow, and records go through it. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { finger, middle } from '../shell/scenario.ts';
import type { Application } from './application.ts';
import { fresh, makeProduct, said, story, until } from './scenario.ts';

const APP = 'workflows.designer';
const HAND = { app: APP, later: true } as const;

interface Choices {
  readonly state: { readonly name: string };
  readonly version: string;
  readonly choices: readonly { readonly name: string; readonly to: { readonly name: string } }[];
}

/** Has an order placed, which begins with what holds now. */
export async function place(application: Application): Promise<string> {
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

/** Where the workflow of orders is drawn. */
export const DESIGNER = '/api/v1/workflows/designer/Orders';

/** Nobody else's draft stands in the way. */
export async function begin(application: Application): Promise<void> {
  const { draft } = await application.ask<{ draft: { revision: number } | null }>(DESIGNER);
  if (!draft) return;
  const { revision } = draft;
  await application.ask(`${DESIGNER}/draft/drop`, { method: 'POST', body: { revision } });
}

/** Publishes a definition past the client, where no draft stands; tells its version. */
export async function publishDrawn({ ask }: Application, definition: unknown): Promise<number> {
  const body = { revision: 0, definition };
  const { revision } = await ask<{ revision: number }>(`${DESIGNER}/draft`, { method: 'PUT', body });
  return (await ask<{ version: number }>(`${DESIGNER}/publish`, { method: 'POST', body: { revision } })).version;
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

/** The menu behind *More*. */
async function more(page: Page, item: string): Promise<void> {
  await page.locator('.svc-head').getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** Chooses a definition from a file. */
async function importFile(page: Page, content: string): Promise<void> {
  const file = { name: 'Orders.workflow.json', mimeType: 'application/json', buffer: Buffer.from(content) };
  await page.locator('.svc-head input[type=file]').setInputFiles(file);
}

/** What is exported, as the file has it; where nobody tells of downloads, as the server does. */
async function exported(page: Page, application: Application): Promise<Drawn['definition']> {
  // Firefox as it is driven here doesn't tell of downloads.
  const isTold = page.context().browser()?.browserType().name() === 'chromium';
  const begun = isTold ? page.waitForEvent('download') : undefined;
  await more(page, 'Export as a file');
  const download = await begun;
  const { definition } = await application.ask<Drawn>(DESIGNER);
  if (!download) return definition;
  assert.equal(download.suggestedFilename(), 'Orders.workflow.json');
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const written = JSON.parse(Buffer.concat(chunks).toString()) as Drawn['definition'];
  assert.deepEqual(written, definition, 'the file is what the server has');
  return written;
}

/** Publishes what holds with a further state between two ways, and tells the names of the versions before and after. */
async function publishWith(application: Application, name: string): Promise<{ before: number; after: number }> {
  const { definition, version } = await application.ask<Drawn>(DESIGNER);
  const way = (from: string, to: string) => ({ name: `${from}To${to}`, from: [from], to, by: ['creator'] });
  const ways = [way('draft', name), way(name, 'draft')];
  const states = [...definition.states, { name, kind: 'intermediate' }];
  const changed = { states, transitions: [...definition.transitions, ...ways] };
  return { before: version, after: await publishDrawn(application, { ...definition, ...changed }) };
}

export const designer = [
  story(
    'an administrator draws a state and its ways by mouse, sees what is wrong, publishes it, and an order goes that way',
    HAND,
    async ({ page, application, visit }) => {
      await begin(application);
      await visit({ app: APP });
      await box(page, 'draft').waitFor();
      const line = page.locator('workflows-graph path[marker-end]').first();
      assert.match(await line.evaluate((way) => getComputedStyle(way).stroke), /^rgb/, 'the ways are seen');
      await box(page, 'draft').click();
      const called = page.getByLabel('What people call it');
      assert.equal(await called.getAttribute('placeholder'), 'Draft', 'what it is called though nobody drew that');
      await page.getByRole('button', { name: 'New state' }).click();
      const name = `rest${Math.random().toString(36).slice(2, 7)}`;
      // Typed, since Firefox tells of no change that a script made.
      await page.getByLabel('Name', { exact: true }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.type(name);
      await called.click();
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
      const way = choices.find((choice) => choice.to.name === name);
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
    'what is drawn is exported and brought back from its file, tried with an order and dropped; published, it says what stays, and orders are moved to it',
    HAND,
    async ({ page, application, visit }) => {
      await begin(application);
      // An order in a state that the next version doesn't have.
      const [left, nap] = ['left', 'nap'].map((word) => `${word}${Math.random().toString(36).slice(2, 7)}`) as [
        string,
        string,
      ];
      const { definition: before } = await application.ask<Drawn>(DESIGNER);
      const { after: version } = await publishWith(application, left);
      const id = await place(application);
      const body = { version: (await look(application, id)).version };
      await application.ask(`/api/v1/workflows/Orders/${id}/transitions/draftTo${left}`, { method: 'POST', body });
      await visit({ app: APP });
      await box(page, left).waitFor();

      // Kept in a repository, changed there, and brought back.
      const file = await exported(page, application);
      assert.ok(file.states.some(({ name }) => name === left));
      await importFile(page, 'no JSON');
      await said(page, 'That file is not JSON.');
      const way = (from: string, to: string) => ({ name: `${from}To${to}`, from: [from], to, by: ['creator'] });
      const states = [...before.states, { name: nap, kind: 'intermediate', title: 'Has a nap' }];
      const transitions = [...before.transitions, way('draft', nap), way(nap, 'draft')];
      const changed = JSON.stringify({ ...before, states, transitions });
      await importFile(page, changed);
      await box(page, nap).waitFor();
      assert.equal(await box(page, left).count(), 0);

      // Tried with an order; nothing is stored.
      await more(page, 'Try it with a record');
      const dialog = page.locator('dialog[open]');
      const { number } = await application.ask<{ number: string }>(`/odata/v1/Orders(${id})?$select=number`);
      await dialog.getByRole('combobox', { name: 'Record' }).fill(number);
      await page.getByRole('option', { name: number }).click();
      await dialog.getByLabel('In the state').selectOption(nap);
      await dialog.getByRole('button', { name: 'Try it with a record' }).click();
      await dialog.getByText('In Has a nap you could:').waitFor();
      await dialog
        .getByRole('listitem')
        .filter({ hasText: `${nap}Todraft` })
        .getByText('Possible')
        .waitFor();
      await page.keyboard.press('Escape');
      assert.equal((await look(application, id)).state.name, left);

      // Dropped, what holds is there again.
      await more(page, 'Drop the draft');
      await page.locator('dialog[open]').getByRole('button', { name: 'Drop the draft' }).click();
      await box(page, left).waitFor();
      assert.equal((await application.ask<Drawn>(DESIGNER)).draft, null);

      await importFile(page, changed);
      await box(page, nap).waitFor();
      await page.locator('.svc-head').getByRole('button', { name: 'Publish' }).click();
      const stays = page.locator('dialog[open]').getByRole('list', { name: 'Records that stay' });
      await stays.getByText(new RegExp(`stays? with version ${version}: .*${left} 1`)).waitFor();
      await page.locator('dialog[open]').getByRole('button', { name: 'Publish' }).click();
      await said(page, /holds now/);

      // Moved once it is said where the state leads.
      await page.getByRole('tab', { name: 'Versions' }).click();
      await page.getByRole('button', { name: 'Move records to the version in force' }).click();
      await page.locator('dialog[open]').getByLabel('Records of').selectOption(String(version));
      const where = page.locator('dialog[open]').getByLabel(`1 in ${left} come into`);
      await where.selectOption(nap);
      await page.locator('dialog[open]').getByRole('button', { name: 'Move records to the version in force' }).click();
      await said(page, 'The records are being moved.');
      await until('the order is moved', async () => (await look(application, id)).state.name === nap);
      const { choices } = await look(application, id);
      assert.deepEqual(
        choices.map(({ name }) => name),
        [`${nap}Todraft`],
      );
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
      await page.getByText('A transition from Draft').waitFor();
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
    'on a phone, in German and in the dark, states and ways are made and removed by finger, and nothing is wider than the phone',
    { ...HAND, width: 390, height: 780, locale: 'de-DE', dark: true, touch: true },
    async ({ page, application, visit }) => {
      await begin(application);
      await visit({ app: APP, width: 390, height: 780, locale: 'de-DE', dark: true, touch: true });
      // As lists call it, in the person's language; its name stands where it is changed.
      await box(page, 'submitted').getByText('Wartet', { exact: true }).waitFor();
      await box(page, 'submitted').tap();
      const name = page.getByLabel('Name', { exact: true });
      assert.equal(await name.inputValue(), 'submitted');
      const part = page.getByLabel('Zustand oder Übergang wählen');
      await part.selectOption({ label: 'Einreichen' });
      await page
        .getByLabel('Nach', { exact: true })
        .locator('option', { hasText: 'Freigegeben' })
        .waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Neuer Zustand' }).tap();
      await page.getByText('2 Probleme').waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide`);
      await page.getByRole('button', { name: 'Entfernen' }).tap();
      await page.getByText('Alles in Ordnung').waitFor();
      // A finger draws a way, here from a state back to it, where a scroll would begin beside it.
      await box(page, 'draft').scrollIntoViewIfNeeded();
      const hand = await finger(page);
      const start = await middle(box(page, 'draft'));
      await hand.press(start);
      await hand.glide(start, { x: start.x + 40, y: start.y + 14 });
      await hand.lift();
      await page.getByLabel('Wer ihn nehmen kann').waitFor();
      await page.getByRole('button', { name: 'Entfernen' }).tap();
      await page.getByText('Nichts weicht von der geltenden Fassung ab.').waitFor();
    },
  ),
];
