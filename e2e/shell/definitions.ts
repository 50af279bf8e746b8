/** Every field of an app definition, every member of the render context, and the options that other files don't play. */
import assert from 'node:assert/strict';
import { open, type World } from './browser.ts';
import { box, frames, openApp, pick, story } from './scenario.ts';

/** Modules that apps come from; the page's policy allows its own origin. */
const MODULES: Record<string, string> = {
  '/modules/named.js': `export const main = ({ host }) => host.append('named export');
    export default () => 'the default one';`,
  '/modules/partial.js': `export default {
    title: 'From the module', accent: '#b4532a',
    menu: [{ id: 'hi', title: 'Say hi', run: ({ host }) => host.append(' hi') }],
    render: ({ host }) => host.append('partial definition'),
  };`,
  '/modules/wrong.js': 'export default 42;',
};

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const definitions = [
  story('app: title, icon, accent, width and height', {}, async ({ page }) => {
    await page.evaluate((icon) => {
      const render = () => 'x';
      window.Shell.registerApps([
        { id: 'sized', title: 'Sized', icon: 'box.svg', accent: '#b4532a', width: 500, height: 320, render },
        { id: 'pictured', title: 'Pictured', icon, render },
        { id: 'unsized', title: 'Unsized', icon: 'box.svg', render },
      ]);
    }, PIXEL);
    const sized = await openApp(page, 'sized');
    const { width, height } = await box(sized);
    assert.deepEqual([width, height], [500, 320]);
    assert.equal(await sized.locator('.shell-window-title').textContent(), 'Sized');
    assert.match((await sized.locator('.shell-window-icon img').getAttribute('src')) ?? '', /\/icons\/box\.svg$/);
    const accent = (element: HTMLElement | SVGElement) =>
      [element.style.getPropertyValue('--shell-window-accent'), element.style.getPropertyValue('--shell-plate')].join(
        '',
      );
    assert.match(await sized.evaluate(accent), /^#b4532a/);
    assert.equal(await page.locator('.shell-task[data-app=sized] .shell-plate').evaluate(accent), '#b4532a');
    await openApp(page, 'pictured');
    assert.equal(await page.locator('.shell-task[data-app=pictured] img').getAttribute('src'), PIXEL);
    const free = await box(await openApp(page, 'unsized'));
    assert.ok(free.width > 300 && free.height > 200, 'an app without a size gets a sensible one');
  }),
  story('app: hidden ones are in no list, and open all the same', {}, async ({ page }) => {
    await page.evaluate(() =>
      window.Shell.registerApp({
        id: 'secret',
        title: 'Secret tool',
        icon: 'box.svg',
        hidden: true,
        render: () => 'found',
      }),
    );
    await page.keyboard.press('Control+k');
    await page.locator('.shell-start-app').first().waitFor();
    assert.equal(await page.locator('.shell-start-app[data-app=secret]').count(), 0);
    await page.keyboard.type('secret tool');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await (await openApp(page, 'secret')).getByText('found').waitFor();
  }),
  {
    name: 'app: a module’s default export, its `exportName`, a partial definition, and one that exports nothing usable',
    async run(world: World) {
      const { page, errors } = await open(world);
      await page.route('**/modules/*.js', (route) =>
        route.fulfill({ contentType: 'text/javascript', body: MODULES[new URL(route.request().url()).pathname] ?? '' }),
      );
      await page.evaluate(() => {
        const icon = 'box.svg';
        window.Shell.registerApps([
          { id: 'default', title: 'Default', icon, entry: '/modules/named.js' },
          { id: 'named', title: 'Named', icon, entry: '/modules/named.js', exportName: 'main' },
          { id: 'partial', title: 'Partial', icon, entry: '/modules/partial.js' },
          { id: 'wrong', title: 'Wrong', icon, entry: '/modules/wrong.js' },
        ]);
      });
      await (await openApp(page, 'default')).getByText('the default one').waitFor();
      await (await openApp(page, 'named')).getByText('named export').waitFor();
      const partial = await openApp(page, 'partial');
      await partial.getByText('partial definition').waitFor();
      assert.equal(await partial.locator('.shell-window-title').textContent(), 'From the module');
      await pick(page, partial, 'Say hi');
      await partial.getByText('partial definition hi').waitFor();
      const wrong = await openApp(page, 'wrong');
      assert.match(
        (await wrong.locator('.shell-failure-text').textContent()) ?? '',
        /exports no render function as `default`/,
      );
      assert.equal(errors.length, 1, 'the failure is reported once');
    },
  },
  story('app: extra entries of the window menu, by mouse and keyboard', {}, async ({ page }) => {
    await page.evaluate((icon) => {
      window.Shell.registerApp({
        id: 'extra',
        title: 'Extra',
        icon: 'box.svg',
        render: ({ host }) => host.append('start'),
        menu: [
          { id: 'one', title: 'Add one', icon: 'todo.svg', run: ({ host }) => host.append(' one') },
          { id: 'two', title: 'Add two', icon, run: async ({ setTitle, appId }) => setTitle(`${appId} two`) },
        ],
      });
    }, PIXEL);
    const win = await openApp(page, 'extra');
    await pick(page, win, 'Add one');
    await win.getByText('start one').waitFor();
    await page.keyboard.press('Alt+Shift+M');
    assert.equal(await page.getByRole('menuitem').first().textContent(), 'Add one');
    assert.equal(await page.getByRole('menuitem').locator('img').count(), 2, 'both have their pictures');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.shell-window-title')?.textContent === 'extra two');
  }),
  story('context: everything a render function is given', {}, async ({ page }) => {
    await page.evaluate(() => {
      const seen: Record<string, unknown> = {};
      (window as unknown as { seen: object }).seen = seen;
      window.Shell.configure({ request: async (path) => `answer to ${path}` });
      window.Shell.registerApp({
        id: 'told',
        title: 'Told',
        icon: 'box.svg',
        singleInstance: true,
        async render(context) {
          const { host, appId, windowId, session, access, intent, link } = context;
          Object.assign(seen, { appId, windowId, session, access, intent, link });
          seen.inBody = host.closest('.shell-body') !== null;
          seen.can = [context.can('A'), context.can('B')];
          seen.answer = await context.request('/x');
          context.onIntent((next) => {
            seen.next = next;
          });
          const undo = context.onClose(() => false);
          context.onClose(() => {
            seen.closed = true;
          });
          undo();
          context.setTitle('Titled');
          context.setAppearance({ accent: '#0a7d55', icon: 'key.svg' });
          context.setState({ at: 7 }, 'At seven');
        },
      });
    });
    await page.evaluate(() =>
      window.Shell.setSession({ identity: { id: 'u', displayName: 'Ada' }, permissions: ['A'] }),
    );
    const win = await openApp(page, 'told', { from: 'test' });
    await page.waitForFunction(() => document.querySelector('.shell-window-title')?.textContent === 'At seven');
    await openApp(page, 'told', { again: true });
    const seen = await page.evaluate(() => (window as unknown as { seen: Record<string, unknown> }).seen);
    assert.equal(seen.appId, 'told');
    assert.equal(seen.windowId, await win.getAttribute('data-id'));
    assert.deepEqual(seen.session, { identity: { id: 'u', displayName: 'Ada' }, permissions: ['A'] });
    assert.deepEqual(seen.access, { identity: { id: 'u', displayName: 'Ada' }, roles: [], permissions: ['A'] });
    assert.deepEqual([seen.intent, seen.next, seen.link], [{ from: 'test' }, { again: true }, undefined]);
    assert.deepEqual([seen.inBody, seen.can, seen.answer], [true, [true, false], 'answer to /x']);
    assert.match((await win.locator('.shell-window-icon img').getAttribute('src')) ?? '', /key\.svg$/);
    await pick(page, win, 'Create shortcut');
    const tile = page.locator('.shell-main').getByRole('button', { name: 'At seven' });
    await tile.waitFor();
    await win.getByRole('button', { name: 'Close', exact: true }).click();
    await win.waitFor({ state: 'detached' });
    await tile.click();
    await page.locator('.shell-window').waitFor();
    const again = await page.evaluate(() => (window as unknown as { seen: Record<string, unknown> }).seen);
    assert.equal(again.closed, true);
    assert.deepEqual(again.intent, { at: 7 });
    const link = again.link as Record<string, unknown>;
    assert.deepEqual([link.appId, link.title, link.state], ['told', 'At seven', { at: 7 }]);
  }),
  story(
    'options: locale, docsUrl, defaults, brand',
    {
      locale: 'en-GB',
      options: {
        locale: 'de',
        defaults: { taskbarPosition: 'left', systemColor: '#0a7d55', wallpaper: 'dune' },
        brand: {
          title: 'Acme',
          version: '7.1',
          description: 'Does everything.',
          logo: PIXEL,
          startIcon: PIXEL,
          cornerLogo: false,
        },
      },
    },
    async ({ page }) => {
      const root = page.locator('shell-desktop');
      assert.equal(await root.getAttribute('lang'), 'de', 'the option goes before the browser’s language');
      assert.equal(await root.getAttribute('data-taskbar'), 'left');
      assert.equal(
        await root.evaluate((element) => (element as HTMLElement).style.getPropertyValue('--shell-accent')),
        '#0a7d55',
      );
      assert.equal(await page.locator('.shell-corner').isVisible(), false);
      assert.equal(await page.locator('.shell-start-button img').getAttribute('src'), PIXEL);
      await page.locator('.shell-start-button').click();
      await page.getByRole('button', { name: 'Dokumentation' }).waitFor();
      await page.evaluate(() => window.Shell.configure({ docsUrl: undefined } as never));
      await frames(page);
      assert.equal(await page.getByRole('button', { name: 'Dokumentation' }).count(), 0, 'no address, no button');
      await page.keyboard.press('Escape');
      const win = await openApp(page, 'shell.settings', { section: 'about' });
      for (const text of ['Acme', 'Version 7.1', 'Does everything.'])
        await win.getByText(text, { exact: true }).waitFor();
      assert.equal(await win.locator('.shell-about-logo img').getAttribute('src'), PIXEL);
      await win.getByRole('tab', { name: 'Sprache' }).click();
      await win.locator('label', { hasText: 'English' }).click();
      assert.equal(await root.getAttribute('lang'), 'en', 'a choice in Settings wins');
      await page.waitForTimeout(1000);
      await page.reload();
      await page.locator('.shell-window').waitFor();
      assert.equal(await root.getAttribute('lang'), 'en');
    },
  ),
];
