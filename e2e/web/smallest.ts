/** The smallest example: what a set and a script give, where nobody has written a line for the client. */
import assert from 'node:assert/strict';
import { startApplication } from './application.ts';
import { row, said, story, type Scenario } from './scenario.ts';

/** Plays a scenario in front of an application of its own. */
function inLending(scenario: Scenario): Scenario {
  return {
    ...scenario,
    async run({ signedIn: _ofTheShop, ...world }) {
      const application = await startApplication(world.database, 'lending');
      try {
        await scenario.run({ ...world, application });
      } finally {
        await application.end();
      }
    },
  };
}

export const smallest = [
  inLending(
    story('a new set is an app, and a module’s script is one, too', {}, async ({ page, application }) => {
      await page.locator('.shell-tile', { hasText: /^\s*Tools\s*$/ }).click();
      const tools = page.locator('.shell-window[data-app="sets.Tools"]');
      await tools.getByRole('button', { name: 'New tool' }).first().click();
      await tools.getByLabel('Name').fill('Saw');
      await page.keyboard.press('Control+Enter');
      await said(page, 'Saw is there');
      await tools.locator('.svc-pane h2', { hasText: 'Saw' }).waitFor();

      // What the program alone changes isn't written here, and its action has a form.
      assert.equal(await tools.getByRole('button', { name: 'Edit Lent to' }).count(), 0);
      await tools.getByRole('button', { name: 'Lend', exact: true }).click();
      const lending = page.getByRole('dialog', { name: 'Lend' });
      await lending.getByLabel('Name').fill('Grace');
      await lending.getByRole('button', { name: 'Lend' }).click();
      await said(page, 'Lend: done');
      await tools.locator('[data-property=lentTo]', { hasText: 'Grace' }).waitFor();

      // What somebody else adds is there while one looks.
      await application.ask('/odata/v1/Tools', { method: 'POST', body: { name: 'Drill' } });
      await row(page, 'Drill').waitFor();

      await page.keyboard.press('Alt+Shift+d');
      await page.locator('.shell-tile', { hasText: 'Lent tools' }).click();
      await page.locator('.shell-window[data-app=lending]').getByText('Saw: Grace').waitFor();
    }),
  ),

  inLending(
    story('what a module brings speaks German', { locale: 'de-DE' }, async ({ page }) => {
      await page.locator('.shell-tile', { hasText: 'Werkzeuge' }).waitFor();
      await page.locator('.shell-tile', { hasText: 'Verliehen' }).waitFor();
    }),
  ),
];
