/** What is kept, and how tabs, failures and broken data are survived. */
import assert from 'node:assert/strict';
import { open, type World } from './browser.ts';
import { box, drag, frames, middle, openApp, same, story, titleOf } from './scenario.ts';

const stored = () => JSON.parse(localStorage.getItem('shell') ?? 'null');

export const profiles = [
  story('start: the first picture is what the person chose', {}, async ({ page, context }, world) => {
    const win = { id: 'w', appId: 'clock', bounds: { x: 300, y: 100, width: 500, height: 400 } };
    const next = await context.newPage();
    await next.addInitScript((one) => {
      localStorage.setItem(
        'shell',
        JSON.stringify({
          version: 1,
          webtops: [{ id: 'a', items: [] }],
          activeWebtop: 'a',
          settings: { theme: 'dark', wallpaper: 'dawn', taskbarPosition: 'left' },
          windows: [{ ...one, webtop: 'a', placement: 'normal', minimized: false, title: 'Clock' }],
        }),
      );
      // However busy the machine is, the profile comes within the time that the first picture waits for it.
      const later = window.setTimeout;
      Object.assign(window, {
        setTimeout: (run: () => void, delay: number) => later(run, delay === 400 ? 30_000 : delay),
      });
      const seen = new Set<string>();
      const look = () => {
        const root = document.querySelector<HTMLElement>('shell-desktop');
        const shown = root?.classList.contains('shell-root') && !root.hasAttribute('data-starting');
        if (root && shown) {
          const { theme, taskbar } = root.dataset;
          const sheets = root.querySelectorAll('.shell-wallpaper').length;
          seen.add(`${theme} ${taskbar} ${sheets} ${root.querySelectorAll('.shell-window').length}`);
        }
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
      Object.assign(globalThis, { seen });
    }, win);
    await page.goto('about:blank');
    await next.goto(world.url);
    await next.locator('.shell-clock-time').filter({ hasText: ':' }).waitFor();
    const seen = await next.evaluate(() => [...(globalThis as unknown as { seen: Set<string> }).seen]);
    assert.deepEqual(seen, ['dark left 1 1']);
  }),
  story('profile: windows, their state and the grid are back after a reload', {}, async ({ page }) => {
    const win = await openApp(page, 'notes', { note: 'n2' });
    await drag(page, await titleOf(win), { x: 500, y: 400 });
    const before = await box(win);
    await openApp(page, 'clock');
    await page.keyboard.press('Control+ArrowRight');
    await page.reload();
    await page.locator('.shell-window').nth(1).waitFor();
    same(await box(page.locator('.shell-window[data-app=notes]')), before, 'restored');
    assert.match(await page.locator('.shell-window[data-app=notes] textarea').inputValue(), /^Meeting with Berger/);
    assert.equal(await page.locator('.shell-window[data-app=clock]').getAttribute('data-placement'), 'right');
    assert.equal(await page.locator('.shell-window[data-active]').getAttribute('data-app'), 'clock');
  }),
  story('profile: two tabs keep both their changes', {}, async ({ page, context }, world) => {
    await page.waitForTimeout(1000);
    const { page: other } = await open(world, { context });
    await page.locator('.shell-tile').first().focus();
    await page.keyboard.press('Delete');
    await other.locator('.shell-tile').nth(1).focus();
    await other.keyboard.press('Delete');
    const titles = ['Notes', 'Clock'];
    for (const tab of [page, other]) {
      await tab.waitForFunction(
        (gone) =>
          ![...document.querySelectorAll('.shell-tile-label')].some((label) => gone.includes(label.textContent ?? '')),
        titles,
      );
    }
    await page.waitForTimeout(1200);
    const profile = await page.evaluate(stored);
    const left = profile.webtops[0].items.map((item: { appId: string }) => item.appId);
    assert.equal(left.length, 8);
    assert.ok(!left.includes('notes') && !left.includes('clock'));
  }),
  {
    name: 'profile: an unreadable one is set aside, not lost',
    async run(world: World) {
      const { page, errors } = await open(world);
      await page.goto('about:blank');
      const fresh = await page.context().newPage();
      const seen: string[] = [];
      fresh.on('pageerror', (error) => seen.push(String(error)));
      await fresh.addInitScript(
        () => localStorage.getItem('broken') ?? localStorage.setItem('broken', '{"version":1,"webtops":'),
      );
      await fresh.addInitScript(() => {
        (globalThis as { playground?: unknown }).playground = { options: { storageKey: 'broken' } };
      });
      await fresh.goto(world.url);
      await fresh.locator('.shell-tile').first().waitFor();
      await fresh.getByText('couldn’t be read').waitFor();
      assert.equal(await fresh.evaluate(() => localStorage.getItem('broken.unreadable')), '{"version":1,"webtops":');
      assert.match(seen.join(), /set aside/);
      assert.deepEqual(errors, []);
    },
  },
  {
    name: 'profile: a store that answers late or fails doesn’t hold up the desktop, and the person is told',
    async run(world: World) {
      const context = await world.browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
      const page = await context.newPage();
      await page.addInitScript(() => {
        let attempts = 0;
        const profileStore = {
          async load() {
            attempts += 1;
            if (attempts > 1) return undefined;
            await new Promise<void>((resolve) => {
              (window as unknown as { answer(): void }).answer = resolve;
            });
            throw new Error('the server is down');
          },
          save: () => Promise.reject(new Error('the disk is full')),
        };
        (globalThis as { playground?: unknown }).playground = { options: { profileStore } };
      });
      await page.goto(world.url);
      await page.locator('.shell-start-button').click();
      await page.locator('.shell-start [data-app=clock]').click();
      await page.locator('playground-clock').waitFor();
      await page.getByText('still loading').waitFor({ state: 'attached' });
      assert.equal(await page.locator('[data-starting]').count(), 0, 'and in sight');
      await page.evaluate(() => (window as unknown as { answer(): void }).answer());
      await page.getByText('couldn’t be loaded').waitFor();
      assert.equal(await page.getByText('still loading').count(), 0, 'what is no longer true is no longer said');
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('couldn’t be saved').waitFor();
    },
  },
  story('profile: one per user, loaded on sign-in, and the guest’s comes back', {}, async ({ page }) => {
    await page.locator('.shell-tile').first().focus();
    await page.keyboard.press('Delete');
    await page.waitForTimeout(1000);
    await page.evaluate(() => window.Shell.setSession({ identity: { id: 'u1', displayName: 'Ada' } }));
    await page.waitForFunction(() => document.querySelectorAll('.shell-tile').length === 10);
    await page.evaluate(() => window.Shell.setSession(undefined));
    await page.waitForFunction(() => document.querySelectorAll('.shell-tile').length === 9);
    const keys = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('shell')));
    assert.ok(keys.includes('shell') && keys.includes('shell.u1'));
  }),
  story('profile: a window whose app is registered late comes back with it', {}, async ({ page }) => {
    const register = () =>
      window.Shell.registerApp({
        id: 'late',
        title: 'Late',
        icon: 'box.svg',
        render: (context) => String(context.intent),
      });
    await page.evaluate(register);
    await openApp(page, 'late', 'kept');
    await page.waitForTimeout(1000);
    await page.reload();
    await page.locator('.shell-tile').first().waitFor();
    await openApp(page, 'clock');
    await page.waitForTimeout(1000);
    await page.reload();
    await page.locator('playground-clock').waitFor();
    await page.evaluate(register);
    await page.locator('.shell-window[data-app=late]').getByText('kept').waitFor();
  }),
  story('element: taken out of the page and put back, it starts anew', {}, async ({ page }) => {
    await openApp(page, 'clock');
    await page.evaluate(async () => {
      const element = document.querySelector('shell-desktop');
      element?.remove();
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (element) document.body.append(element);
    });
    await page.locator('playground-clock').waitFor();
    assert.equal(await page.locator('.shell-taskbar').count(), 1);
    assert.equal(await page.evaluate(() => window.Shell.openApp('notes')), true);
    await page.locator('.shell-window[data-app=notes]').waitFor();
  }),
  {
    name: 'first start: two tabs at once make one webtop, and open each app once',
    async run(world: World) {
      const context = await world.browser.newContext({ viewport: { width: 1440, height: 900 } });
      const options = { initialApps: ['clock', 'notes'] };
      const tabs = await Promise.all([open(world, { context, options }), open(world, { context, options })]);
      await tabs[0].page.waitForTimeout(2_000);
      for (const { page, errors } of tabs) {
        await page.reload();
        await page.locator('.shell-tile').first().waitFor();
        await frames(page);
        assert.equal(await page.locator('.shell-tile').count(), 10);
        assert.equal(await page.locator('.shell-dot').count(), 1);
        const windows = await page.locator('.shell-window').evaluateAll((all) => all.map((one) => one.dataset.app));
        assert.deepEqual(windows.sort(), ['clock', 'notes']);
        assert.deepEqual(errors, []);
      }
    },
  },
  story(
    'first start: initial shortcuts and apps, once',
    { options: { initialApps: ['clock'], initialShortcuts: ['clock', 'notes'] } },
    async ({ page }) => {
      await page.locator('playground-clock').waitFor();
      assert.equal(await page.locator('.shell-tile').count(), 2);
      await page.locator('.shell-window [data-act=close]').click();
      await page.waitForTimeout(1000);
      await page.reload();
      await page.locator('.shell-tile').first().waitFor();
      await frames(page);
      assert.equal(await page.locator('.shell-window').count(), 0);
      await middle(page.locator('.shell-tile').first());
    },
  ),
];
