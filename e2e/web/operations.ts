/** What keeps an application going: jobs that wait, are ended and fail, events that nobody could handle, issuers at which people have accounts. */
import assert from 'node:assert/strict';
import type { Application } from './application.ts';
import { inShopWith } from './own.ts';
import { fresh, makeProduct, row, said, story, until } from './scenario.ts';

/** An event that can't be handled is soon given up. */
const IMPATIENT = {
  'Events:MaxAttempts': '2',
  'Events:FirstRetryDelay': '00:00:00.050',
  'Events:MaxRetryDelay': '00:00:00.050',
};

const ISSUER = {
  'Auth:Issuers:partner:Authority': 'https://login.partner.example',
  'Auth:Issuers:partner:ClientId': 'shop',
  'Auth:Issuers:partner:ClientSecret': 'only the issuer knows',
  'Auth:Issuers:partner:Title': 'Partner Ltd',
};

/** Where nothing is written any more: what an event becomes, and what is sent of it. */
const TABLES = ['webhooks_messages', 'webhooks_deliveries'];
const BROKEN = {
  sqlite: TABLES.map(
    (table) => `CREATE TRIGGER broken_${table} BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'broken'); END`,
  ),
  postgres: [
    "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$",
    ...TABLES.map((table) => `CREATE TRIGGER broken BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION broken()`),
  ],
};
const MENDED = {
  sqlite: TABLES.map((table) => `DROP TRIGGER broken_${table}`),
  postgres: TABLES.map((table) => `DROP TRIGGER broken ON ${table}`),
};

/** Makes an endpoint; gives back its id. */
async function makeEndpoint({ ask, receiver }: Application, more: object = {}): Promise<string> {
  const body = { url: receiver.url, events: ['products.*'], description: fresh('Endpoint'), ...more };
  return (await ask<{ id: string }>('/api/v1/webhooks', { method: 'POST', body })).id;
}

export const operations = [
  inShopWith(
    IMPATIENT,
    story(
      'a job that can’t get on is seen to wait, ended, and done when it is tried again',
      { later: true },
      async ({ page, application, visit }) => {
        const { receiver } = application;
        receiver.status = 500;
        const endpoint = await makeEndpoint(application);
        await application.ask(`/api/v1/webhooks/${endpoint}/test`, { method: 'POST' });
        const failed = '/api/v1/webhooks/deliveries?status=failed';
        const count = async () => (await application.ask<{ items: unknown[] }>(failed)).items.length;
        await until('a delivery has failed', async () => (await count()) === 1);
        receiver.status = 200;
        receiver.got.length = 0;

        const heard: string[] = [];
        page.on('request', (request) => heard.push(decodeURIComponent(request.url())));
        await visit({ app: 'system.jobs' });
        await application.execute(BROKEN);
        const body = { status: 'failed' };
        const { jobId } = await application.ask<{ jobId: string }>('/api/v1/webhooks/deliveries/redeliver', {
          method: 'POST',
          body,
        });
        const job = row(page, 'webhooks.redeliver');
        await job.getByText('Waiting').waitFor();
        await until('the page hears of it', () => heard.some((address) => address.includes(`job:${jobId}`)));
        await job.click();
        const pane = page.locator('.svc-pane');
        await pane.locator('.svc-prop', { hasText: 'Attempts' }).getByText(/^1 of/).waitFor();
        await pane.getByRole('button', { name: 'End' }).click();
        await said(page, 'The job was told to end');
        await job.getByText('Cancelled').waitFor();
        // What had the focus is gone; whoever works by keys is still in the pane.
        await pane.locator('h2:focus').waitFor();

        await application.execute(MENDED);
        await pane.getByRole('button', { name: 'Try again' }).click();
        await said(page, 'The job is tried again');
        await job.getByText('Finished').waitFor();
        await job.getByText('100%').waitFor();
        await until('what had failed arrives', () => receiver.got.length > 0);
      },
    ),
  ),

  inShopWith(
    IMPATIENT,
    story(
      'an event that nobody could handle is set aside, handled once more, and another one given up',
      { app: 'system.letters', once: true },
      async ({ page, application }) => {
        await page.getByText('Nothing has failed').waitFor();
        await makeEndpoint(application);
        await application.execute(BROKEN);
        const [first, second] = [fresh('First'), fresh('Second')];
        await makeProduct(application, first);
        await row(page, 'webhooks').waitFor();
        await makeProduct(application, second);
        await row(page, 'webhooks').nth(1).waitFor();
        await application.execute(MENDED);

        // The newest stands first.
        await row(page, 'webhooks').last().click();
        const pane = page.locator('.svc-pane');
        await pane.locator('.svc-prop', { hasText: 'Attempts' }).getByText('2', { exact: true }).waitFor();
        await pane.getByRole('button', { name: 'Try again' }).click();
        await said(page, 'It’s handled once more');
        await row(page, 'webhooks').nth(1).waitFor({ state: 'detached' });
        await until('it arrives', () => application.receiver.got.some(({ body }) => body.includes(first)));

        await row(page, 'webhooks').click();
        await pane.getByRole('button', { name: 'Give up' }).click();
        await page.locator('dialog[open]').getByRole('button', { name: 'Give up' }).click();
        await said(page, 'Given up');
        await page.getByText('Nothing has failed').waitFor();
        assert.ok(!application.receiver.got.some(({ body }) => body.includes(second)));
      },
    ),
  ),

  inShopWith(
    ISSUER,
    story(
      'an issuer of accounts is shown with what it has to be told, and offered at the door',
      { app: 'system.sign-in', once: true },
      async ({ page, application, stranger }) => {
        const issuer = page.getByRole('region', { name: 'Partner Ltd' });
        await issuer.getByText('https://login.partner.example').waitFor();
        await issuer.locator('.svc-prop', { hasText: 'Our name there' }).getByText('shop', { exact: true }).waitFor();
        await issuer.locator('.svc-prop', { hasText: 'Proof' }).getByText('A secret', { exact: true }).waitFor();
        await issuer.getByText('What the issuer has to be told').click();
        const { origin } = new URL(application.url);
        await issuer.getByText(`${origin}/account/external/partner/callback`).waitFor();
        await issuer.getByText(`${origin}/connect/external/partner/logout`).waitFor();
        assert.doesNotMatch(await page.locator('.svc-page').innerText(), /only the issuer knows/);
        assert.match(
          (await issuer.getByRole('link', { name: 'Try it' }).getAttribute('href')) ?? '',
          /external\/partner\?/,
        );
        const door = await stranger(`${application.url}/account/sign-in`);
        await door.getByRole('link', { name: /Partner Ltd/ }).waitFor();
      },
    ),
  ),
];
