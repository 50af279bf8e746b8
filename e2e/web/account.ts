/** The door and the account: pages that the server makes, before and beside the desktop. */
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { fromNothing } from './own.ts';
import { fresh, story, type Opening, type Scenario } from './scenario.ts';

const SHAPES: readonly [string, Opening][] = [
  ['light and dark', {}],
  ['German on a phone', { width: 390, height: 844, touch: true, locale: 'de-DE' }],
];

/** Whoever is signed in finds these below `/account`. */
const OWN = ['', '/details', '/passkeys', '/second-step', '/accounts', '/organisation', '/sign-out'];

/** Sends the form as it stands, and waits for what the server says of it. */
async function refuse(page: Page): Promise<void> {
  await page.locator('form .primary').first().click();
  await page.locator('[role=alert], [aria-invalid=true], .problem').first().waitFor();
}

async function write(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.locator(`[name=${name}]`).fill(value);
}

export const account: Scenario[] = SHAPES.map(([shape, how]) =>
  fromNothing(
    story(
      `axe finds nothing: the door and the account, ${shape}`,
      { ...how, once: true, stranger: true, later: true, expects: /401|403|422|400/ },
      async ({ page, stranger, application: { url, person } }) => {
        await page.goto(`${url}/account/set-up`);
        await assertAccessible(page, 'set-up');
        await write(page, { organisation: 'Harbour Supplies', displayName: 'Ada', email: person.email });
        await write(page, { password: person.password, repeated: `${person.password}?` });
        await refuse(page);
        await assertAccessible(page, 'set-up, refused');
        await write(page, { password: person.password, repeated: person.password });
        await page.locator('form .primary').click();
        await page.locator('.shell-taskbar').waitFor();
        for (const path of OWN) {
          await page.goto(`${url}/account${path}`);
          await page.locator('h1').first().waitFor();
          await assertAccessible(page, `/account${path}`);
        }

        const other = await stranger(`${url}/account/sign-in`, how);
        await assertAccessible(other, 'sign-in');
        await write(other, { email: person.email, password: 'not that' });
        await refuse(other);
        await assertAccessible(other, 'sign-in, refused');
        for (const path of ['/forgotten', '/recovery', '/invitation?code=none', '/reset?code=none']) {
          await other.goto(`${url}/account${path}`);
          await other.locator('h1').first().waitFor();
          await assertAccessible(other, `/account${path}`);
        }

        // An invitation as whoever is invited finds it.
        const email = `${fresh('ben').toLowerCase()}@shop.example`;
        await page.goto(url);
        const link = await page.evaluate(
          async ([address, mail]) => {
            const headers = { 'content-type': 'application/json', 'X-CSRF': '1' };
            const body = JSON.stringify({ displayName: 'Ben', email: mail, roles: [] });
            const answer = await fetch(address, { method: 'POST', headers, body });
            return ((await answer.json()) as { invitationLink: string }).invitationLink;
          },
          [`${url}/api/v1/identity/users`, email] as const,
        );
        const { pathname, search } = new URL(link);
        await other.goto(url + pathname + search);
        await other.locator('input[type=password]').first().waitFor();
        await assertAccessible(other, 'an invitation');
      },
    ),
  ),
);
