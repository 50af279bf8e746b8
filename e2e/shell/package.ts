/** The three ways in which the shell comes to a page, each from the package as it would be published. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { pack } from '../../shell/scripts/pack.ts';
import { bundle } from '../../shell/scripts/bundler.ts';
import type { World } from './browser.ts';
import { frames, type Scenario } from './scenario.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const APP = `Shell.registerApp({ id: 'one', title: 'One', icon: 'clock.svg', render: () => document.createTextNode('here') });`;

/** A page with scripts and styles by address. */
function html(head: string, body = '<shell-desktop></shell-desktop>'): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,">${head}<body>${body}</body></html>`;
}

/** Serves a folder as it lies there. */
async function host(
  folder: string,
  headers: (path: string) => Record<string, string>,
): Promise<{ server: Server; url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    asked.push(path);
    try {
      const body = readFileSync(join(folder, path.endsWith('/') ? `${path}index.html` : path));
      const type = TYPES[extname(path) || '.html'] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type, ...headers(path) }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** No inline code, no strings into HTML; module, styles and icons come from `source`. */
function policy(source: string): Record<string, string> {
  const parts = [`default-src 'none'`, `script-src 'self' ${source}`, `style-src 'self' ${source}`];
  const trusted = `require-trusted-types-for 'script'; trusted-types svc-shell`;
  return { 'content-security-policy': `${parts.join('; ')}; img-src 'self' data: ${source}; ${trusted}` };
}

/** The desktop stands, has its styles and its icons, and opens the app. */
async function works(page: Page, icon: string): Promise<void> {
  await page.locator('.shell-start-button').click();
  const picture = page.locator('.shell-start [data-app=one] img');
  assert.equal(await picture.getAttribute('src'), icon);
  await page.waitForFunction(
    () => (document.querySelector('.shell-start [data-app=one] img') as HTMLImageElement).naturalWidth > 0,
  );
  await page.locator('.shell-start [data-app=one]').click();
  const win = page.locator('.shell-window');
  await win.getByText('here').waitFor();
  await frames(page);
  assert.equal(await win.evaluate((element) => getComputedStyle(element).position), 'absolute');
}

/** A scenario with a folder of its own and a page whose errors count. */
function form(name: string, play: (folder: string, page: Page, close: (server: Server) => void) => Promise<void>) {
  return {
    name,
    async run(world: World) {
      const folder = mkdtempSync(join(tmpdir(), 'shell-form-'));
      const servers: Server[] = [];
      const context = await world.browser.newContext({ viewport: { width: 1000, height: 700 } });
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      try {
        await play(folder, page, (server) => servers.push(server));
        assert.deepEqual(errors, []);
      } finally {
        rmSync(folder, { recursive: true, force: true });
        for (const server of servers) {
          server.close();
          server.closeAllConnections();
        }
      }
    },
  } satisfies Scenario;
}

function unpackTo(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const packed = pack();
  packed.unpack(folder);
  packed.end();
}

export const packages: Scenario[] = [
  form('forms: the package, inlined by a bundler; icons come from `assetBase`', async (folder, page, close) => {
    const installed = join(folder, 'node_modules/@svc/shell');
    unpackTo(installed);
    const site = join(folder, 'public');
    await bundle(
      `import { Shell, VERSION, ShellDesktopElement, localProfileStore } from '@svc/shell';
      import '@svc/shell/shell.css';
      Shell.configure({ assetBase: '/assets/icons', profileStore: localProfileStore() });
      ${APP}
      globalThis.facts = [VERSION, Shell === window.Shell, customElements.get('shell-desktop') === ShellDesktopElement];
      setTimeout(() => document.body.append(document.createElement('shell-desktop')), 50);`,
      folder,
      join(site, 'chunk.js'),
    );
    cpSync(join(installed, 'dist/icons'), join(site, 'assets/icons'), { recursive: true });
    const head = '<link rel="stylesheet" href="/chunk.css"><script type="module" src="/chunk.js"></script>';
    writeFileSync(join(site, 'index.html'), html(head, ''));
    const { server, url } = await host(site, () => policy("'self'"));
    close(server);
    await page.goto(`${url}/`);
    await works(page, `${url}/assets/icons/clock.svg`);
    const facts = await page.evaluate(() => (globalThis as unknown as { facts: unknown[] }).facts);
    assert.deepEqual(facts, ['0.5.0', true, true]);
  }),
  form('forms: from a CDN, on another origin: module, styles and icons by address', async (folder, page, close) => {
    const path = '/npm/@svc/shell@0.5.0';
    unpackTo(join(folder, 'cdn', path));
    const cdn = await host(join(folder, 'cdn'), () => ({ 'access-control-allow-origin': '*' }));
    close(cdn.server);
    const dist = `${cdn.url}${path}/dist`;
    const site = join(folder, 'site');
    mkdirSync(site);
    writeFileSync(join(site, 'main.js'), `import { Shell } from '${dist}/shell.js'; ${APP}`);
    const head = `<link rel="stylesheet" href="${dist}/shell.css"><script type="module" src="/main.js"></script>`;
    writeFileSync(join(site, 'index.html'), html(head));
    const { server, url, asked } = await host(site, () => policy(cdn.url));
    close(server);
    await page.goto(`${url}/`);
    await works(page, `${dist}/icons/clock.svg`);
    assert.deepEqual(asked, ['/', '/main.js'], 'the page’s own server is asked for nothing of the shell');
  }),
  form('forms: from a checkout, by a script tag and `window.Shell`', async (folder, page, close) => {
    // What a build leaves in the checkout, wherever that is served.
    const built = join(dirname(fileURLToPath(import.meta.url)), '../../shell/dist');
    cpSync(built, join(folder, 'vendor/svc/shell/dist'), { recursive: true });
    writeFileSync(join(folder, 'late.js'), `{ const { Shell } = window; ${APP} }`);
    const head = [
      '<link rel="stylesheet" href="vendor/svc/shell/dist/shell.css">',
      '<script type="module" src="vendor/svc/shell/dist/shell.js"></script>',
      '<script defer src="late.js"></script>',
    ];
    writeFileSync(join(folder, 'index.html'), html(head.join('')));
    const { server, url } = await host(folder, () => policy("'self'"));
    close(server);
    await page.goto(`${url}/`);
    await works(page, `${url}/vendor/svc/shell/dist/icons/clock.svg`);
  }),
];
