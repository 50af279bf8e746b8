/** Apps, their windows' content, events, access, search, badges, pop-outs. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../../shell/scripts/play.ts';
import type { AppDefinition, SearchHit } from '../../shell/src/types.ts';
import { open, type World } from './browser.ts';
import { box, closeAll, frames, openApp, pick, story } from './scenario.ts';

export const apps = [
  story('start: a page, the start menu, an app', {}, async ({ page }) => {
    await page.locator('.shell-start-button').click();
    await page.locator('.shell-start [data-app=calculator]').click();
    const win = page.locator('.shell-window[data-app=calculator]');
    for (const key of ['1', '2', '×', '4', '=']) await win.getByRole('button', { name: key, exact: true }).click();
    assert.equal(await win.locator('output').textContent(), '48');
  }),
  story('sources: string, node, nothing, promise, frame, module', {}, async ({ page }) => {
    assert.match((await (await openApp(page, 'welcome')).locator('.shell-host').textContent()) ?? '', /Open apps/);
    await (await openApp(page, 'clock')).locator('playground-clock svg').waitFor();
    await (await openApp(page, 'contact')).locator('form').waitFor();
    await (await openApp(page, 'tasks')).locator('.pg-tasks li').first().waitFor();
    await (await openApp(page, 'weather')).getByText('Tomorrow').waitFor();
    await openApp(page, 'handbook');
    await page.frameLocator('.shell-frame').getByRole('heading', { name: 'Handbook' }).waitFor();
  }),
  {
    name: 'failure: it is said in the window, and a retry helps',
    async run(world: World) {
      const { page, errors } = await open(world);
      const win = await openApp(page, 'unsteady');
      await win.getByText('couldn’t be loaded').waitFor();
      assert.match((await win.locator('.shell-failure-text').textContent()) ?? '', /did not answer/);
      await win.getByRole('button', { name: 'Try again' }).click();
      await win.getByText('Back again').waitFor();
      assert.equal(errors.length, 1, 'the failure is reported once');
    },
  },
  story('onClose: an app may refuse', {}, async ({ page }) => {
    const win = await openApp(page, 'contact');
    await win.getByLabel('Name').fill('Ada');
    assert.equal(await win.locator('.shell-window-title').textContent(), 'Contact •');
    await win.getByRole('button', { name: 'Close', exact: true }).click();
    await win.getByText('isn’t sent yet').waitFor();
    await win.getByRole('button', { name: 'Close', exact: true }).click();
    await win.waitFor({ state: 'detached' });
  }),
  story(
    'openApp: false for unknown and denied apps, with an event; singleInstance gets a new intent',
    {},
    async ({ page }) => {
      const result = await page.evaluate(() => {
        const seen: unknown[] = [];
        const off = window.Shell.on('access-denied', (event) => seen.push(event));
        document.addEventListener('shell:access-denied', (event) => seen.push((event as CustomEvent).detail));
        const answers = [window.Shell.openApp('nobody'), window.Shell.openApp('vault')];
        off();
        window.Shell.openApp('vault');
        return { seen, answers };
      });
      assert.deepEqual(result.answers, [false, false]);
      const denied = { appId: 'vault', requiredPermissions: ['Vault.Open'] };
      assert.deepEqual(
        result.seen,
        [denied, denied, denied],
        'handler, DOM event, and after the undo only the DOM event',
      );
      const win = await openApp(page, 'people', { name: 'Hiro Tanaka' });
      await win.getByRole('heading', { name: 'Hiro Tanaka', level: 3 }).waitFor();
      await openApp(page, 'people', { name: 'Chiara Conti' });
      await win.getByRole('heading', { name: 'Chiara Conti', level: 3 }).waitFor();
      assert.equal(await page.locator('.shell-window').count(), 1);
    },
  ),
  story(
    'access: permissions show apps and shortcuts, losing them hides them and closes windows',
    { options: { initialShortcuts: ['notes', 'vault'] } },
    async ({ page }) => {
      const vault = page.locator('.shell-main').getByRole('button', { name: 'Vault' });
      assert.equal(await vault.count(), 0);
      const events = await page.evaluate(async () => {
        const names: string[] = [];
        window.Shell.on('login', () => names.push('login'));
        window.Shell.on('access-changed', ({ permissions }) => names.push(`access ${permissions.join()}`));
        window.Shell.on('app-opened', ({ appId }) => names.push(`opened ${appId}`));
        await window.Shell.setSession({ permissions: ['Vault.Open'] });
        window.Shell.openApp('vault');
        return names;
      });
      assert.deepEqual(events, ['access Vault.Open', 'login', 'opened vault']);
      await vault.waitFor();
      await page.locator('.shell-window[data-app=vault]').waitFor();
      await page.evaluate(() => window.Shell.setSession(undefined));
      await page.locator('.shell-window[data-app=vault]').waitFor({ state: 'detached' });
      assert.equal(await vault.count(), 0, 'the shortcut stays in place but hidden');
    },
  ),
  story('live: apps, badges and wallpapers registered later appear at once', {}, async ({ page }) => {
    await page.locator('.shell-start-button').click();
    await page.evaluate(() => {
      window.Shell.registerApp({ id: 'later', title: 'Later', icon: 'box.svg', render: () => undefined });
      window.Shell.setBadge('later', 150);
      window.Shell.openApp('later');
    });
    const entry = page.locator('.shell-start [data-app=later][data-section=Apps]');
    await entry.waitFor();
    assert.equal(await entry.locator('.shell-badge').textContent(), '99+');
    await frames(page);
    assert.equal(await page.locator('.shell-task[data-app=later] .shell-badge').textContent(), '99+');
    await page.evaluate(() => window.Shell.setBadge('later', 0));
    await entry.locator('.shell-badge').waitFor({ state: 'hidden' });
    await page.evaluate(() => window.Shell.unregisterApp('later'));
    await entry.waitFor({ state: 'detached' });
    assert.equal(await page.locator('.shell-window[data-app=later]').count(), 0);
  }),
  story('input: an icon that is no address shows nothing, and harms nothing else', {}, async ({ page }) => {
    await page.evaluate(() => {
      const { Shell } = window;
      Shell.registerApp({ id: 'odd', title: 'Odd', icon: 'http://[', render: () => 'here' });
      Shell.configure({ brand: { logo: 'http://[' } });
    });
    await (await openApp(page, 'odd')).getByText('here').waitFor();
    await (await openApp(page, 'clock')).locator('playground-clock').waitFor();
    assert.equal(await page.locator('.shell-task').count(), 2);
    await page.locator('.shell-start-button').click();
    await page.locator('.shell-start-app[data-app=odd]').first().waitFor();
    assert.ok((await page.locator('.shell-start-app').count()) > 10, 'with all others');
  }),
  story('input: wrong definitions and options say what to do', {}, async ({ page }) => {
    const messages = await page.evaluate(() => {
      const tries: [string, () => void][] = [
        ['duplicate', () => window.Shell.registerApp({ id: 'notes', title: 'x', icon: 'app.svg', render: () => '' })],
        ['none', () => window.Shell.registerApp({ id: 'a', title: 'x', icon: 'app.svg' })],
        [
          'two',
          () =>
            window.Shell.registerApp({ id: 'a', title: 'x', icon: 'app.svg', url: '/', entry: '/' } as AppDefinition),
        ],
        ['option', () => window.Shell.configure({ wallpapper: [] } as never)],
      ];
      return tries.map(([name, attempt]) => {
        try {
          attempt();
          return `${name}: nothing was thrown`;
        } catch (error) {
          return (error as Error).message.replace(/(known are \w+, ).*/, '$1…');
        }
      });
    });
    assert.deepEqual(messages, [
      'an app with the id `notes` is already registered; use another id',
      'app `a` needs exactly one of `render`, `url` and `entry`, but has none',
      'app `a` needs exactly one of `render`, `url` and `entry`, but has `url` and `entry`',
      'the options has no field `wallpapper`; known are assetBase, …',
    ]);
  }),
  story('search: apps, shortcuts, settings and content, as they come, by keyboard', {}, async ({ page }) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ber');
    const results = page.getByRole('listbox');
    await results.getByRole('option', { name: 'Meeting with Berger' }).waitFor();
    await page.getByRole('combobox').fill('no');
    await results.getByRole('option', { name: /Novák/ }).waitFor();
    assert.equal(await results.getByRole('option', { name: /Appearance/ }).count(), 0, 'not for the end of “snow”');
    await page.getByRole('combobox').fill('lindq');
    await results.getByRole('option', { name: /Greta Lindqvist/ }).waitFor();
    await page.getByRole('combobox').fill('dark');
    await results.getByRole('option', { name: /Appearance/ }).waitFor();
    await page.getByRole('button', { name: 'Clear search' }).click();
    assert.equal(await page.getByRole('combobox').inputValue(), '');
    await page.locator('.shell-start-apps').waitFor();
    await page.keyboard.type('greta');
    await results.getByRole('option', { name: /Greta Lindqvist/ }).waitFor();
    await page.keyboard.press('Enter');
    await page
      .locator('.shell-window[data-app=people]')
      .getByRole('heading', { name: 'Greta Lindqvist', level: 3 })
      .waitFor();
    const hits = await page.evaluate(async () => {
      const steps: number[] = [];
      const all = await window.Shell.search('a', { onHits: (found: SearchHit[]) => steps.push(found.length) });
      return { steps: steps.length, all: all.length };
    });
    assert.ok(hits.steps > 2, `hits came in ${hits.steps} steps`);
    assert.ok(hits.all >= 8);
  }),
  story('shortcut: keeps the state, arrives as intent, is updated, duplicated', {}, async ({ page }) => {
    const win = await openApp(page, 'gallery');
    await win.getByRole('button', { name: 'Ember' }).click();
    await pick(page, win, 'Create shortcut');
    await page.locator('.shell-main').getByRole('button', { name: 'Ember' }).waitFor();
    await pick(page, win, 'Duplicate');
    await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 2);
    await page.locator('.shell-window').last().getByRole('img', { name: 'Ember' }).waitFor();
    await closeAll(page);
    await page.locator('.shell-main').getByRole('button', { name: 'Ember' }).click();
    const again = page.locator('.shell-window');
    await again.getByRole('img', { name: 'Ember' }).waitFor();
    await again.getByRole('button', { name: 'All pictures' }).click();
    await again.getByRole('button', { name: 'Dusk' }).click();
    await pick(page, again, 'Update shortcut');
    await page.locator('.shell-main').getByRole('button', { name: 'Dusk' }).waitFor();
  }),
  story('pop-out: the app fills its own tab, with its state', {}, async ({ page, context }) => {
    const win = await openApp(page, 'gallery');
    await win.getByRole('button', { name: 'Dusk' }).click();
    const [popup] = await Promise.all([context.waitForEvent('page'), pick(page, win, 'Open in browser')]);
    await popup.waitForURL(/\?app=gallery#/);
    await popup.getByRole('img', { name: 'Dusk' }).waitFor();
    const rect = await popup.locator('.shell-window').boundingBox();
    const size = await popup.evaluate(() => ({ width: innerWidth, height: innerHeight }));
    assert.deepEqual(rect, { x: 0, y: 0, ...size });
    assert.equal(await popup.locator('.shell-window-buttons').isVisible(), false);
    await popup.locator('.shell-window-icon').click();
    assert.deepEqual(await popup.getByRole('menuitem').allTextContents(), ['Open in browser']);
    assert.equal(await popup.title(), 'Dusk');
  }),
  story('pop-out: a shortcut is updated from its own tab', {}, async ({ page, context }) => {
    const win = await openApp(page, 'gallery');
    await win.getByRole('button', { name: 'Ember' }).click();
    await pick(page, win, 'Create shortcut');
    await page.locator('.shell-main').getByRole('button', { name: 'Ember' }).waitFor();
    const [popup] = await Promise.all([context.waitForEvent('page'), pick(page, win, 'Open in browser')]);
    const own = popup.locator('.shell-window');
    await own.getByRole('img', { name: 'Ember' }).waitFor();
    await own.getByRole('button', { name: 'All pictures' }).click();
    await own.getByRole('button', { name: 'Dusk' }).click();
    await popup.locator('.shell-window-icon').click();
    assert.deepEqual(await popup.getByRole('menuitem').allTextContents(), ['Update shortcut', 'Open in browser']);
    await popup.getByRole('menuitem', { name: 'Update shortcut' }).click();
    await page.locator('.shell-main').getByRole('button', { name: 'Dusk' }).waitFor();
  }),
  {
    name: 'web link: the site’s icon when it has one, the app’s when not',
    async run(world: World) {
      const site = createServer((request, response) => {
        const icon = request.url === '/favicon.ico';
        response
          .writeHead(200, { 'content-type': icon ? 'image/svg+xml' : 'text/html' })
          .end(
            icon
              ? '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>'
              : '<p>A site',
          );
      });
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      const { port } = site.address() as AddressInfo;
      const icons = `http://127.0.0.1:${port}`;
      // The playground's policy shows pages and pictures of its own origin and of https only.
      const desktop = await serve(0, [icons]);
      const { page } = await open(world, { url: desktop.url });
      for (const [name, address, icon] of [
        ['Without', `${desktop.url}/pages/docs.html`, '/icons/weblink.svg'],
        ['With', `${icons}/`, `${port}/favicon.ico`],
      ] as const) {
        const win = await openApp(page, 'shell.weblink');
        await win.getByLabel('Web address').fill(address);
        await win.getByLabel('Name').fill(name);
        await win.getByRole('button', { name: 'Save' }).click();
        const tile = page.locator('.shell-main').getByRole('button', { name, exact: true });
        await tile.locator(`img[src$="${icon}"]`).waitFor();
        await win.locator(`.shell-window-icon img[src$="${icon}"]`).waitFor();
        await closeAll(page);
      }
      for (const server of [site, desktop.server]) {
        server.close();
        server.closeAllConnections();
      }
    },
  },
  story(
    'web link: a page that refuses to be embedded is opened in the browser',
    {},
    async ({ page, context, errors }, world) => {
      await context.route('**/pages/refusing.html', (route) =>
        route.fulfill({
          contentType: 'text/html',
          headers: { 'x-frame-options': 'DENY' },
          body: '<!doctype html><title>Refusing</title><h1>Only for myself</h1>',
        }),
      );
      const win = await openApp(page, 'shell.weblink');
      await win.getByLabel('Web address').fill(`${world.url}/pages/refusing.html`);
      await win.getByRole('button', { name: 'Save' }).click();
      await win.locator('.shell-weblink-address').waitFor();
      const [popup] = await Promise.all([
        context.waitForEvent('page'),
        win.getByRole('button', { name: 'Open in browser' }).click(),
      ]);
      await popup.getByRole('heading', { name: 'Only for myself' }).waitFor();
      const [again] = await Promise.all([context.waitForEvent('page'), pick(page, win, 'Open in browser')]);
      await again.waitForURL(`${world.url}/pages/refusing.html`);
      // That the frame was refused is the browser's to say.
      errors.splice(0, errors.length, ...errors.filter((text) => !text.includes('X-Frame-Options')));
    },
  ),
  story('web link: a form makes an app of a page', {}, async ({ page }, world) => {
    const win = await openApp(page, 'shell.weblink');
    await win.getByLabel('Web address').fill('javascript:alert(1)');
    await win.getByRole('button', { name: 'Save' }).click();
    await win.getByText('Enter the address of a web page').waitFor();
    await win.getByLabel('Web address').fill(`${world.url}/pages/docs.html`);
    await win.getByLabel('Name').fill('Our docs');
    await win.getByLabel('Icon').setInputFiles({
      name: 'icon.svg',
      mimeType: 'image/png',
      buffer: Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    });
    await win.getByRole('button', { name: 'Save' }).click();
    await page.frameLocator('.shell-frame').getByRole('heading', { name: 'Documentation' }).waitFor();
    await page.locator('.shell-main').getByRole('button', { name: 'Our docs' }).waitFor();
    await win.getByRole('button', { name: 'Open in browser' }).waitFor();
    await pick(page, win, 'Edit web link');
    await win.getByLabel('Name').fill('The docs');
    await win.getByRole('button', { name: 'Save' }).click();
    await page.locator('.shell-main').getByRole('button', { name: 'The docs' }).waitFor();
  }),
  story(
    'web link: an error stands at its field, and the choice of a picture in the desktop’s language',
    { width: 720, height: 450, locale: 'de-DE' },
    async ({ page }) => {
      const win = await openApp(page, 'shell.weblink');
      const address = win.getByLabel('Webadresse');
      await win.getByRole('button', { name: 'Speichern' }).click();
      const alert = win.getByRole('alert');
      await alert.waitFor();
      const [field, text, body] = [await box(address), await box(alert), await box(win.locator('.shell-body'))];
      assert.ok(text.y >= field.y + field.height && text.y < field.y + field.height + 30, 'right below the field');
      assert.ok(text.y + text.height <= body.y + body.height, 'in sight');
      assert.equal(await address.getAttribute('aria-describedby'), await alert.getAttribute('id'));
      await win.getByText('Bild auswählen').waitFor();
      await address.fill('https://example.org');
      const broken = { name: 'kein-bild.txt', mimeType: 'text/plain', buffer: Buffer.from('text') };
      await win.getByLabel('Symbol').setInputFiles(broken);
      await win.getByText('kein-bild.txt').waitFor();
      await win.getByRole('button', { name: 'Speichern' }).click();
      await win.getByText('Diese Datei ist kein brauchbares Bild').waitFor();
      assert.equal(await address.getAttribute('aria-invalid'), null, 'the address is fine now');
      assert.equal(await alert.count(), 1);
    },
  ),
  story('documentation: opens as a window', {}, async ({ page }) => {
    await page.locator('.shell-start-button').click();
    await page.getByRole('button', { name: 'Documentation' }).click();
    await page.frameLocator('.shell-frame').getByRole('heading', { name: 'Documentation' }).waitFor();
  }),
];
