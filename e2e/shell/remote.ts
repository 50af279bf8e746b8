/** Apps from elsewhere: manifests by URL and inline, from another origin under a strict policy, and ones that lie. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../../shell/scripts/play.ts';
import { open, type Desktop, type World } from './browser.ts';
import { openApp, type Scenario } from './scenario.ts';

const MODULE = 'export default ({ host }) => host.append("from afar");';
const hash = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`;

/** Another origin: files by path; `fail` counts answers that are refused before. */
async function elsewhere(files: Record<string, string>, fail: Record<string, number> = {}) {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    asked.push(path);
    const left = fail[path] ?? 0;
    fail[path] = left - 1;
    const text = left > 0 ? undefined : files[path];
    response.writeHead(text === undefined ? (left > 0 ? 503 : 404) : 200, {
      'access-control-allow-origin': '*',
      'content-type': path.endsWith('.js') ? 'text/javascript' : 'application/json',
    });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, asked };
}

function remoteStory(
  name: string,
  files: Record<string, string>,
  fail: Record<string, number>,
  play: (desktop: Desktop, url: string, asked: string[]) => Promise<void>,
): Scenario {
  return {
    name,
    async run(world: World) {
      const far = await elsewhere(files, { ...fail });
      const site = await serve(0, [far.url]);
      try {
        await play(await open(world, { url: site.url }), far.url, far.asked);
      } finally {
        for (const server of [far.server, site.server]) {
          server.close();
          server.closeAllConnections();
        }
      }
    },
  };
}

