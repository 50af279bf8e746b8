/** System → Webhooks, from the first endpoint to what was missed. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { addressOf, fresh, makeProduct, said, story, until } from './scenario.ts';

/** Waits until what was written of an endpoint is stored: the form stands in place of what it is about until then. */
async function isSaved(page: Page): Promise<void> {
  await page.locator('.svc-pane-form').waitFor({ state: 'detached' });
}

export const webhooks = [
  story(
    'an endpoint’s life: added, tested, broken, switched off, mended, made up for',
    { app: 'webhooks', expects: /422/, once: true },
    async ({ page, application }) => {
      const { receiver } = application;
      const name = fresh('Warehouse');
      await page.locator('.svc-head').getByRole('button', { name: 'Add endpoint' }).click();
      await page.getByLabel('Address').fill('ftp://nowhere');
      await page.locator('.svc-suggested').getByRole('button', { name: 'products.*' }).click();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.locator('[data-wrong]').first().waitFor();
      await page.getByLabel('Address').fill(receiver.url);
      await page.getByLabel('Description').fill(name);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      const secret = page.getByRole('dialog', { name: 'Signing secret' });
      const signing = await secret.getByLabel('Signing secret').inputValue();
      assert.match(signing, /^whsec_/);
      await secret.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.locator('.svc-related', { hasText: 'webhook.test' }).getByText('Delivered · 200').waitFor();
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Send an example' }).click();
      const example = page.getByRole('dialog', { name: 'Send an example' });
      await example.getByLabel('Event').selectOption('stock.low');
      const shown = await example.locator('pre').innerText();
      await example.getByRole('button', { name: 'Send an example' }).click();
      await page.locator('.svc-related', { hasText: 'stock.low' }).waitFor();
      const isExample = ({ type, body }: { type: string; body: string }) =>
        type === 'stock.low' && JSON.stringify(JSON.parse(body).data) === JSON.stringify(JSON.parse(shown));
      await until('the example arrives', () => receiver.got.some(isExample));
      await page.getByRole('button', { name: 'Show secret' }).click();
      assert.equal(await secret.getByLabel('Signing secret').inputValue(), signing);
      await secret.getByRole('button', { name: 'Done' }).click();

      // It wants some of them: a condition that fits no event is refused with what there is.
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await page.getByLabel('Only where').fill('nome eq 1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('[data-wrong]', { hasText: 'a property nome' }).waitFor();
      await page.getByLabel('Only where').fill("name ne 'nobody'");
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.svc-prop', { hasText: 'Only where' }).getByText("name ne 'nobody'").waitFor();

      // A change of the shop arrives while one looks.
      await makeProduct(application, name);
      await page.locator('.svc-related', { hasText: 'products.created' }).waitFor();
      assert.ok(receiver.got.some(({ type, body }) => type === 'products.created' && body.includes(name)));

      // The receiver breaks, and is switched off.
      receiver.status = 500;
      await makeProduct(application, name);
      await makeProduct(application, name);
      await page
        .locator('.svc-pane')
        .getByText(/^\s*Off\s*$/)
        .waitFor();
      await page.getByText(/Off since/).waitFor();
      const missed = fresh('Missed');
      await makeProduct(application, missed);

      // Mended, switched on, and told what it missed.
      receiver.status = 200;
      await page.locator('.svc-pane').getByRole('button', { name: 'Switch on' }).click();
      await said(page, 'Switched on');
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Send what was missed' }).click();
      await page.locator('dialog[open]').getByLabel('Since').fill('2026-01-01T00:00');
      await page.locator('dialog[open]').getByRole('button', { name: 'Send what was missed' }).click();
      await said(page, 'A job sends them now');
      await until('the missed event arrives', () => receiver.got.some(({ body }) => body.includes(missed)));

      // All there is of a list is sent as well.
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Send all records' }).click();
      await page.locator('dialog[open]').getByLabel('List').selectOption('products');
      await page.locator('dialog[open]').getByRole('button', { name: 'Send all records' }).click();
      await said(page, 'A job sends them, behind what is new');
      const isSnapshot = ({ type, body }: { type: string; body: string }) =>
        type === 'products.snapshot' && body.includes(missed);
      await until('the record arrives as it is', () => receiver.got.some(isSnapshot));

      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Rotate secret' }).click();
      assert.notEqual(await secret.getByLabel('Signing secret').inputValue(), signing);
      await secret.getByRole('button', { name: 'Done' }).click();
      await page.getByText(/The old secret signs, too/).waitFor();

      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Delete' }).click();
      await said(page, 'Endpoint deleted');
    },
  ),

  story(
    'an endpoint that is off is tested; what failed is found by time, counted, and sent again together',
    { later: true, once: true },
    async ({ page, application, visit }) => {
      const { receiver } = application;
      receiver.status = 200;
      const body = { url: receiver.url, events: ['stock.low'], description: fresh('Off'), isActive: false };
      const { id } = await application.ask<{ id: string }>('/api/v1/webhooks', { method: 'POST', body });
      await visit({ app: 'webhooks', state: { open: id } });
      const pane = page.locator('.svc-pane');
      await pane.getByText(/^\s*Off\s*$/).waitFor();
      receiver.got.length = 0;
      await pane.getByRole('button', { name: 'Send test event' }).click();
      await pane.locator('.svc-related').getByText('Delivered · 200').waitFor();
      assert.deepEqual(
        receiver.got.map(({ type }) => type),
        ['webhook.test'],
      );
      receiver.status = 500;
      await pane.getByRole('button', { name: 'Send test event' }).click();
      await pane.locator('.svc-related').getByText('Failed · 500').waitFor();

      // The chart and its table count what the last hours brought.
      const chart = pane.locator('.svc-chart', { hasText: 'Last 24 hours' });
      const counts = async (tone: string) => {
        const titles = await chart.locator(`rect[data-tone=${tone}] title`).allTextContents();
        return titles.reduce((sum, title) => sum + Number(/: (\d+) /.exec(title)?.[1]), 0);
      };
      await until(
        'one is delivered and one failed',
        async () => (await counts('good')) === 1 && (await counts('bad')) === 1,
      );
      await chart.locator('summary').click();
      const hours = await chart
        .locator('tbody tr')
        .evaluateAll((rows) => rows.map((one) => [...one.querySelectorAll('td')].map((cell) => cell.textContent)));
      assert.equal(hours.length, 24);
      const sum = (place: number) => hours.reduce((total, cells) => total + Number(cells[place]), 0);
      assert.deepEqual([sum(0), sum(1), sum(2)], [1, 0, 1]);

      // Found by time: what was sent before an hour is none of it.
      await pane.locator('.svc-related').getByRole('button', { name: 'Show all' }).click();
      const failed = page.locator('.svc-row[data-index]', { hasText: 'Failed' });
      await failed.waitFor();
      const find = async (from: string, to: string) => {
        await page.getByRole('button', { name: 'Find', exact: true }).click();
        await page.getByLabel('From', { exact: true }).fill(from);
        await page.getByLabel('Until', { exact: true }).fill(to);
        await page.locator('form').getByRole('button', { name: 'Find', exact: true }).click();
      };
      await find('2026-01-01T00:00', '2026-01-02T00:00');
      await page.locator('.svc-chip', { hasText: /^From 1 Jan/ }).waitFor();
      await page.getByText('No deliveries').waitFor();
      await find('2026-01-01T00:00', '');
      await page.locator('.svc-row[data-index]').nth(1).waitFor();

      // What failed is sent again together.
      receiver.status = 200;
      receiver.got.length = 0;
      await page.locator('.svc-head').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Redeliver all' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Redeliver all' }).click();
      await said(page, 'A job sends them now');
      await until('what failed arrives', () => receiver.got.length > 0);
      await page.locator('.svc-row[data-index]').nth(2).waitFor();
      assert.equal(await failed.count(), 1);
      assert.equal(receiver.got.length, 1);
      await application.ask(`/api/v1/webhooks/${id}`, { method: 'DELETE' });
    },
  ),

  story(
    'a key pair is made a new one, the old one signs until its day is over, and no more than eight do',
    { app: 'webhooks', expects: /409/ },
    async ({ page, application }) => {
      const { id, publicKey } = await application.ask<{ id: string; publicKey: string }>('/api/v1/webhooks', {
        method: 'POST',
        body: { url: application.receiver.url, events: ['stock.low'], description: fresh('Keys'), isAsymmetric: true },
      });
      await page.goto(addressOf(application.url, { app: 'webhooks', state: { open: id } }));
      const pane = page.locator('.svc-pane');
      const key = (value: string) => pane.getByText(value, { exact: true });
      await key(publicKey).waitFor();
      assert.equal(await pane.getByText(/The old key pair signs/).count(), 0);
      const rotate = async () => {
        await pane.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
        await page.getByRole('menuitem', { name: 'Rotate key pair' }).click();
        await page.locator('dialog[open]').getByRole('button', { name: 'Rotate key pair' }).click();
      };
      await rotate();
      await said(page, 'The key pair is a new one');
      await pane.getByText(/The old key pair signs, too, until/).waitFor();
      await key(publicKey).waitFor({ state: 'detached' });
      assert.match(await pane.getByText(/^whpk_/).innerText(), /^whpk_/);

      for (let retired = 1; retired < 8; retired += 1) {
        await application.ask(`/api/v1/webhooks/${id}/key-pair/rotate`, { method: 'POST' });
      }
      await rotate();
      await said(page, 'no further one can join them');
      await application.ask(`/api/v1/webhooks/${id}`, { method: 'DELETE' });
    },
  ),

  story(
    'an endpoint that its receiver fetches from has no address, and nothing that requests need',
    { app: 'webhooks', once: true },
    async ({ page, application }) => {
      const name = fresh('Fetched');
      await page.locator('.svc-head').getByRole('button', { name: 'Add endpoint' }).click();
      await page.getByLabel('The receiver fetches').check();
      await page.getByLabel('Address').waitFor({ state: 'detached' });
      // The key need not be one of this page's: whoever makes it may be another.
      const key = '01934a1c-0000-7000-8000-000000000001';
      await page.getByLabel('API key that fetches').fill(key);
      await page.locator('.svc-suggested').getByRole('button', { name: 'products.*' }).click();
      await page.getByLabel('Description').fill(name);
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('dialog', { name: 'Signing secret' }).getByRole('button', { name: 'Done' }).click();
      const feed = page.locator('.svc-prop', { hasText: 'Address' }).getByText(/\/feed$/);
      const path = await feed.innerText();
      await makeProduct(application, name);
      const waiting = page.locator('.svc-related', { hasText: 'products.created' });
      await waiting.getByText('Queued').waitFor();
      const { items, next } = await application.ask<{ items: { body: string }[]; next: string }>(path);
      assert.ok(items.some(({ body }) => body.includes(name)));
      await application.ask(`${path}?after=${next}`);
      await waiting.getByText('Delivered').waitFor();
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      assert.equal(await page.getByLabel('API key that fetches').inputValue(), key);
      await page.getByLabel('API key that fetches').fill('');
      await page.locator('.svc-more summary').click();
      await page.getByLabel('Notes for programs: name 1').waitFor();
      assert.equal(await page.getByLabel('Requests per second').count(), 0);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await isSaved(page);
      assert.equal(await page.locator('.svc-prop', { hasText: key }).count(), 0);
      const saved = await application.ask<{ receiverKeyId: string | null }>(path.replace(/\/feed$/, ''));
      assert.equal(saved.receiverKeyId, null);
      await application.ask(path.replace(/\/feed$/, ''), { method: 'DELETE' });
    },
  ),

  story(
    'the log shows what was sent and what came back, and sends it again',
    { app: 'webhooks' },
    async ({ page, application }) => {
      const { receiver } = application;
      receiver.status = 200;
      const endpoint = await application.ask<{ id: string }>('/api/v1/webhooks', {
        method: 'POST',
        body: { url: receiver.url, events: ['*'], description: fresh('Log') },
      });
      await application.ask(`/api/v1/webhooks/${endpoint.id}/test`, { method: 'POST' });
      await page.getByRole('tab', { name: 'Deliveries' }).click();
      await page.getByLabel('All endpoints').selectOption(endpoint.id);
      const first = page.locator('.svc-row[data-index="0"]', { hasText: 'webhook.test' });
      await first.getByText('Delivered · 200').waitFor();
      await first.click();
      await page.locator('pre', { hasText: '"type": "webhook.test"' }).waitFor();
      await page.locator('pre', { hasText: '"received": true' }).waitFor();
      const before = receiver.got.length;
      await page.getByRole('button', { name: 'Redeliver' }).click();
      await said(page, 'Sent again');
      await page.getByText('The original delivery').waitFor();
      await until('it arrives again', () => receiver.got.length > before);
      await page.locator('.svc-prop', { hasText: 'Event id' }).getByRole('button', { name: 'Show all' }).click();
      await page.locator('.svc-chip', { hasText: /^Event / }).waitFor();
      await page.locator('.svc-row').nth(1).waitFor();
      assert.equal(await page.locator('.svc-row[data-index]').count(), 2);
      await page
        .locator('.svc-chip')
        .getByRole('button', { name: /Remove/ })
        .click();
      // One that failed tells of each attempt.
      receiver.status = 500;
      await application.ask(`/api/v1/webhooks/${endpoint.id}/test`, { method: 'POST' });
      await first.getByText('Failed · 500').waitFor();
      receiver.status = 200;
      await first.click();
      const attempts = page.locator('.svc-exchange', { hasText: 'Attempts before' });
      await attempts.locator('summary', { hasText: 'Attempt 1' }).click();
      await attempts.getByText('Response 500').waitFor();
      await page.locator('.svc-pane').getByRole('button', { name: 'Close', exact: true }).click();
      await page.getByRole('button', { name: 'Find', exact: true }).click();
      await page.getByLabel('HTTP code').fill('503');
      await page.locator('form').getByRole('button', { name: 'Find', exact: true }).click();
      await page.locator('.svc-chip', { hasText: 'HTTP 503' }).waitFor();
      await page.getByText('No deliveries').waitFor();
      await page.getByRole('tab', { name: 'Event types' }).click();
      await page.locator('summary', { hasText: 'stock.low' }).click();
      await page.locator('details[open] pre', { hasText: '"sku"' }).first().waitFor();
      await application.ask(`/api/v1/webhooks/${endpoint.id}`, { method: 'DELETE' });
    },
  ),

  story(
    'a record leads to what was sent of it, and what waits is cancelled',
    { app: 'webhooks', expects: /422/, once: true },
    async ({ page, application }) => {
      const { receiver } = application;
      receiver.status = 200;
      const endpoint = await application.ask<{ id: string }>('/api/v1/webhooks', {
        method: 'POST',
        body: { url: receiver.url, events: ['products.*'], description: fresh('Slow'), maxPerSecond: 1 },
      });
      await makeProduct(application, fresh('First'));
      await page.goto(
        addressOf(application.url, { app: 'webhooks', state: { tab: 'deliveries', subscriptionId: endpoint.id } }),
      );
      await page.locator('.svc-row[data-index="0"]', { hasText: 'products.created' }).getByText('Delivered').waitFor();
      for (let number = 0; number < 40; number += 1) {
        await application.ask(`/api/v1/webhooks/${endpoint.id}/test`, { method: 'POST' });
      }
      const newest = page.locator('.svc-row[data-index="0"]', { hasText: 'webhook.test' });
      await newest.getByText('Queued').waitFor();
      await newest.click();
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await said(page, 'Cancelled');
      await page.getByText('Cancelled by').waitFor();
      await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' });

      await page.goto(addressOf(application.url, { app: 'webhooks', state: { open: endpoint.id } }));
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Cancel what waits' }).click();
      await page.locator('dialog[open]').getByRole('button', { name: 'Cancel what waits' }).click();
      await said(page, 'A job cancels them now');
      await page.locator('.svc-figures > div', { hasText: 'Waiting now' }).getByText('0', { exact: true }).waitFor();
      await page.locator('.svc-related').getByText('Cancelled').first().waitFor();

      await page.goto(addressOf(application.url, { app: 'webhooks', state: { open: endpoint.id } }));
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await page.locator('.svc-more summary').click();
      await page.getByLabel('Time to answer').fill('99');
      await page.getByLabel('Between attempts').fill('1, soon');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('[data-wrong]').first().waitFor();
      await page.getByLabel('Time to answer').fill('5');
      await page.getByLabel('Between attempts').fill('1, 1');
      await page.getByLabel('Notes for programs: name 1').fill('team');
      await page.getByLabel('Notes for programs: value 1').fill('stock');
      await page.getByLabel('Headers of its own: name 1').fill('X-Token');
      await page.getByLabel('Headers of its own: value 1').fill('secret');
      await page.getByRole('button', { name: 'Save' }).click();
      await said(page, 'Endpoint saved');
      const saved = await application.ask<Record<string, unknown>>(`/api/v1/webhooks/${endpoint.id}`);
      assert.deepEqual([saved.timeoutSeconds, saved.retryDelaysSeconds], [5, [1, 1]]);
      assert.deepEqual([saved.metadata, saved.headerNames], [{ team: 'stock' }, ['X-Token']]);

      // Credentials are written, and only what is no secret of them is shown again.
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await page.locator('.svc-more summary').click();
      await page.getByLabel('Carry a token').check();
      await page.getByLabel('Token address').fill(`${receiver.url}/token`);
      await page.getByLabel('Client id').fill('shop');
      await page.getByLabel('Show a certificate').check();
      await page.getByLabel('Certificate (PEM)').fill('no certificate');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.svc-field', { hasText: 'Client secret' }).locator('[data-wrong]').waitFor();
      await page.locator('.svc-field', { hasText: 'Certificate (PEM)' }).locator('[data-wrong]').waitFor();
      await page.getByLabel('Client secret').fill('hunter2');
      await page.getByLabel('Show a certificate').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.locator('.svc-prop', { hasText: 'Token' }).getByText(`${receiver.url}/token as shop`).waitFor();
      await page.locator('.svc-pane-actions').getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await page.locator('.svc-more summary').click();
      assert.equal(await page.getByLabel('Client id').inputValue(), 'shop');
      assert.equal(await page.getByLabel('Client secret').inputValue(), '');
      await page.getByLabel('Carry a token').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await isSaved(page);
      assert.equal(await page.locator('.svc-prop', { hasText: `${receiver.url}/token` }).count(), 0);
      await page.locator('.svc-related').getByRole('button', { name: 'Show all' }).click();

      await page.getByLabel('Any status').selectOption('delivered');
      await page.locator('.svc-row', { hasText: 'products.created' }).click();
      await page.locator('.svc-prop', { hasText: 'Record' }).getByRole('button', { name: 'Show all' }).click();
      await page.locator('.svc-chip', { hasText: 'Record Products' }).waitFor();
      await page.locator('.svc-row', { hasText: 'products.created' }).first().waitFor();
      await application.ask(`/api/v1/webhooks/${endpoint.id}`, { method: 'DELETE' });
    },
  ),
];
