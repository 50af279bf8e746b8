/** `examples/office`: what an application says in Rust of its generated apps, and a page below a prefix. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { signIn, startApplication, type Application } from './application.ts';
import { assertAccessible } from './axe.ts';
import { fresh, row, said, story, type Opened, type Opening, type Scenario } from './scenario.ts';

const PREFIX = '/desk';

/** Plays in front of an application of its own, from the door on. */
function inOffice(name: string, how: Opening, play: (opened: Opened) => Promise<void>): Scenario {
  return {
    name,
    async run({ signedIn: _ofTheShop, ...world }) {
      const application = await startApplication(world.database, 'office');
      try {
        // Whoever comes to the door is told so first.
        await story(name, { expects: /401/, ...how, stranger: true, later: true }, play).run({ ...world, application });
      } finally {
        await application.end();
      }
    },
  };
}

/** Comes through the door, and to where one wanted to go: the app of a set below the prefix. */
async function come(page: Page, application: Application, state: unknown = {}, set = 'Invoices'): Promise<void> {
  const place = new URLSearchParams({ state: JSON.stringify(state) });
  await page.goto(`${application.url}${PREFIX}/?app=sets.${set}#${place}`);
  await signIn(page, application.person);
}

interface Line {
  position: number;
  what: string;
  quantity: number;
  price: number;
}

interface Invoice {
  id: string;
  customer: string;
  urgency: number;
  terms: unknown;
  invoiceLines: Line[];
}

async function stored({ ask }: Application, number: string): Promise<Invoice | undefined> {
  const query = `$filter=number eq '${number}'&$expand=invoiceLines($orderby=position)`;
  return (await ask<{ value: Invoice[] }>(`/odata/v1/Invoices?${encodeURI(query)}`)).value[0];
}

async function make({ ask }: Application, number: string): Promise<Invoice> {
  const invoiceLines = [
    { position: 1, what: 'Repair', quantity: 2, price: 40 },
    { position: 2, what: 'Travel', quantity: 1, price: 15 },
  ];
  return ask('/odata/v1/Invoices', { method: 'POST', body: { number, customer: 'Smith', invoiceLines } });
}

function linesOf(invoice: Invoice | undefined): (string | number)[][] {
  return (invoice?.invoiceLines ?? []).map(({ position, what, quantity, price }) => [position, what, quantity, price]);
}

