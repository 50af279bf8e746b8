/** What lies over a page or is opened in it: menus, panels, dialogs, an endpoint and what it was sent. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import type { Application } from './application.ts';
import { addressOf, fresh, makeProduct, type Opening } from './scenario.ts';

/** A page that is looked at: its name, how it's opened, and what is done until it is there. */
export type Looked = [string, Opening, (page: Page, application: Application) => Promise<void>];

/** Opens what a button opens, once the page stands. */
const press =
  (name: RegExp, opened: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name }).first().click();
    await page.locator(opened).first().waitFor();
  };

/** A panel or a menu of the head of a list. */
const panel = (name: RegExp) => press(name, '.svc-popover:popover-open');

/** An endpoint that has been sent something, and was refused something. */
async function makeEndpoint({ ask, receiver }: Application): Promise<string> {
  const body = { url: receiver.url, events: ['stock.low'], description: fresh('Looked at') };
  const { id } = await ask<{ id: string }>('/api/v1/webhooks', { method: 'POST', body });
  receiver.status = 200;
  await ask(`/api/v1/webhooks/${id}/test`, { method: 'POST' });
  return id;
}

async function openEndpoint(page: Page, application: Application): Promise<Locator> {
  const open = await makeEndpoint(application);
  await page.goto('about:blank');
  await page.goto(addressOf(application.url, { app: 'webhooks', state: { open } }));
  const pane = page.locator('.svc-pane');
  await pane.locator('.svc-related', { hasText: '· 200' }).waitFor();
  return pane;
}

/** Chooses the first rows of a list. */
async function choose(page: Page): Promise<void> {
  await page.locator('.svc-row[data-index="0"]').getByRole('checkbox').click();
  await page.locator('.svc-row[data-index="1"]').getByRole('checkbox').click();
  await page.locator('.svc-selection').waitFor();
}

export const OVERLAYS: Looked[] = [
  [
    'the desktop with its start menu',
    {},
    async (page) => {
      await page.locator('.shell-start-button').click();
      await page.locator('.shell-start-app').first().waitFor();
    },
  ],
  [
    'hits of the search over everything',
    {},
    async (page) => {
      await page.locator('.shell-start-button').click();
      await page.getByRole('combobox').fill('hamer');
      const hits = page.getByRole('listbox').getByRole('group', { name: /^(Products|Artikel)$/ });
      await hits.getByText('Claw hammer').first().waitFor();
    },
  ],
  [
    'windows on the desktop',
    {},
    async (page) => {
      await page.locator('.shell-start-button').click();
      await page.locator('.shell-start-app[data-app="sets.Products"]').click();
      await page.locator('.svc-row[data-index="0"]').waitFor();
      await page.locator('.shell-start-button').click();
      await page.locator('.shell-start-app[data-app="system.health"]').click();
      await page.locator('.svc-figures').waitFor();
    },
  ],
  [
    'the choice of filters',
    { app: 'sets.Products' },
    async (page) => {
      await page.locator('.svc-row[data-index="0"]').waitFor();
      await panel(/^Filter/)(page);
    },
  ],
  [
    'a filter that is written',
    { app: 'sets.Products', state: { f: [['unit', 'is', 'cartridge']] } },
    async (page) => {
      await page.locator('.svc-row[data-index="0"]').waitFor();
      await page.locator('.svc-chip').getByRole('button').first().click();
      await page.locator('.svc-filter-editor .svc-choice').first().waitFor();
    },
  ],
  [
    'columns',
    { app: 'sets.Products' },
    async (page) => {
      await page.locator('.svc-row[data-index="0"]').waitFor();
      await panel(/^(Columns|Spalten)/)(page);
    },
  ],
  [
    'several records, and a change of all of them',
    { app: 'sets.Products', width: 1440 },
    async (page) => {
      await choose(page);
      const said = page.locator('.svc-selection [role=status]');
      assert.ok(await said.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), 'how many is cut');
      await page
        .locator('.svc-selection')
        .getByRole('button', { name: /^(Change|Ändern)$/ })
        .click();
      await page.locator('dialog[open]').waitFor();
    },
  ],
  [
    'a question before something is deleted',
    { app: 'sets.Products' },
    async (page) => {
      await choose(page);
      await page
        .locator('.svc-selection')
        .getByRole('button', { name: /^(Delete|Löschen)/ })
        .click();
      await page.locator('dialog[open]').waitFor();
    },
  ],
  [
    'two versions of a record',
    { app: 'sets.Products', expects: /412/ },
    async (page, application) => {
      const { id } = await makeProduct(application, fresh('Shared'));
      await page.goto('about:blank');
      await page.goto(addressOf(application.url, { app: 'sets.Products', state: { r: id } }));
      await page.getByRole('button', { name: /^(Edit Price|Preis bearbeiten)/ }).click();
      await page.locator('[name=price]').fill('20');
      await application.ask(`/odata/v1/Products(${id})`, { method: 'PATCH', body: { price: 30 } });
      await page.keyboard.press('Control+s');
      await page.locator('dialog[open] .svc-compare').waitFor();
    },
  ],
  [
    'an endpoint',
    { app: 'webhooks' },
    async (page, application) => {
      const pane = await openEndpoint(page, application);
      await pane.locator('.svc-chart summary').click();
      await pane.locator('.svc-chart tbody tr').first().waitFor();
    },
  ],
  [
    'what can be done with an endpoint',
    { app: 'webhooks' },
    async (page, application) => {
      const pane = await openEndpoint(page, application);
      await pane.locator('.svc-pane-actions svc-popover button').first().click();
      await page.getByRole('menuitem').first().waitFor();
    },
  ],
  [
    'a delivery',
    { app: 'webhooks' },
    async (page, application) => {
      const pane = await openEndpoint(page, application);
      await pane.locator('.svc-related tbody button').first().click();
      await page.locator('webhooks-delivery .svc-exchange pre').first().waitFor();
    },
  ],
  [
    'what deliveries are found by',
    { app: 'webhooks', state: { tab: 'deliveries' } },
    async (page) => {
      await page.locator('webhooks-find button').first().click();
      await page.locator('webhooks-find .svc-filter-editor').waitFor();
    },
  ],
  ['an invitation', { app: 'system.people' }, press(/^(Invite|Einladen)$/, 'dialog[open]')],
  ['a new role', { app: 'system.roles' }, press(/^(New role|Neue Rolle)$/, 'dialog[open]')],
  ['a new key', { app: 'system.keys' }, press(/^(New key|Neuer Schlüssel)$/, 'dialog[open]')],
  ['a new program', { app: 'system.organisation' }, press(/^(Register a program|Programm anmelden)$/, 'dialog[open]')],
  ['who stands in', { app: 'workflows.tasks' }, press(/^(Stand-ins|Vertretung)$/, 'dialog[open]')],
  [
    'the keys of a list',
    { app: 'sets.Products' },
    async (page) => {
      await page.locator('.svc-row[data-index="0"]').waitFor();
      await page.locator('[role=grid]').focus();
      await page.keyboard.press('?');
      await page.locator('dialog[open] .svc-keys').first().waitFor();
    },
  ],
];
