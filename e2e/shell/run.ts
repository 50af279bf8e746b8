/**
 * Plays the scenarios in Debian's Chromium with real pointer, touch and keyboard events.
 *
 * `npm run e2e` in `shell/` runs all; a word after `--` runs those whose name contains it.
 */
import { start } from './browser.ts';
import type { Scenario } from './scenario.ts';
import { accessibility } from './accessibility.ts';
import { apps } from './apps.ts';
import { grid } from './grid.ts';
import { keyboard } from './keyboard.ts';
import { overview } from './overview.ts';
import { phone } from './phone.ts';
import { profiles } from './profiles.ts';
import { settings } from './settings.ts';
import { windows } from './windows.ts';

const SCENARIO_TIMEOUT_MS = 45_000;

const all: Scenario[] = [windows, keyboard, grid, apps, overview, settings, profiles, phone, accessibility].flat();
const wanted = process.argv[2]?.toLowerCase() ?? '';
const chosen = all.filter((scenario) => scenario.name.toLowerCase().includes(wanted));
const world = await start();
const failed: string[] = [];
const began = performance.now();
for (const scenario of chosen) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${SCENARIO_TIMEOUT_MS / 1000} s`)), SCENARIO_TIMEOUT_MS);
  });
  try {
    await Promise.race([scenario.run(world), limit]);
    console.log(`ok      ${scenario.name}`);
  } catch (error) {
    failed.push(scenario.name);
    console.log(`FAILED  ${scenario.name}\n${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(timer);
    for (const context of world.browser.contexts()) await context.close();
  }
}
await world.end();
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(`\n${chosen.length - failed.length} of ${chosen.length} scenarios passed in ${seconds} s`);
if (failed.length > 0 || chosen.length === 0) process.exitCode = 1;
