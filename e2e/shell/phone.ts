/** Small screens. */
import assert from 'node:assert/strict';
import { area, box, frames, openApp, becomes, story } from './scenario.ts';

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
  story('phone: the grid stands upright, a swipe turns to the next webtop', PHONE, async ({ page }) => {
    const columns = await page
      .locator('.shell-grid')
      .evaluate((grid) => getComputedStyle(grid).gridTemplateColumns.split(' ').length);
    assert.equal(columns, 3);
    await page.locator('.shell-pilot-button').tap();
    await page.getByRole('button', { name: 'Add webtop' }).tap();
    await page.locator('.shell-pilot-card-open').first().tap();
    const session = await page.context().newCDPSession(page);
    await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: 330, y: 690 }] });
    for (let x = 300; x >= 60; x -= 40)
      await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x, y: 692 }] });
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await frames(page);
    assert.equal(await page.locator('.shell-pager [aria-current]').getAttribute('aria-label'), 'Webtop 2');
  }),
  story('zoom: at 200 % everything stays reachable', { width: 720, height: 450 }, async ({ page }) => {
    await openApp(page, 'shell.settings');
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.shell-taskbar, .shell-window .shell-titlebar')]
        .map((element) => element.getBoundingClientRect())
        .filter(
          (rect) => rect.left < -1 || rect.top < -1 || rect.right > innerWidth + 1 || rect.bottom > innerHeight + 1,
        ),
    );
    assert.deepEqual(outside, []);
    await page.locator('.shell-start-button').click();
    const start = await box(page.locator('.shell-start'));
    assert.ok(start.y >= 0 && start.y + start.height <= 450);
  }),
  story('touch: windows are moved and snapped with a finger', { touch: true }, async ({ page }) => {
    const win = await openApp(page, 'clock');
    const session = await page.context().newCDPSession(page);
    const { x, y } = await box(win.locator('.shell-window-title'));
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', px?: number, py?: number) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: px === undefined ? [] : [{ x: px, y: py ?? 0 }] });
    await touch('touchStart', x + 20, y + 10);
    for (let step = 1; step <= 10; step += 1) await touch('touchMove', x + 20 - ((x + 16) * step) / 10, y + 200);
    await frames(page);
    await touch('touchEnd');
    await frames(page);
    assert.equal(await win.getAttribute('data-placement'), 'left');
  }),
];
