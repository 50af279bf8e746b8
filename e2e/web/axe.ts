/** What axe says of a page as it stands. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What of a page is other in the dark than in the light. */
const BY_COLOUR = ['color-contrast', 'link-in-text-block'];

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds, by some of its rules or by all that it has unless it's told otherwise. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // It is large, and stays in a page.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const found = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    return (await axe.run({ resultTypes: ['violations'], ...(runOnly ? { runOnly } : {}) })).violations;
  }, rules);
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${failureSummary.slice(0, 200)})`),
  );
}

/** What axe finds in the light and in the dark. */
export async function violationsInBoth(page: Page): Promise<string[]> {
  const found = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const inDark = await violations(page, BY_COLOUR);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...found, ...inDark.map((one) => `dark: ${one}`)];
}

/** Holds that it finds nothing, in the light and in the dark; `what` is looked at. It finds the same in any browser: Chromium is asked. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  if (page.context().browser()?.browserType().name() !== 'chromium') return;
  assert.deepEqual(await violationsInBoth(page), [], what);
}
