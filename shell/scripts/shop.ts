/** The project's own server for the scenarios: the sample shop with its OpenID provider and its browser host. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STARTING_MS = 90_000;
const PASSWORD = 'a long enough secret';

/** A shop at work. */
export interface Shop {
  url: string;
  password: string;
  /** Asks the API as the administrator. */
  api<Answer = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Answers what the shop has an answer for, as a proxy in front of it does; `host` is the address that the shop sees. */
  behind(request: IncomingMessage, response: ServerResponse, host?: string): boolean;
  end(): Promise<void>;
}

/** Waits until the shop says where it is. */
function begin(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the shop did not start:\n${said}`)), STARTING_MS);
    const hear = (part: Buffer) => {
      said += part;
      const url = /shop is ready: (http:\/\/[\d.:]+)/.exec(said)?.[1];
      if (!url) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the shop ended with ${code}:\n${said}`)));
  });
}

/** Starts the program on a database of its own; access tokens live for a minute, the least that it allows. */
export async function startShop(program: string): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'shell-shop-'));
  const key = `svck_${randomBytes(32).toString('hex')}`;
  const settings = {
    Svc__Http__Listen: '127.0.0.1:0',
    Svc__Database__Url: `sqlite://${join(folder, 'shop.db')}`,
    Svc__Setup__Organisation: 'Example Ltd',
    Svc__Setup__AdminEmail: 'ada@example.com',
    Svc__Setup__AdminPassword: PASSWORD,
    Svc__Setup__ApiKey: key,
    Svc__OpenId__AccessTokenLifetime: '00:01:00',
  };
  const child = spawn(program, ['serve'], {
    cwd: folder,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = async () => {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill()) await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const url = await begin(child).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  return {
    url,
    password: PASSWORD,
    async api<Answer>(method: string, path: string, body?: unknown) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (response.status === 204 ? undefined : await response.json()) as Answer;
    },
    behind(request, response, host) {
      if (!/^\/(api|bff|account|connect|\.well-known)\//.test(request.url ?? '')) return false;
      const headers = { ...request.headers, ...(host === undefined ? {} : { host }) };
      const onward = ask(`${url}${request.url}`, { method: request.method ?? 'GET', headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
      return true;
    },
    end,
  };
}
