/** A real application on a database of its own, and the client that it carries: the shop with its sample data, or the smallest example. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { throwAwayDatabase } from '../../web/scripts/postgres.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const STARTING_MS = 90_000;

export type DatabaseKind = 'sqlite' | 'postgres';

/** The examples that pages are played in front of. */
export type Example = 'shop' | 'lending' | 'office';

/** A receiver of webhooks that answers as it's told. */
export interface Receiver {
  readonly url: string;
  /** The status that it answers with. */
  status: number;
  /** What came, the newest last. */
  readonly got: { type: string; body: string }[];
}

/** What a context knows of somebody who has signed in. */
export type SignedIn = NonNullable<BrowserContextOptions['storageState']>;

/** What runs. */
export interface Application {
  readonly url: string;
  /** The program's process. */
  readonly pid: number;
  /** The administrator. */
  readonly person: Person;
  readonly receiver: Receiver;
  /** The file of the database, on SQLite. */
  readonly file: string | undefined;
  /** Runs statements in the database, past the application. */
  execute(statements: Record<DatabaseKind, readonly string[]>): Promise<void>;
  /** Asks the API as the administrator, past the client. */
  ask<T = Record<string, unknown>>(path: string, init?: { method?: string; body?: unknown }): Promise<T>;
  end(): Promise<void>;
}

/** How somebody signs in. */
export interface Person {
  readonly email: string;
  readonly password: string;
}

/** Signs in on the page that the application shows to whoever comes without. */
export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.locator('[name=email]').fill(email);
  await page.locator('[name=password]').fill(password);
  await page.locator('form .primary').click();
  await page.locator('.shell-taskbar, .svc-app').first().waitFor();
}

/** Comes through the front door once, for contexts that shall begin behind it. */
export async function enter(browser: Browser, application: Application): Promise<SignedIn> {
  const context = await browser.newContext({ locale: 'en-GB', serviceWorkers: 'block' });
  const page = await context.newPage();
  await page.goto(application.url);
  await signIn(page, application.person);
  const { cookies } = await context.storageState();
  await context.close();
  return { cookies, origins: [] };
}

/** The program, as the tests of the project build it: beside the shop, where that is somewhere else. */
function program(name: Example): string {
  const { SVC_SHOP_BINARY, CARGO_TARGET_DIR } = process.env;
  const folder = SVC_SHOP_BINARY ? dirname(SVC_SHOP_BINARY) : join(CARGO_TARGET_DIR ?? join(root, 'target'), 'debug');
  const path = name === 'shop' && SVC_SHOP_BINARY ? SVC_SHOP_BINARY : join(folder, name);
  if (!existsSync(path)) throw new Error(`there is no program at ${path}; build it with \`cargo build -p ${name}\``);
  return path;
}

async function startReceiver(): Promise<{ receiver: Receiver; server: Server }> {
  const receiver = { url: '', status: 200, got: [] as Receiver['got'] };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part;
    });
    request.on('end', () => {
      const { type } = JSON.parse(body) as { type: string };
      receiver.got.push({ type, body });
      response.writeHead(receiver.status, { 'content-type': 'application/json' }).end('{"received":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return { receiver, server };
}

/** Where the program says it is, once it has begun. */
function begin(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the program did not start:\n${said}`)), STARTING_MS);
    const hear = (part: Buffer) => {
      said += part;
      const url = /is ready: (http:\/\/[\d.:]+)/.exec(said)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}:\n${said}`)));
  });
}

/** Starts a program in a folder with settings, and waits until it's ready. */
export async function startProgram(
  name: Example,
  folder: string,
  words: string[],
  settings: Record<string, string>,
): Promise<{ url: string; pid: number; end(): Promise<void> }> {
  const environment = Object.entries(settings).map(([name, value]) => [`Svc__${name.replaceAll(':', '__')}`, value]);
  const child = spawn(program(name), words, {
    cwd: folder,
    env: { ...process.env, ...Object.fromEntries(environment) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A scenario that fails may never come to its end.
  const kill = () => child.kill();
  process.once('exit', kill);
  const url = await begin(child);
  return {
    url,
    pid: child.pid ?? 0,
    async end() {
      process.off('exit', kill);
      child.removeAllListeners('exit');
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    },
  };
}

/** What the shop is told beyond what any application is: its sample data, and webhooks that reach the receiver and give up soon. */
function settingsOfShop(receiver: Receiver, hasSample: boolean): Record<string, string> {
  return {
    'Sample:Data': String(hasSample),
    'Webhooks:RequireHttps': 'false',
    'Webhooks:AllowPrivateNetworks': 'true',
    'Webhooks:AllowedPorts:0': new URL(receiver.url).port,
    'Webhooks:FirstRetryDelay': '00:00:00.100',
    'Webhooks:MaxRetryDelay': '00:00:00.100',
    'Webhooks:MaxAttempts': '2',
    'Webhooks:DisableAfterFailures': '2',
  };
}

/** Starts all of it, with `more` settings; what is not set up yet has no administrator, no key and no sample. */
export async function startApplication(
  kind: DatabaseKind,
  name: Example = 'shop',
  isSetUp = true,
  more: Record<string, string> = {},
): Promise<Application> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-web-'));
  const database = kind === 'postgres' ? await throwAwayDatabase() : undefined;
  const file = join(folder, `${name}.db`);
  const { receiver, server: receiving } = await startReceiver();
  const person = { email: 'ada@shop.example', password: randomBytes(18).toString('base64url') };
  const key = `svck_${randomBytes(32).toString('hex')}`;
  const setUp = {
    'Setup:Organisation': 'Sample Wholesale',
    'Setup:AdminEmail': person.email,
    'Setup:AdminPassword': person.password,
    'Setup:ApiKey': key,
  };
  const settings = {
    ...(isSetUp ? setUp : {}),
    'Http:Listen': '127.0.0.1:0',
    'Database:Url': database?.url ?? `sqlite://${file}`,
    ...(name === 'shop' ? settingsOfShop(receiver, isSetUp) : {}),
    ...more,
  };
  const running = await startProgram(name, folder, ['serve'], settings);
  const { url, pid } = running;
  return {
    url,
    pid,
    person,
    receiver,
    file: database ? undefined : file,
    async execute(statements) {
      if (database) await database.run(...statements.postgres);
      else {
        const opened = new DatabaseSync(file);
        // The application writes, too.
        opened.exec('PRAGMA busy_timeout = 10000');
        for (const statement of statements.sqlite) opened.exec(statement);
        opened.close();
      }
    },
    async ask<T>(path: string, { method = 'GET', body }: { method?: string; body?: unknown } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (response.status === 204 ? undefined : await response.json()) as T;
    },
    async end() {
      await running.end();
      receiving.close();
      receiving.closeAllConnections();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