export const remote: Scenario[] = [
  remoteStory(
    'remote: a manifest from another origin: permissions, entry, url, modules, addresses against it, hashes; retried',
    {
      '/apps/manifest.json': JSON.stringify({
        permissions: [{ id: 'Far.Use', title: 'Use far apps', group: 'Far' }],
        apps: [
          { id: 'far', title: 'Far', icon: 'far.svg', entry: './far.js', integrity: hash(MODULE) },
          { id: 'forged', title: 'Forged', icon: 'far.svg', entry: './forged.js', integrity: hash(MODULE) },
          { id: 'page', title: 'Page', icon: '/icon.svg', url: '../page.html', requiredPermissions: ['Far.Use'] },
        ],
        modules: ['./extra.js'],
      }),
      '/apps/far.js': MODULE,
      '/apps/forged.js': `${MODULE} globalThis.forged = true;`,
      '/apps/extra.js': 'window.Shell.registerApp({ id: "extra", title: "Extra", icon: "box.svg", render: () => "" });',
    },
    { '/apps/manifest.json': 2 },
    async ({ page, errors }, url, asked) => {
      const report = await page.evaluate((address) => window.Shell.loadRemote(address), `${url}/apps/manifest.json`);
      assert.deepEqual(report, {
        apps: ['far', 'forged', 'page'],
        permissions: ['Far.Use'],
        modules: [`${url}/apps/extra.js`],
        problems: [],
      });
      assert.equal(asked.filter((path) => path.endsWith('manifest.json')).length, 3, 'two failures, then the answer');
      assert.ok(!asked.includes('/apps/far.js'), 'an entry is loaded on first open');
      const win = await openApp(page, 'far');
      await win.getByText('from afar').waitFor();
      assert.equal(await page.evaluate(() => window.Shell.openApp('page')), false, 'it needs its permission');
      assert.equal(await page.evaluate(() => window.Shell.openApp('extra')), true);
      const forged = await openApp(page, 'forged');
      await forged.getByText('isn’t the module', { exact: false }).or(forged.getByText("isn't the module")).waitFor();
      assert.equal(await page.evaluate(() => 'forged' in globalThis), false, 'it never ran');
      errors.splice(0, errors.length);
    },
  ),
  remoteStory('remote: one that lies is refused in part, each refusal in a sentence', {}, {}, async ({ page }) => {
    const report = await page.evaluate(() =>
      window.Shell.loadRemote({
        apps: [
          { id: 'good', title: 'Good', icon: 'box.svg', entry: '/apps/weather.js' },
          { id: 'good', title: 'Twin', icon: 'box.svg', entry: '/apps/weather.js' },
          { id: 'notes', title: 'Not yours', icon: 'box.svg', entry: '/apps/weather.js' },
          { id: 'shell.settings2', title: 'Settings', icon: 'box.svg', entry: '/apps/weather.js' },
          { id: 'script', title: 'Script', icon: 'box.svg', url: 'javascript:alert(1)' },
          { id: 'data', title: 'Data', icon: 'box.svg', entry: 'data:text/javascript,alert(1)' },
          { id: 'odd', title: 'Odd', icon: 'box.svg', entry: '/x.js', colour: 'red' },
          { id: 'code', title: 'Code', icon: 'box.svg', render: () => '' },
          null,
        ],
        permissions: [{ title: 'no id' }, { id: 'Fine' }],
        modules: ['javascript:alert(1)', '/missing.js'],
        extras: [],
      } as never),
    );
    assert.deepEqual([report.apps, report.permissions, report.modules], [['good'], ['Fine'], []]);
    const expected = [
      /`good` is already registered/,
      /`notes` is already registered/,
      /an id of the shell's own/,
      /`url` of app `script` must be an address of the web/,
      /`entry` of app `data` must be an address of the web/,
      /no field `colour`/,
      /`render`, which a manifest can't bring/,
      /an app must be an object, not null/,
      /no `id`; add one/,
      /the address of a module must be an address of the web/,
      /no field `extras`/,
      /the module `.*missing\.js` couldn't be loaded/,
    ];
    assert.equal(report.problems.length, expected.length, report.problems.join('\n'));
    for (const [index, pattern] of expected.entries()) assert.match(report.problems[index] ?? '', pattern);
  }),
  remoteStory(
    'remote: a manifest that can’t be had is named',
    { '/text': 'no JSON' },
    {},
    async ({ page, errors }, url) => {
      const failure = (address: string) =>
        page.evaluate((where) => window.Shell.loadRemote(where).then(String, (error: Error) => error.message), address);
      assert.match(await failure(`${url}/none.json`), /the manifest `http.*none\.json` couldn't be loaded: .*404/);
      assert.match(await failure(`${url}/text`), /it is not JSON/);
      errors.splice(0, errors.length);
    },
  ),
  remoteStory('copies: a second copy of the module finds the first', {}, {}, async ({ page, errors }) => {
    const same = await page.evaluate(async () => {
      const copy = '/shell/shell.js?copy';
      const second = (await import(copy)) as typeof import('../../shell/src/index.ts');
      second.Shell.registerApp({ id: 'copied', title: 'Copied', icon: 'box.svg', render: () => 'by the copy' });
      second.addMessages('en', { Apps: 'All apps' });
      const error = await window.Shell.request('/missing').catch((problem: unknown) => problem);
      return [second.Shell === window.Shell, error instanceof second.ShellRequestError, window.Shell.openApp('copied')];
    });
    assert.deepEqual(same, [true, true, true]);
    await page.getByText('by the copy').waitFor();
    await page.locator('.shell-start-button').click();
    await page.getByRole('heading', { name: 'All apps' }).waitFor();
    errors.splice(0, errors.length);
  }),
  {
    name: 'bridge: a page of another origin hears and tells, and hands on the desktop’s keys but not its own',
    async run(world) {
      const far = await serve(0);
      const site = await serve(0, [far.url]);
      try {
        const { page } = await open(world, { url: site.url });
        await page.evaluate(
          ([address, desktop]) =>
            window.Shell.registerApp({
              id: 'far',
              title: 'Far',
              icon: 'app.svg',
              url: `${address}/pages/connected.html?desktop=${encodeURIComponent(desktop)}`,
            }),
          [far.url, site.url] as const,
        );
        const win = await openApp(page, 'far', { order: 5 });
        const inside = win.frameLocator('iframe');
        await inside.locator('#context', { hasText: 'light en {"order":5}' }).waitFor();
        await inside.locator('#tell').press('Enter');
        await win.locator('.shell-window-title', { hasText: 'Order 17' }).waitFor();
        // Words are selected with these keys where text is typed; the desktop would snap the window.
        await inside.locator('#field').press('Control+ArrowLeft');
        await inside.locator('#field').press('F9');
        await page.locator('.shell-pilot').waitFor();
        assert.equal(await win.getAttribute('data-placement'), 'normal');
      } finally {
        for (const { server } of [far, site]) {
          server.close();
          server.closeAllConnections();
        }
      }
    },
  },
];