export const office = [
  inOffice(
    'below a prefix a link leads through the door to a record, and back and a reload keep to it',
    {},
    async ({ page, application }) => {
      const number = fresh('R');
      const { id } = await make(application, number);
      await come(page, application, { r: id });
      const pane = page.locator('.svc-pane h2', { hasText: number });
      await pane.waitFor();
      assert.match(new URL(page.url()).pathname, /^\/desk\/?$/);

      await pane.press('Escape');
      await pane.waitFor({ state: 'detached' });
      await page.goBack();
      await pane.waitFor();
      await page.reload();
      await pane.waitFor();

      // The desktop lies there, too, and what it opens works on the application's own addresses.
      await page.goto(application.url + PREFIX);
      await page.locator('.shell-tile', { hasText: 'Invoices' }).click();
      await row(page, number).waitFor();
      const home = await fetch(application.url);
      assert.ok(!(await home.text()).includes('modulepreload'), 'the root is not the client’s');
      const elsewhere = await fetch(`${application.url}${PREFIX}/nothing-here`);
      assert.equal(elsewhere.status, 404);
    },
  ),

  inOffice('a form takes lines, JSON, and an element of the application’s own', {}, async ({ page, application }) => {
    const number = fresh('R');
    await come(page, application, { r: 'new' });
    await page.getByLabel('Number').fill(number);
    await page.getByLabel('Customer').fill('Miller');
    await page.getByLabel('Currency').fill('CHF');
    await page.getByRole('group', { name: 'Urgency' }).getByRole('button', { name: '3' }).click();
    const terms = page.getByLabel('Terms');
    await terms.fill('{days: 14}');
    await page.getByText('This isn’t JSON yet').waitFor();
    await terms.fill('{"days": [14, 30]}');
    await page.getByText('This isn’t JSON yet').waitFor({ state: 'detached' });

    await page.getByLabel('What, line 1').fill('Repair');
    await page.getByLabel('Quantity, line 1').fill('2');
    await page.locator('svc-lines .svc-measured', { hasText: 'CHF' }).first().waitFor();
    // A line that isn't whole keeps the form here.
    await page.keyboard.press('Control+Enter');
    await page.locator('svc-lines [data-wrong]', { hasText: 'needed' }).waitFor();
    await assertAccessible(page, 'a form with lines and an element of its own');
    await page.getByLabel('Price, line 1').fill('40');
    await page.getByLabel('What, line 2').fill('Travel');
    await page.getByLabel('Quantity, line 2').fill('1');
    await page.getByLabel('Price, line 2').fill('15.5');
    await page.keyboard.press('Control+Enter');
    await said(page, `${number} is there`);
    const made = await stored(application, number);
    assert.deepEqual(made?.terms, { days: [14, 30] });
    assert.equal(made?.urgency, 3);
    await page.locator('svc-lines td', { hasText: /^CHF\s40\.00$/ }).waitFor();
    assert.deepEqual(linesOf(made), [
      [1, 'Repair', 2, 40],
      [2, 'Travel', 1, 15.5],
    ]);
  }),

  inOffice(
    'a record is saved with its lines as a whole, and taken back as a whole',
    { expects: /400|401|409|422/ },
    async ({ page, application }) => {
      const number = fresh('R');
      const { id } = await make(application, number);
      await come(page, application, { r: id });
      const before = [
        [1, 'Repair', 2, 40],
        [2, 'Travel', 1, 15],
      ];
      await page.getByRole('button', { name: 'Edit Lines' }).click();
      await assertAccessible(page, 'lines that are edited');
      await page.getByLabel('Quantity, line 1').fill('0');
      await page.getByRole('button', { name: 'Remove line 2' }).click();
      await page.getByLabel('What, line 2').fill('Oil');
      await page.getByLabel('Quantity, line 2').fill('3');
      await page.getByLabel('Price, line 2').fill('5');
      await page.getByRole('group', { name: 'Urgency' }).getByRole('button', { name: '4' }).click();
      await page.locator('.svc-pane-foot').getByText('4 changes').waitFor();

      // One line is refused, so nothing is stored; what was written stays.
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('svc-lines [data-wrong]').first().waitFor();
      assert.deepEqual(linesOf(await stored(application, number)), before);
      await page.getByLabel('Quantity, line 1').fill('6');
      await page.getByRole('button', { name: 'Save' }).click();
      await said(page, 'Saved: Urgency, Lines');
      const changed = await stored(application, number);
      assert.equal(changed?.urgency, 4);
      assert.deepEqual(linesOf(changed), [
        [1, 'Repair', 6, 40],
        [3, 'Oil', 3, 5],
      ]);

      await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();
      await page.locator('svc-lines tr', { hasText: 'Travel' }).waitFor();
      const back = await stored(application, number);
      assert.equal(back?.urgency, 0);
      assert.deepEqual(linesOf(back), before);
    },
  ),

  inOffice(
    'lines that somebody else has changed meanwhile are not overwritten',
    { expects: /401|412/ },
    async ({ page, application }) => {
      const number = fresh('R');
      const { id } = await make(application, number);
      await come(page, application, { r: id });
      await page.getByRole('button', { name: 'Edit Lines' }).click();
      await page.getByLabel('Quantity, line 1').fill('9');
      const { value } = await application.ask<{ value: { id: string }[] }>(
        `/odata/v1/Invoices(${id})/invoiceLines?$orderby=position&$top=1`,
      );
      await application.ask(`/odata/v1/InvoiceLines(${value[0]?.id})`, { method: 'PATCH', body: { price: 41 } });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('What you wrote is kept here').waitFor();
      assert.equal(await page.getByLabel('Quantity, line 1').inputValue(), '9');
      assert.equal(linesOf(await stored(application, number))[0]?.[2], 2);
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Load again' }).click();
      await page.locator('svc-lines td', { hasText: '41' }).waitFor();
    },
  ),

  inOffice('money of several currencies is never summed up as one', {}, async ({ page, application }) => {
    const expenses = [
      ['Train', 12.5, 'EUR'],
      ['Lunch', 20, 'CHF'],
      ['Parking', 4, 'CHF'],
    ];
    for (const [what, amount, currency] of expenses) {
      const distance = what === 'Train' ? 120 : null;
      await application.ask('/odata/v1/Expenses', { method: 'POST', body: { what, amount, currency, distance } });
    }
    // The column of the currency isn't shown; it is asked for all the same.
    await come(
      page,
      application,
      { c: ['what', 'amount', 'distance'], t: { amount: 'sum', distance: 'sum' } },
      'Expenses',
    );
    await row(page, '€12.50').getByText('120.0 km').waitFor();
    await row(page, 'CHF 20.00').waitFor();
    const foot = page.locator('.svc-row-foot');
    await foot.getByText('Not in one currency').waitFor();
    await foot.getByText('120.0 km').waitFor();
    assert.doesNotMatch(await foot.innerText(), /36/);

    await page.locator('.svc-head').getByRole('button', { name: 'Columns' }).click();
    await page.getByLabel('Group by').selectOption({ label: 'Currency' });
    await page.keyboard.press('Escape');
    const francs = page.locator('.svc-groups tbody tr', { hasText: 'CHF' });
    await francs.getByText('CHF 24.00').waitFor();
    await page.locator('.svc-groups tbody tr', { hasText: 'EUR' }).getByText('€12.50').waitFor();
    await francs.getByRole('button').click();
    await foot.getByText('CHF 24.00').waitFor();

    // While somebody writes, the sign follows what is written.
    await page.locator('.svc-head').getByRole('button', { name: 'New' }).click();
    const amount = page.locator('.svc-field', { has: page.getByLabel('Amount') });
    await page.getByLabel('What').fill('Hotel');
    await page.getByLabel('Amount').fill('99');
    assert.equal(await amount.locator('.svc-measured').count(), 0);
    await page.getByRole('textbox', { name: 'Currency' }).fill('USD');
    await amount.locator('.svc-measured', { hasText: 'US$' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.locator('.svc-pane [data-value=amount]', { hasText: 'US$99.00' }).waitFor();
  }),

  inOffice(
    'an element of the application’s own is all of a form and of a record, which is saved, refused and taken back as any',
    { expects: /400|401|422/ },
    async ({ page, application }) => {
      const notes = () => application.ask<{ value: { words: string; paper: string }[] }>('/odata/v1/Notes');
      const only = async () => (await notes()).value.map(({ words, paper }) => [words, paper]);
      await come(page, application, { r: 'new' }, 'Notes');
      await page.locator('office-note').getByRole('button', { name: 'green' }).click();
      await page.keyboard.press('Control+Enter');
      await page.locator('office-note [data-wrong]', { hasText: 'needed' }).waitFor();
      assert.deepEqual(await only(), []);
      await page.getByLabel('Words').pressSequentially('Call Smith');
      await page.keyboard.press('Control+Enter');
      await said(page, 'is there');
      assert.deepEqual(await only(), [['Call Smith', 'green']]);

      await page.goto(`${application.url}${PREFIX}/?app=sets.Notes`);
      await row(page, 'Call Smith').click();
      const note = page.locator('.svc-pane office-note');
      await note.getByLabel('Words').press('End');
      await note.getByLabel('Words').pressSequentially(' today');
      await note.getByRole('button', { name: 'pink' }).click();
      await page.locator('.svc-pane-foot').getByText('2 changes').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await said(page, 'Saved 2 changes: Words, Paper');
      assert.deepEqual(await only(), [['Call Smith today', 'pink']]);
      await page.locator('.svc-notice').getByRole('button', { name: 'Undo' }).click();

      await note.locator('[aria-pressed=true]', { hasText: 'green' }).waitFor();
      assert.deepEqual(await only(), [['Call Smith', 'green']]);
    },
  ),
];
