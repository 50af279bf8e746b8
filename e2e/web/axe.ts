/** What axe says of a page as it stands. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const AXE = readFileSync(require.resolve('axe-core'), 'utf8');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    return (await axe.run({ resultTypes: ['violations'] })).violations;
  });
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${failureSummary.slice(0, 200)})`),
  );
}

/** What axe finds in the light and in the dark. */
export async function violationsInBoth(page: Page): Promise<string[]> {
  const found = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const inDark = await violations(page);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...found, ...inDark.map((one) => `dark: ${one}`)];
}

/** Holds that it finds nothing, in the light and in the dark; `what` is looked at. It finds the same in any browser: Chromium is asked. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  if (page.context().browser()?.browserType().name() !== 'chromium') return;
  assert.deepEqual(await violationsInBoth(page), [], what);
}
