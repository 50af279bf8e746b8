/** The automated check, and what it can't see: names, roles and states of what is on screen. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { closeAll, openApp, story } from './scenario.ts';

const AXE = readFileSync(new URL('../../shell/node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

interface Violation {
  id: string;
  help: string;
  nodes: { target: unknown[]; failureSummary?: string }[];
}

/** Runs axe on the page, own frames left out (they are the apps'). */
async function check(page: Page, where: string): Promise<void> {
  await page.waitForTimeout(250);
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(context: object, options: object): Promise<{ violations: Violation[] }> };
    };
    return (await axe.run({ exclude: [['iframe']] }, { iframes: false })).violations;
  });
  const text = violations.map(
    (one) =>
      `${one.id}: ${one.help}\n    ${one.nodes.map((node) => `${String(node.target)} ${node.failureSummary ?? ''}`).join('\n    ')}`,
  );
  assert.deepEqual(text, [], where);
}

const LOOKS = [
  ['light', {}],
  ['dark', { dark: true }],
  ['phone', { width: 390, height: 844, touch: true }],
] as const;

export const accessibility = LOOKS.flatMap(([look, how]) => [
  story(`axe: desktop, start, search, menu (${look})`, how, async ({ page }) => {
    await check(page, 'desktop');
    await page.locator('.shell-start-button').click();
    await check(page, 'start menu');
    await page.getByRole('combobox').fill('no');
    await page.getByRole('option').first().waitFor();
    await check(page, 'search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await openApp(page, 'clock');
    await page.keyboard.press('Alt+Shift+M');
    await check(page, 'window menu');
  }),
  story(`axe: windows, settings, web link (${look})`, how, async ({ page }) => {
    for (const section of ['appearance', 'taskbar', 'language', 'keyboard', 'about']) {
      await openApp(page, 'shell.settings', { section });
      await check(page, `settings, ${section}`);
    }
    await openApp(page, 'shell.weblink');
    await check(page, 'web link');
    for (const id of ['notes', 'people', 'tasks', 'contact', 'calendar', 'handbook']) await openApp(page, id);
    await check(page, 'apps');
  }),
  story(`axe: pilot, folder, preview, dialog (${look})`, how, async ({ page }) => {
    await openApp(page, 'clock');
    await openApp(page, 'sales');
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    await check(page, 'pilot');
    await page.keyboard.press('Escape');
    await closeAll(page);
    await page.locator('.shell-tile').first().click({ button: 'right' });
    await page.getByRole('menu').getByText('Move to folder').click();
    await page.getByRole('menu').last().getByText('New folder').click();
    await page.locator('.shell-tile[data-folder]').click();
    await check(page, 'folder');
    await page.keyboard.press('Escape');
    await page.locator('.shell-tile[data-folder]').click({ button: 'right' });
    await page.getByRole('menu').getByText('Rename').click();
    await page.getByRole('dialog').waitFor();
    await check(page, 'dialog');
  }),
]);
