/**
 * A list of 100,000 customers beside the same in Directus' studio: from an empty cache to its first rows, and what it transfers. Both
 * take turns, each by the address of its list, on SQLite. `npm run bench:directus` in `web/`, with `DIRECTUS` naming a folder
 * in which `npm install directus sqlite3` was done. Directus is started without telemetry.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Browser } from 'playwright-core';
import { enter, startApplication, type SignedIn } from '../../e2e/web/application.ts';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { reservePort } from '../../shell/scripts/port.ts';
import { coldPage } from './cold.ts';
import { atRest, fillCustomers, median, ROWS } from './rows.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const STARTING_MS = 120_000;

/** The columns that the shop's customers have for people. */
const TEXTS = ['number', 'name', 'email', 'phone', 'city', 'country'];

/** A list by its address, as somebody who has signed in. */
interface Listed {
  readonly name: string;
  readonly url: string;
  /** Somebody who has signed in; of Directus, whose app renews what it came with, each time anew. */
  enter(): Promise<SignedIn>;
  /** What its first row is found by. */
  readonly row: string;
}

interface Directus {
  readonly listed: Listed;
  readonly version: string;
  end(): void;
}

async function startDirectus(folder: string): Promise<Directus> {
  const home = mkdtempSync(join(tmpdir(), 'svc-directus-'));
  const port = await reservePort();
  const url = `http://127.0.0.1:${port}`;
  const file = join(home, 'data.db');
  const admin = { email: 'ada@example.com', password: randomBytes(18).toString('base64url') };
  const program = join(folder, 'node_modules/directus');
  const options = {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: url,
      SECRET: randomBytes(32).toString('hex'),
      DB_CLIENT: 'sqlite3',
      DB_FILENAME: file,
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      TELEMETRY: 'false',
      LOG_LEVEL: 'error',
    },
    stdio: 'inherit' as const,
  };
  const node = process.env.DIRECTUS_NODE ?? process.execPath;
  const { status } = spawnSync(node, [join(program, 'cli.js'), 'bootstrap'], options);
  if (status !== 0) throw new Error(`Directus in ${folder} couldn't be set up`);
  const running = spawn(node, [join(program, 'cli.js'), 'start'], options);
  const end = (): void => {
    running.kill();
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await answers(`${url}/server/ping`, running);
    await fill(url, file, admin);
    const { version } = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as { version: string };
    return {
      listed: {
        name: 'Directus',
        url: `${url}/admin/content/customers`,
        enter: () => inBrowser(url, admin),
        row: 'tbody tr',
      },
      version,
      end,
    };
  } catch (error) {
    end();
    throw error;
  }
}

async function answers(url: string, running: ChildProcess): Promise<void> {
  const until = Date.now() + STARTING_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    if (running.exitCode !== null || Date.now() > until) throw new Error(`${url} doesn't answer`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

interface Admin {
  readonly email: string;
  readonly password: string;
}

const SESSION = 'directus_session_token';

/** What the cookie of somebody who has signed in holds. */
async function signIn(url: string, admin: Admin): Promise<string> {
  const session = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...admin, mode: 'session' }),
  });
  const cookie = session.headers.getSetCookie().find((it) => it.startsWith(`${SESSION}=`));
  if (!cookie) throw new Error(`nobody can sign in to Directus: ${session.status}`);
  return cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'));
}

async function inBrowser(url: string, admin: Admin): Promise<SignedIn> {
  const value = await signIn(url, admin);
  const { hostname: domain } = new URL(url);
  const kept = { name: SESSION, value, domain, path: '/', expires: -1 };
  return { cookies: [{ ...kept, httpOnly: true, secure: false, sameSite: 'Lax' as const }], origins: [] };
}

/** Makes the collection and its records. */
async function fill(url: string, file: string, admin: Admin): Promise<void> {
  const value = await signIn(url, admin);
  const made = await fetch(`${url}/collections`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `${SESSION}=${value}` },
    body: JSON.stringify({
      collection: 'customers',
      meta: {},
      schema: {},
      fields: [
        { field: 'id', type: 'uuid', schema: { is_primary_key: true }, meta: { hidden: true } },
        ...TEXTS.map((field) => ({ field, type: 'string', schema: {}, meta: { interface: 'input' } })),
      ],
    }),
  });
  if (!made.ok) throw new Error(`the collection wasn't made: ${await made.text()}`);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA busy_timeout = 10000');
  database.exec(`
    INSERT INTO customers (id, ${TEXTS.join(', ')})
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})
    SELECT lower(printf('%s-%s-4%s-8%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2),
      substr(hex(randomblob(2)), 2), hex(randomblob(6)))),
      'B-' || n, 'Customer ' || n, NULL, NULL, 'Brecon', 'GB' FROM numbers`);
  database.close();
}

/** From an empty cache to the first row, and all that came until nothing comes any more. */
async function open(browser: Browser, { url, enter, row }: Listed): Promise<{ ms: number; bytes: number }> {
  const { page, transferred } = await coldPage(browser, await enter());
  const began = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(row).first().waitFor();
  const ms = performance.now() - began;
  const result = { ms, bytes: await transferred() };
  await page.context().close();
  return result;
}

async function measure(browser: Browser, ours: Listed, { listed, version }: Directus): Promise<void> {
  const taken = new Map<Listed, { ms: number; bytes: number }[]>([
    [ours, []],
    [listed, []],
  ]);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [one, times] of taken) times.push(await open(browser, one));
  }
  for (const [{ name }, times] of taken) {
    const ms = median(times.map((it) => it.ms)).toFixed(0);
    const kilobytes = (median(times.map((it) => it.bytes)) / 1024).toFixed(0);
    console.log(`${name.padEnd(10)} ${ms.padStart(7)} ms ${kilobytes.padStart(7)} KB`);
  }
  const [mine, theirs] = [taken.get(ours) ?? [], taken.get(listed) ?? []];
  const ratios = (part: 'ms' | 'bytes'): number =>
    median(mine.map((it, round) => (theirs[round]?.[part] ?? Number.NaN) / it[part]));
  console.log(`Directus ${version} takes ${ratios('ms').toFixed(1)} times as long (goal: at least 3)`);
  console.log(`and transfers ${ratios('bytes').toFixed(1)} times as much (goal: at least 3)`);
}

const { DIRECTUS } = process.env;
if (!DIRECTUS) throw new Error('`DIRECTUS` names no folder; do `npm install directus sqlite3` in one');
const browser = await launchChromium();
const application = await startApplication('sqlite');
try {
  fillCustomers(application.file ?? '');
  await atRest(application.pid);
  const directus = await startDirectus(DIRECTUS);
  try {
    const person = await enter(browser, application);
    const ours = {
      name: 'Svc',
      url: `${application.url}/?app=sets.Customers`,
      enter: async () => person,
      row: '.svc-row[data-index="0"]',
    };
    await measure(browser, ours, directus);
  } finally {
    directus.end();
  }
} finally {
  await browser.close();
  await application.end();
}
