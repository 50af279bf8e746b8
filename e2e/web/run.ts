/**
 * Plays the scenarios against the real shop: `npm run e2e` in `web/`. Words after `--` run those whose names contain one;
 * `--browser firefox` and `--database postgres` choose where, `--lanes` how many are played beside each other; `--list` names them.
 */
import { parseArgs } from 'node:util';
import { account } from './account.ts';
import type { DatabaseKind } from './application.ts';
import { days } from './days.ts';
import { door } from './door.ts';
import { history } from './history.ts';
import { startLane } from './lane.ts';
import { lists } from './lists.ts';
import { live } from './live.ts';
import { looks } from './looks.ts';
import { office } from './office.ts';
import { operations } from './operations.ts';
import { records } from './records.ts';
import type { Engine, Scenario } from './scenario.ts';
import { shapes } from './shapes.ts';
import { shop } from './shop.ts';
import { smallest } from './smallest.ts';
import { swipe } from './swipe.ts';
import { system } from './system.ts';
import { tables } from './tables.ts';
import { takenBack } from './taken-back.ts';
import { tasks } from './tasks.ts';
import { webhooks } from './webhooks.ts';
import { widths } from './widths.ts';
import { workflow } from './workflow.ts';

/** As many as keep two cores busy: while one waits for its server, another one's browser paints. */
const LANES = 2;

/** The longest are begun first. */
const all: Scenario[] = [
  days,
  webhooks,
  system,
  operations,
  door,
  account,
  lists,
  tables,
  records,
  history,
  takenBack,
  workflow,
  tasks,
  live,
  shop,
  smallest,
  office,
  looks,
  swipe,
  widths,
  shapes,
].flat();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    browser: { type: 'string', default: 'chromium' },
    database: { type: 'string', default: 'sqlite' },
    lanes: { type: 'string', default: String(LANES) },
    list: { type: 'boolean', default: false },
  },
});

function oneOf<T extends string>(what: string, value: string, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (!found) throw new Error(`there is no ${what} \`${value}\`; write one of ${known.join(', ')}`);
  return found;
}

if (values.list) {
  for (const { name } of all) console.log(name);
  process.exit();
}
const engine: Engine = oneOf('browser', values.browser, ['chromium', 'firefox']);
const kind: DatabaseKind = oneOf('database', values.database, ['sqlite', 'postgres']);
const lanes = Number(oneOf('number of lanes', values.lanes, ['1', '2', '3', '4']));
const isFirst = engine === 'chromium' && kind === 'sqlite';
const isWanted = ({ name, once = false }: Scenario) =>
  positionals.length === 0
    ? isFirst || !once
    : positionals.some((word) => name.toLowerCase().includes(word.toLowerCase()));
const chosen = all.filter(isWanted);

const secondsSince = (start: number) => (performance.now() - start) / 1000;
const waiting = [...chosen];
let passed = 0;

async function playLane(): Promise<void> {
  const lane = await startLane(engine, kind);
  for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
    const start = performance.now();
    const error = await lane.play(scenario);
    const line = `${secondsSince(start).toFixed(1).padStart(5)} s  ${scenario.name}`;
    if (error === undefined) {
      passed += 1;
      console.log(`ok      ${line}`);
    } else {
      console.log(`FAILED  ${line}\n${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  await lane.end();
}

const began = performance.now();
await Promise.all(Array.from({ length: Math.min(lanes, chosen.length) }, playLane));
console.log(`\n${passed} of ${chosen.length} scenarios passed in ${secondsSince(began).toFixed(0)} s`);
// What a scenario that failed left open doesn't keep the run from its end.
process.exit(passed < chosen.length || chosen.length === 0 ? 1 : 0);
