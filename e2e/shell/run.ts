/**
 * Plays the scenarios in Debian's Chromium or Firefox with real pointer, touch and keyboard events.
 *
 * `npm run e2e` in `shell/` runs all; a word after `--` runs those whose name contains it; `--list` names them.
 */
import { parseArgs } from 'node:util';
import { engineNamed, keyOf, preferencesOf, start, type Engine, type World } from './browser.ts';
import type { Scenario } from './scenario.ts';
import { SKIPPED } from './skipped.ts';
import { accessibility } from './accessibility.ts';
import { access } from './access.ts';
import { apps } from './apps.ts';
import { cost } from './cost.ts';
import { desk } from './desk.ts';
import { definitions } from './definitions.ts';
import { drawn } from './drawn.ts';
import { grid } from './grid.ts';
import { keyboard } from './keyboard.ts';
import { identity } from './identity.ts';
import { oidc } from './oidc.ts';
import { packages } from './package.ts';
import { overview } from './overview.ts';
import { phone } from './phone.ts';
import { profiles } from './profiles.ts';
import { remote } from './remote.ts';
import { server } from './server.ts';
import { settings } from './settings.ts';
import { shop } from './shop.ts';
import { signin } from './signin.ts';
import { windows } from './windows.ts';

const SCENARIO_TIMEOUT_MS = 120_000;
/** Scenarios played at a time, each in a context of its own. */
const WORKERS = 2;

const all: Scenario[] = [
  windows,
  cost,
  desk,
  drawn,
  keyboard,
  grid,
  apps,
  definitions,
  packages,
  server,
  overview,
  settings,
  profiles,
  signin,
  access,
  identity,
  remote,
  oidc,
  phone,
  accessibility,
  // These need the server's program.
  process.env.SVC_SHOP_BINARY ? shop : [],
].flat();
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { browser: { type: 'string', default: 'chromium' }, list: { type: 'boolean', default: false } },
});
const engine = engineNamed(values.browser);
const skipped = SKIPPED[engine];
/** What promises the same in any browser: what axe says of a page, what the shell makes of rights, manifests, sessions and definitions, and what it asks servers. */
const SAME_ANYWHERE = [
  'axe: ',
  'request: ',
  'httpProfileStore: ',
  'access: ',
  'refresh: ',
  '401: ',
  'login: by the API',
  'logout: ',
  'guest: ',
  'identity: the local provider',
  'identity: whoever leaves',
  'identity: on a server',
  'app: title',
  'app: hidden',
  'app: a module’s',
  'context: ',
  'options: ',
  'openApp: ',
  'live: ',
  'failure: ',
  'onClose: ',
  'input: wrong',
];
const beginningWith = (beginning: string) => all.filter(({ name }) => name.startsWith(beginning));
const once = new Set([...access, ...remote, ...SAME_ANYWHERE.flatMap(beginningWith)]);
for (const beginning of SAME_ANYWHERE) {
  if (beginningWith(beginning).length === 0) throw new Error(`no scenario’s name begins with \`${beginning}\``);
}
for (const name of Object.keys(skipped)) {
  if (!all.some((scenario) => scenario.name === name))
    throw new Error(`\`${name}\` is skipped, but there is no such scenario`);
}
const wanted = positionals[0]?.toLowerCase() ?? '';
/** Chromium plays all, and another browser the rest of them, or what is asked for by name. */
const isPlayed = (scenario: Scenario) => engine === 'chromium' || wanted !== '' || !once.has(scenario);
const chosen = all
  .filter(({ name }) => name.toLowerCase().includes(wanted) && !(name in skipped))
  .filter((scenario) => isPlayed(scenario));
const failed: string[] = [];
const began = performance.now();
/** In Firefox each set of preferences is a browser of its own: those who share it come together. */
const preference = ({ how }: Scenario) => keyOf(preferencesOf(how ?? {}));
const waiting = [...Map.groupBy(chosen, preference).values()].flat();

async function play(scenario: Scenario, world: World): Promise<void> {
  const from = performance.now();
  const took = () => `${((performance.now() - from) / 1000).toFixed(1).padStart(5)} s`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`took longer than ${SCENARIO_TIMEOUT_MS / 1000} s`)),
      SCENARIO_TIMEOUT_MS,
    );
  });
  try {
    await Promise.race([scenario.run(world), limit]);
    console.log(`ok      ${took()}  ${scenario.name}`);
  } catch (error) {
    failed.push(scenario.name);
    console.log(`FAILED  ${took()}  ${scenario.name}\n${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(timer);
    await world.clear();
  }
}

/** Each has a browser of its own: Firefox lets only one page at a time have the focus. */
async function work(browser: Engine): Promise<void> {
  const world = await start(browser);
  for (let next = waiting.shift(); next; next = waiting.shift()) await play(next, world);
  await world.end();
}

async function playAll(): Promise<void> {
  await Promise.all(Array.from({ length: WORKERS }, () => work(engine)));
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`\n${chosen.length - failed.length} of ${chosen.length} scenarios passed in ${seconds} s`);
  if (failed.length > 0 || chosen.length === 0) process.exitCode = 1;
}

if (values.list) for (const { name } of all) console.log(name);
else await playAll();
