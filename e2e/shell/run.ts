/**
 * Plays the scenarios in Debian's Chromium with real pointer, touch and keyboard events.
 *
 * `npm run e2e` in `shell/` runs all; a word after `--` runs those whose name contains it; `--list` names them.
 */
import type { BrowserContext } from 'playwright-core';
import { start } from './browser.ts';
import type { Scenario } from './scenario.ts';
import { accessibility } from './accessibility.ts';
import { apps } from './apps.ts';
import { cost } from './cost.ts';
import { definitions } from './definitions.ts';
import { grid } from './grid.ts';
import { keyboard } from './keyboard.ts';
import { overview } from './overview.ts';
import { phone } from './phone.ts';
import { profiles } from './profiles.ts';
import { server } from './server.ts';
import { settings } from './settings.ts';
import { windows } from './windows.ts';

const SCENARIO_TIMEOUT_MS = 120_000;
/** Scenarios played at a time, each in a context of its own. */
const WORKERS = 2;

const all: Scenario[] = [
  windows,
  cost,
  keyboard,
  grid,
  apps,
  definitions,
  server,
  overview,
  settings,
  profiles,
  phone,
  accessibility,
].flat();
const wanted = process.argv[2]?.toLowerCase() ?? '';
if (wanted === '--list') {
  for (const { name } of all) console.log(name);
  process.exit();
}
const chosen = all.filter((scenario) => scenario.name.toLowerCase().includes(wanted));
const world = await start();
const failed: string[] = [];
const began = performance.now();
const waiting = [...chosen];

async function play(scenario: Scenario): Promise<void> {
  const own = { ...world, contexts: [] };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`took longer than ${SCENARIO_TIMEOUT_MS / 1000} s`)),
      SCENARIO_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([scenario.run(own), limit]);
    console.log(`ok      ${scenario.name}`);
  } catch (error) {
    failed.push(scenario.name);
    console.log(`FAILED  ${scenario.name}\n${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(timer);
    for (const context of own.contexts as BrowserContext[]) await context.close();
  }
}

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) await play(next);
}

await Promise.all(Array.from({ length: WORKERS }, work));
await world.end();
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(`\n${chosen.length - failed.length} of ${chosen.length} scenarios passed in ${seconds} s`);
if (failed.length > 0 || chosen.length === 0) process.exitCode = 1;
