/** Drives WebKitGTK over WebDriver, the classic protocol that its `WebKitWebDriver` speaks, with plain `fetch`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reservePort } from './port.ts';

const DRIVER = '/usr/bin/WebKitWebDriver';
const XVFB = '/usr/bin/xvfb-run';
/** How long the driver may take to listen. */
const START_MS = 20_000;

/** Inner size of the page. */
interface Size {
  width: number;
  height: number;
}

/** One page in WebKit. */
export interface WebKitPage {
  goto(url: string): Promise<void>;
  /** Runs the body of a function in the page; `arguments` holds what's passed. */
  run<Result>(script: string, ...values: unknown[]): Promise<Result>;
  /** One session of input: presses, moves and keys in the order of the list. */
  act(actions: Actions): Promise<void>;
  /** A picture as PNG. */
  picture(): Promise<Buffer>;
  end(): Promise<void>;
}

/** Sources of input with what they do, as WebDriver spells them. */
export type Actions = readonly Record<string, unknown>[];

/** Starts the driver, under a display of its own, with settings of its own. */
function startDriver(port: number, home: string): ChildProcess {
  for (const file of [DRIVER, XVFB]) {
    if (!existsSync(file)) {
      throw new Error(`\`${file}\` is missing; install Debian’s \`webkit2gtk-driver\`, \`xvfb\` and \`xauth\``);
    }
  }
  mkdirSync(join(home, 'gtk-3.0'));
  // This is where WebKitGTK reads that less motion is wanted.
  writeFileSync(join(home, 'gtk-3.0/settings.ini'), '[Settings]\ngtk-enable-animations=0\n');
  const display = ['--auto-servernum', '--server-args=-screen 0 1600x1200x24'];
  return spawn(XVFB, [...display, DRIVER, `--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    // Its own group, so that the display ends with the driver.
    detached: true,
    env: {
      ...process.env,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
      XDG_CACHE_HOME: home,
      // Without a graphics card the other way of drawing gives a frame a second.
      WEBKIT_DISABLE_DMABUF_RENDERER: '1',
    },
  });
}

/** Starts WebKit and opens a page of this size. */
export async function launchWebKit(size: Size): Promise<WebKitPage> {
  const port = await reservePort();
  const home = mkdtempSync(join(tmpdir(), 'svc-webkit-'));
  const driver = startDriver(port, home);
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: { error?: string; message?: string } | null };
    if (value?.error) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
    return value;
  };
  const stop = () => {
    if (driver.pid) process.kill(-driver.pid);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await listening(call);
    const capabilities = {
      alwaysMatch: { 'webkitgtk:browserOptions': { binary: browserBinary(), args: ['--automation'] } },
    };
    const { sessionId } = (await call('POST', '/session', { capabilities })) as { sessionId: string };
    const session = `/session/${sessionId}`;
    const page: WebKitPage = {
      goto: async (url) => void (await call('POST', `${session}/url`, { url })),
      run: async <Result>(script: string, ...values: unknown[]) =>
        (await call('POST', `${session}/execute/sync`, { script, args: values })) as Result,
      act: async (actions) => void (await call('POST', `${session}/actions`, { actions })),
      picture: async () => Buffer.from((await call('GET', `${session}/screenshot`)) as string, 'base64'),
      async end() {
        try {
          await call('DELETE', session);
        } finally {
          stop();
        }
      },
    };
    const set = (height: number) => call('POST', `${session}/window/rect`, { x: 0, y: 0, width: size.width, height });
    await set(size.height);
    // The browser's own bar comes on top.
    await set(2 * size.height - (await page.run<number>('return innerHeight')));
    return page;
  } catch (error) {
    stop();
    throw error;
  }
}

async function listening(call: (method: string, path: string) => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      await call('GET', '/status');
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Debian keeps it among the library's own programs, whose folder is named after the machine. */
function browserBinary(): string {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string] ?? process.arch;
  return `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;
}
