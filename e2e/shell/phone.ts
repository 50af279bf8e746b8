/** Small screens. */
import assert from 'node:assert/strict';
import { area, becomes, box, finger, frames, middle, openApp, story } from './scenario.ts';

const PHONE = { width: 390, height: 844, touch: true };

export const phone = [
  story('phone: windows fill the screen, the switcher shows them, targets are 44 px', PHONE, async ({ page }) => {
    const win = await openApp(page, 'notes');
    await becomes(win, await area(page), 'fills');
    await openApp(page, 'sales');
    const small = await page.evaluate(() =>
      [
        ...document.querySelectorAll<HTMLElement>(
          '.shell-taskbar button, .shell-window[data-active] .shell-titlebar button',
        ),
      ]
        .filter((button) => button.checkVisibility())
        .map((button) => ({ name: button.getAttribute('aria-label'), size: button.getBoundingClientRect() }))
        .filter(({ size }) => size.width < 44 || size.height < 44)
        .map(({ name, size }) => `${name} ${size.width}×${size.height}`),
    );
    assert.deepEqual(small, []);
    await page.locator('.shell-pilot-button').tap();
    assert.equal(await page.locator('.shell-pilot-window').count(), 2);
    await page.locator('.shell-pilot-window').last().tap();
    assert.equal(await page.locator('.shell-window[data-active]').getAttribute('data-app'), 'notes');
  }),
  story('tablet: targets are 44 px', { width: 820, height: 1180, touch: true }, async ({ page }) => {
    await openApp(page, 'people');
    await page.locator('.shell-window-icon').tap();
    await page.getByRole('menu').waitFor();
    const small = await page.evaluate(() =>
      [...document.querySelectorAll('.shell-taskbar button, .shell-window-button, .shell-menu-item')]
        .filter((button) => button.checkVisibility())
        .map((button) => ({ name: button.textContent || button.ariaLabel, size: button.getBoundingClientRect() }))
        .filter(({ size }) => size.width < 44 || size.height < 44)
        .map(({ name, size }) => `${name} ${size.width}×${size.height}`),
    );
    assert.deepEqual(small, []);
  }),
  story('phone: the task of the window in front is whole, whatever else lies in the bar', PHONE, async ({ page }) => {
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    await page.keyboard.press('Escape');
    await page.evaluate(() => void window.Shell.notify({ title: 'Backup done' }));
    for (const id of ['notes', 'sales', 'clock', 'people']) await openApp(page, id);
    for (const width of [390, 360]) {
      await page.setViewportSize({ width, height: 844 });
      const task = page.locator('.shell-task[aria-current]');
      await page.waitForFunction(() => {
        const [task, tasks] = ['.shell-task[aria-current]', '.shell-tasks'].map((selector) =>
          document.querySelector(selector)?.getBoundingClientRect(),
        );
        return task && tasks && task.left >= tasks.left - 1 && task.right <= tasks.right + 1;
      });
      assert.ok((await box(task)).width >= 44, `at ${width}`);
      assert.equal(await page.locator('.shell-bell').isVisible(), true);
      assert.equal(await page.locator('.shell-dot').count(), 2);
    }
  }),
  story('phone: settings say that the taskbar stays at the bottom', PHONE, async ({ page }) => {
    await openApp(page, 'shell.settings', { section: 'taskbar' });
    await page.getByText('stays at the bottom').waitFor();
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.getByText('stays at the bottom').waitFor({ state: 'hidden' });
  }),
  ...(['en-GB', 'de-DE'] as const).map((locale) =>
    story(`phone: all pages of Settings are in sight (${locale})`, { ...PHONE, locale }, async ({ page }) => {
      const win = await openApp(page, 'shell.settings');
      for (const tab of await win.getByRole('tab').all()) {
        const { x, width, height } = await box(tab);
        const name = await tab.textContent();
        assert.ok(x >= 0 && x + width <= 390, `${name} lies from ${x} to ${x + width}`);
        assert.ok(width >= 44 && height >= 44, `${name} is ${width} × ${height}`);
        const { content, room } = await tab.evaluate((element) => ({
          content: element.scrollWidth,
          room: element.clientWidth,
        }));
        assert.ok(content <= room, `${name} is cut off`);
      }
    }),
  ),
  story('phone: what the search field says fits into it', { ...PHONE, locale: 'de-DE' }, async ({ page }) => {
    await page.locator('.shell-start-button').tap();
    const { text, room } = await page.getByRole('combobox').evaluate((element) => {
      const input = element as HTMLInputElement;
      const pen = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
      pen.font = getComputedStyle(input).font;
      return { text: pen.measureText(input.placeholder).width, room: input.clientWidth };
    });
    assert.ok(text > 0 && text <= room, `${text} px in ${room} px`);
  }),
  story('phone: a swipe in a window leaves the page where it is', PHONE, async ({ page }) => {
    const here = page.url();
    const hand = await finger(page);
    // Across the page's own text, a frame, and what can be scrolled.
    for (const app of ['people', 'handbook', 'notes']) {
      const { x, y, width, height } = await box((await openApp(page, app)).locator('.shell-body'));
      const [left, right] = [x + width * 0.15, x + width * 0.95];
      for (const [from, to] of [
        [left, right],
        [right, left],
      ] as const) {
        await hand.press({ x: from, y: y + height / 2 });
        await hand.glide({ x: from, y: y + height / 2 }, { x: to, y: y + height / 2 });
        await hand.lift();
      }
      // As long as a browser takes to go back.
      await page.waitForTimeout(600);
      assert.equal(page.url(), here, app);
      assert.equal(await page.locator('.shell-window[data-active]').getAttribute('data-app'), app);
    }
  }),
  story('phone: a title that is pulled closes the notices and leaves the focus somewhere', PHONE, async ({ page }) => {
    const title = (await openApp(page, 'calculator')).locator('.shell-titlebar');
    await page.evaluate(() => window.Shell.notify({ title: 'Backup done' }));
    await page.locator('.shell-bell').tap();
    await page.locator('.shell-notice-panel').waitFor();
    const { x, y, width } = await box(title);
    const [from, to] = [
      { x: x + width / 2, y: y + 16 },
      { x: x + width / 2 + 60, y: y + 300 },
    ];
    const hand = await finger(page);
    await hand.press(from);
    await hand.glide(from, to);
    await hand.lift();
    await page.locator('.shell-notice-panel').waitFor({ state: 'detached' });
    await frames(page);
    assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
  }),
  ...(
    [
      [320, 640],
      [390, 844],
      [844, 390],
    ] as const
  ).map(([width, height]) =>
    story(
      `phone: folder, pilot view and notices keep to ${width} × ${height}`,
      { width, height, touch: true },
      async ({ page }) => {
        const hand = await finger(page);
        const [first, second] = [
          await middle(page.locator('.shell-tile').first()),
          await middle(page.locator('.shell-tile').nth(1)),
        ];
        await hand.press(first);
        await page.waitForTimeout(600);
        await hand.glide(first, second);
        await page.waitForFunction(() => document.querySelector<HTMLElement>('.shell-drop')?.dataset.kind === 'fold');
        await hand.lift();
        await page.locator('.shell-tile[data-folder]').tap();
        const inside = async (selector: string) => {
          for (const part of await page.locator(selector).all()) {
            const edge = await box(part);
            assert.ok(
              edge.x >= 0 && edge.y >= 0 && edge.x + edge.width <= width && edge.y + edge.height <= height,
              `${selector} at ${JSON.stringify(edge)}`,
            );
          }
        };
        await page.waitForTimeout(250);
        await inside('.shell-folder, .shell-folder button');
        assert.ok((await box(page.locator('.shell-folder-title'))).height >= 44, 'the name can be hit');
        await page.keyboard.press('Escape');
        for (const id of ['notes', 'gallery', 'handbook', 'people', 'calendar']) await openApp(page, id);
        await page.keyboard.press('F9');
        await inside('.shell-pilot-name');
        const names = await page.locator('.shell-pilot-name').all();
        const boxes = await Promise.all(names.map((name) => box(name)));
        for (const one of boxes)
          for (const other of boxes)
            assert.ok(
              one === other || one.y !== other.y || one.x + one.width <= other.x || other.x + other.width <= one.x,
              'names lie beside each other',
            );
        await page.keyboard.press('Escape');
        await page.evaluate(() => {
          for (let count = 1; count <= 6; count += 1)
            window.Shell.notify({
              title: `Invoice ${count} is overdue`,
              text: 'Contoso, since Monday',
              appId: 'sales',
            });
        });
        await page.locator('.shell-toast').last().waitFor();
        const title = await box(page.locator('.shell-window[data-active] .shell-titlebar'));
        for (const toast of await page.locator('.shell-toast:visible').all())
          assert.ok((await box(toast)).y > title.y + title.height, 'the title bar is in sight');
        for (const button of await page.locator('.shell-toast:visible button').all()) {
          const size = await box(button);
          assert.ok(size.width >= 44 && size.height >= 44, `${await button.textContent()} can be hit`);
        }
      },
    ),
  ),
  story('phone: a finger that stays on the webtop gets its menu', PHONE, async ({ page }) => {
    const hand = await finger(page);
    const at = { x: 330, y: 690 };
    await hand.press(at);
    await page.getByRole('menuitem', { name: 'New folder' }).waitFor();
    await hand.lift();
    await page.waitForTimeout(300);
    assert.equal(await page.getByRole('menu').count(), 1, 'one menu, which stays');
    await page.getByRole('menuitem', { name: 'Wallpaper' }).tap();
    await page.locator('.shell-window[data-app="shell.settings"]').waitFor();
    await page.keyboard.press('Alt+Shift+W');
    await page.locator('.shell-window').waitFor({ state: 'detached' });
    await hand.press(at);
    await hand.glide(at, { x: at.x, y: at.y - 40 });
    await page.waitForTimeout(600);
    assert.equal(await page.getByRole('menu').count(), 0, 'one that moves gets none');
    await hand.lift();
  }),
  story('phone: a finger leaves no hover behind', PHONE, async ({ page }) => {
    const [all, applying] = await page.evaluate(() => {
      const hovers: [selector: string, applies: boolean][] = [];
      const look = (rules: CSSRuleList, applies: boolean) => {
        for (const rule of rules) {
          const here = applies && !(rule instanceof CSSMediaRule && !matchMedia(rule.conditionText).matches);
          // What is left out for whoever points stays right for a finger.
          const selector = rule instanceof CSSStyleRule ? rule.selectorText.replaceAll(/:not\([^)]*\)/g, '') : '';
          if (selector.includes(':hover')) hovers.push([selector, here]);
          if (rule instanceof CSSGroupingRule || rule instanceof CSSStyleRule) look(rule.cssRules, here);
        }
      };
      for (const sheet of document.styleSheets) if (sheet.href?.includes('shell.css')) look(sheet.cssRules, true);
      return [hovers.length, hovers.filter(([, applies]) => applies).map(([selector]) => selector)];
    });
    assert.ok(all > 10, 'the stylesheet was read');
    assert.deepEqual(applying, []);
  }),
  story('phone: the grid stands upright, a swipe turns to the next webtop', PHONE, async ({ page }) => {
    const columns = await page
      .locator('.shell-grid')
      .evaluate((grid) => getComputedStyle(grid).gridTemplateColumns.split(' ').length);
    assert.equal(columns, 3);
    await page.locator('.shell-pilot-button').tap();
    await page.getByRole('button', { name: 'Add webtop' }).tap();
    await page.locator('.shell-pilot-card-open').first().tap();
    const touch = await finger(page);
    await touch.press({ x: 330, y: 690 });
    await touch.glide({ x: 330, y: 690 }, { x: 60, y: 692 });
    await touch.lift();
    await frames(page);
    assert.equal(await page.locator('.shell-pager [aria-current]').getAttribute('aria-label'), 'Webtop 2');
  }),
  story(
    'phone: on its side the grid lies, upright it stands, and nothing overlaps',
    { ...PHONE, width: 844, height: 390 },
    async ({ page }) => {
      const look = () =>
        page.evaluate(() => {
          const all = [...document.querySelectorAll('.shell-main .shell-tile, .shell-taskbar')].map((element) =>
            element.getBoundingClientRect(),
          );
          const meets = (one: DOMRect, other: DOMRect) =>
            one !== other &&
            one.left < other.right - 1 &&
            other.left < one.right - 1 &&
            one.top < other.bottom - 1 &&
            other.top < one.bottom - 1;
          const grid = document.querySelector('.shell-main .shell-grid');
          return {
            overlapping: all.filter((one) => all.some((other) => meets(one, other))).length,
            columns: grid ? getComputedStyle(grid).gridTemplateColumns.split(' ').length : 0,
          };
        });
      assert.deepEqual(await look(), { overlapping: 0, columns: 5 });
      await page.setViewportSize({ width: 390, height: 844 });
      await frames(page);
      assert.deepEqual(await look(), { overlapping: 0, columns: 3 });
    },
  ),
];
