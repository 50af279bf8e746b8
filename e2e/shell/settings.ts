/** Settings, looks, languages, effects. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { preferencesOf, type World } from './browser.ts';
import { area, box, drag, frames, openApp, story } from './scenario.ts';

/** A picture of noise, the hardest to make small. */
async function noisyPicture(page: Page, side = 1600): Promise<Buffer> {
  const data = await page.evaluate((width) => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height: width / 1.6 });
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const image = context.createImageData(canvas.width, canvas.height);
    for (let at = 0; at < image.data.length; at += 1) image.data[at] = at % 4 === 3 ? 255 : Math.random() * 90;
    context.putImageData(image, 0, 0);
    return canvas.toDataURL('image/jpeg', 0.9).split(',')[1] ?? '';
  }, side);
  return Buffer.from(data, 'base64');
}

export const settings = [
  story('settings: theme, wallpaper and colour take effect and are kept', {}, async ({ page }) => {
    const win = await openApp(page, 'shell.settings', { section: 'appearance' });
    await win.getByRole('radio', { name: 'Dark' }).check();
    assert.equal(await page.locator('shell-desktop').getAttribute('data-theme'), 'dark');
    const background = () => page.locator('.shell-wallpaper').last().getAttribute('data-background');
    const before = await background();
    await win.getByRole('radio', { name: 'Nebula' }).check();
    await frames(page);
    assert.notEqual(await background(), before);
    await win.locator('input[type=color]').fill('#f5e663');
    await frames(page);
    const text = await page.evaluate(() =>
      document.querySelector<HTMLElement>('shell-desktop')?.style.getPropertyValue('--shell-accent-text'),
    );
    assert.equal(text, '#10141c', 'dark ink on a light system colour');
    await page.waitForTimeout(1000);
    await page.reload();
    await page.locator('.shell-window[data-app="shell.settings"]').waitFor();
    assert.equal(await page.locator('shell-desktop').getAttribute('data-theme'), 'dark');
  }),
  story(
    'wallpaper: an own picture is made small, shown and kept; a file that is none says so',
    {},
    async ({ page }) => {
      const win = await openApp(page, 'shell.settings', { section: 'appearance' });
      const input = win.locator('input[type=file]');
      await input.setInputFiles({ name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('text') });
      await page.getByText('This file is not a picture that can be used.').waitFor();
      const noise = await noisyPicture(page);
      await input.setInputFiles({ name: 'own.jpg', mimeType: 'image/jpeg', buffer: noise });
      await win.getByRole('radio', { name: 'Own picture 1', checked: true }).waitFor();
      const shown = () =>
        page.evaluate(() => {
          const style = document.querySelector<HTMLElement>('shell-desktop')?.style;
          return ['--shell-wallpaper', '--shell-on-wallpaper'].map((name) => style?.getPropertyValue(name) ?? '');
        });
      // The ink is found by looking at the picture.
      await page.waitForFunction(
        () =>
          document.querySelector<HTMLElement>('shell-desktop')?.style.getPropertyValue('--shell-on-wallpaper') ===
          '#ffffff',
      );
      const [wallpaper = ''] = await shown();
      assert.match(wallpaper, /url\("?data:image\/jpeg/);
      assert.ok(wallpaper.length < 45_100, `${wallpaper.length} characters`);
      await page.waitForTimeout(1000);
      await page.reload();
      await page.locator('.shell-window[data-app="shell.settings"]').waitFor();
      assert.deepEqual(await shown(), [wallpaper, '#ffffff']);
    },
  ),
  story(
    'wallpaper: own pictures stay in the list, the latest four; one goes, and undo brings it back',
    {},
    async ({ page }) => {
      const win = await openApp(page, 'shell.settings', { section: 'appearance' });
      const input = win.locator('input[type=file]');
      const own = win.getByRole('radio', { name: /^Own picture/ });
      const remove = win.getByRole('button', { name: 'Remove the picture' });
      const stored = () =>
        page.evaluate(() => {
          const { wallpaper, pictures } = JSON.parse(localStorage.getItem('shell') ?? '{}').settings;
          return { wallpaper, ids: (pictures as { id: string }[]).map(({ id }) => id) };
        });
      assert.equal(await remove.isVisible(), false, 'nothing of the person’s own is chosen');
      for (let count = 1; count <= 5; count += 1) {
        await input.setInputFiles({
          name: 'own.jpg',
          mimeType: 'image/jpeg',
          buffer: await noisyPicture(page, 8 * count),
        });
        await page.waitForFunction(
          (expected) => document.querySelectorAll('.shell-choice input[value^=picture]').length === expected,
          Math.min(count, 4),
        );
        await win.getByRole('radio', { name: 'Own picture 1', checked: true }).waitFor();
      }
      await win.getByRole('radio', { name: 'Dune' }).check();
      assert.equal(await remove.isVisible(), false, 'what ships can’t be removed');
      await page.waitForTimeout(1000);
      const before = await stored();
      assert.equal(before.ids.length, 4);
      await page.reload();
      await win.waitFor();
      assert.equal(await own.count(), 4, 'kept although another one is chosen');
      await own.nth(2).check();
      await remove.click();
      assert.equal(await own.count(), 3);
      assert.equal(await win.getByRole('radio', { name: 'Fjord' }).isChecked(), true, 'the default one is there again');
      assert.ok(await input.evaluate((element) => element === document.activeElement), 'the focus stays beside');
      await page.getByText('“Own picture 3” was removed.').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await win.getByRole('radio', { name: 'Own picture 1', checked: true }).waitFor();
      await page.waitForTimeout(1000);
      const [first, second, third, fourth] = before.ids;
      assert.deepEqual(await stored(), { wallpaper: third, ids: [third, first, second, fourth] });
    },
  ),
  story('colours: any that CSS knows makes a plate, what is none leaves the system’s', {}, async ({ page }) => {
    const plates = await page.evaluate(async () => {
      const { Shell } = window;
      const accents = [
        '#0a7d55',
        'teal',
        'hsl(180 100% 25%)',
        'rgb(0 128 128 / 60%)',
        'oklch(0.54 0.1 195)',
        'blueish',
      ];
      Shell.registerApps(
        accents.map((accent, at) => ({ id: `c${at}`, title: accent, icon: 'app.svg', accent, render: () => '' })),
      );
      for (const at of accents.keys()) Shell.openApp(`c${at}`);
      return accents.map((_accent, at) => {
        const win = document.querySelector<HTMLElement>(`.shell-window[data-app=c${at}]`);
        return win?.style.getPropertyValue('--shell-plate') ?? '';
      });
    });
    assert.deepEqual([...plates.slice(0, 4), plates[5]], ['#0a7d55', '#008080', '#008080', '#008080', '']);
    assert.match(plates[4] ?? '', /^#0[0-3][78][0-9a-f][78][0-9a-f]$/);
  }),
  story('settings: what is in force is marked, on every page', {}, async ({ page }) => {
    const win = await openApp(page, 'shell.settings', { section: 'appearance' });
    const marked = () =>
      win
        .locator('fieldset')
        .evaluateAll((fields) => fields.map((field) => field.querySelector('input:checked')?.parentElement?.title));
    assert.deepEqual(await marked(), ['Automatic', 'Fjord', 'Color 1', 'None', 'Bottom', 'Automatic']);
    await win.locator('label').filter({ hasText: 'Snow' }).click();
    await frames(page);
    assert.deepEqual(await marked(), ['Automatic', 'Fjord', 'Color 1', 'Snow', 'Bottom', 'Automatic']);
  }),
  story('settings: in a narrow window its pages stand above, in a wide one beside', {}, async ({ page }) => {
    const win = await openApp(page, 'shell.settings');
    const look = async () => {
      const [list, main] = [await box(win.locator('.shell-tabs')), await box(win.locator('.shell-settings-main'))];
      return { beside: list.x + list.width <= main.x + 1, wide: main.width };
    };
    assert.equal((await look()).beside, true);
    const { x, y, width, height } = await box(win);
    await drag(page, { x: x + width - 1, y: y + height - 1 }, { x: x + 340, y: y + 420 });
    const { beside, wide } = await look();
    assert.equal(beside, false);
    assert.ok(wide > 330, `a page is ${wide} wide`);
    for (const tab of await win.getByRole('tab').all()) {
      const edge = await box(tab);
      assert.ok(edge.x >= x && edge.x + edge.width <= x + 341, `${await tab.textContent()} is in sight`);
    }
  }),
  story('taskbar: lies on any side, windows keep clear of it', {}, async ({ page }) => {
    const win = await openApp(page, 'shell.settings', { section: 'taskbar' });
    for (const [title, check] of [
      ['Left', (rect: { x: number; y: number; width: number; height: number }) => rect.x > 50 && rect.height === 900],
      ['Top', (rect: { x: number; y: number; width: number; height: number }) => rect.y > 50 && rect.x === 0],
      ['Right', (rect: { x: number; y: number; width: number; height: number }) => rect.width < 1400 && rect.x === 0],
      ['Bottom', (rect: { x: number; y: number; width: number; height: number }) => rect.height < 860 && rect.y === 0],
    ] as const) {
      await win.getByRole('radio', { name: title }).check();
      await frames(page);
      assert.ok(check(await area(page)), `${title}: ${JSON.stringify(await area(page))}`);
    }
  }),
  story('taskbar: hides by itself on every side, and comes back for pointer and keyboard', {}, async ({ page }) => {
    const win = await openApp(page, 'shell.settings', { section: 'taskbar' });
    const hidden = (wanted: boolean) =>
      page.waitForFunction(
        (expected) => document.querySelector('shell-desktop')?.hasAttribute('data-bar-hidden') === expected,
        wanted,
      );
    const inSight = async () => {
      const bar = await box(page.locator('.shell-taskbar'));
      return bar.x < 1430 && bar.y < 890 && bar.x + bar.width > 10 && bar.y + bar.height > 10;
    };
    await win.getByRole('switch').check();
    for (const [title, x, y] of [
      ['Left', 1, 450],
      ['Top', 700, 1],
      ['Right', 1439, 450],
      ['Bottom', 700, 899],
    ] as const) {
      await win.getByRole('radio', { name: title }).check();
      await page.mouse.move(700, 300);
      await hidden(true);
      assert.equal(await inSight(), false, `${title}: out of sight`);
      const { width, height } = await area(page);
      assert.deepEqual([width, height], [1440, 900], `${title}: windows may use its place`);
      await page.mouse.move(x, y);
      await hidden(false);
      assert.equal(await inSight(), true, `${title}: back at the edge`);
    }
    await page.mouse.move(700, 300);
    await hidden(true);
    await win.getByRole('radio', { name: 'Bottom' }).focus();
    await page.keyboard.press('F6');
    await hidden(false);
    assert.ok(await page.evaluate(() => document.activeElement?.closest('.shell-taskbar') !== null));
  }),
  story(
    'language: German through and through, own locales, English as fallback',
    { locale: 'de-AT' },
    async ({ page }) => {
      assert.equal(await page.locator('.shell-start-button').getAttribute('aria-label'), 'Start');
      const win = await openApp(page, 'shell.settings', { section: 'language' });
      await win.getByRole('tab', { name: 'Darstellung' }).waitFor();
      const keys = await win.locator('kbd').allTextContents();
      assert.deepEqual(
        keys.filter((text) => /Ctrl|Delete|Shift|Page|`/.test(text)),
        [],
        'keys are called what keyboards call them',
      );
      assert.deepEqual(keys.slice(-3), ['F2', 'Strg + ← → ↑ ↓', 'Entf'], 'those of shortcuts, too');
      assert.ok(keys.includes('Strg + K') && keys.includes('Alt + Umschalt + W'), keys.join());
      await page.evaluate(() => {
        window.Shell.addMessages('fr', { Settings: 'Réglages' });
        window.Shell.setLocale('fr');
      });
      await frames(page);
      assert.equal(await win.locator('.shell-window-title').textContent(), 'Réglages');
      await win.getByRole('tab', { name: 'Appearance' }).waitFor();
      await page.evaluate(() => window.Shell.setLocale(undefined));
      await win.getByRole('tab', { name: 'Darstellung' }).waitFor();
    },
  ),
  story('options: configure merges and takes effect at any time', {}, async ({ page }) => {
    await page.evaluate(() => {
      window.Shell.configure({ brand: { title: 'Acme' }, webLinks: false });
      window.Shell.configure({
        brand: { cornerLogo: 'box.svg' },
        wallpapers: [{ id: 'own', title: 'Ours', background: 'linear-gradient(#123, #456)', foreground: '#ffffff' }],
        defaults: { wallpaper: 'own', effect: 'none' },
      });
    });
    await frames(page);
    await page.locator('.shell-corner').waitFor();
    assert.equal(
      await page.locator('.shell-wallpaper').last().getAttribute('data-background'),
      'linear-gradient(#123, #456)',
    );
    await page.locator('.shell-start-button').click();
    assert.equal(await page.locator('.shell-start [data-app="shell.weblink"]').count(), 0);
    assert.equal(await page.locator('.shell-start-who').textContent(), 'Acme');
  }),
  story(
    'wallpapers: a picture of the product’s own is offered, shown and can’t break out',
    { options: { wallpapers: [{ id: 'photo', title: 'Photo', image: '/pages/a")b.png' }] } },
    async ({ page }) => {
      const asked: string[] = [];
      await page.route('**/pages/*.png', (route) => {
        asked.push(new URL(route.request().url()).pathname);
        return route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' });
      });
      const win = await openApp(page, 'shell.settings', { section: 'appearance' });
      await win.getByRole('radio', { name: 'Photo' }).check();
      await frames(page);
      const image = await page
        .locator('.shell-wallpaper')
        .last()
        .evaluate((element) => getComputedStyle(element).backgroundImage);
      assert.match(image, /^url\(".*\/pages\/a%22\)b\.png"\)$/);
      for (let tries = 0; asked.length === 0 && tries < 50; tries += 1) await page.waitForTimeout(50);
      assert.equal(asked[0], '/pages/a%22)b.png');
    },
  ),
  ...(['logos', 'snow', 'starfield', 'warp', 'network', 'aurora'] as const).map((effect) =>
    story(
      `effect: ${effect} draws, and rests under a maximized window`,
      { reducedMotion: false, options: { defaults: { effect } } },
      async ({ page }) => {
        const pixels = () =>
          page.locator('canvas.shell-effect').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL().length);
        const moving = async () => {
          const before = await page
            .locator('canvas.shell-effect')
            .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
          await page.waitForTimeout(250);
          return (
            before !==
            (await page.locator('canvas.shell-effect').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL()))
          );
        };
        assert.ok((await pixels()) > 2000, 'something is drawn');
        assert.equal(await moving(), true);
        await (await openApp(page, 'clock')).getByRole('button', { name: 'Maximize' }).click();
        // A browser that has much to do hears of the press when the one that drives it has gone on.
        await page.locator('.shell-window[data-app=clock][data-placement=maximized]').waitFor();
        await frames(page);
        assert.equal(await moving(), false);
      },
    ),
  ),
  {
    name: 'effect: logos carry the title of the brand',
    async run(world: World) {
      const browser = await world.browserFor(preferencesOf({ reducedMotion: false }));
      const context = await browser.newContext({ locale: 'en-GB' });
      const page = await context.newPage();
      await page.addInitScript(() => {
        const options = { brand: { title: 'Acme' }, defaults: { effect: 'logos' } };
        Object.assign(globalThis, { playground: { options }, written: [] as unknown[] });
        CanvasRenderingContext2D.prototype.fillText = function (text) {
          (globalThis as unknown as { written: unknown[] }).written.push([text, this.fillStyle]);
        };
      });
      await page.goto(world.url);
      const first = await page.waitForFunction(() => (globalThis as unknown as { written: unknown[] }).written[0]);
      assert.deepEqual(await first.jsonValue(), ['Acme', '#ffffff'], 'in the ink of the wallpaper');
    },
  },
  story(
    'effect: none for those who asked for less motion',
    { reducedMotion: true, options: { defaults: { effect: 'snow' } } },
    async ({ page }) => {
      assert.equal(await page.locator('canvas.shell-effect').isVisible(), false);
    },
  ),
];
