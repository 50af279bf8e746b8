/** What is drawn: motion from where the person looks, marks that are plain on any wallpaper, a grid that stays together. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { WALLPAPERS } from '../../shell/src/core/wallpapers.ts';
import { area, becomes, box, drag, frames, middle, openApp, same, story, titleOf, type Box } from './scenario.ts';

/** From now on, what scripts set in motion stands still at its beginning. */
async function holdMotion(page: Page): Promise<void> {
  await page.evaluate(() => {
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (steps, options) {
      const animation = animate.call(this, steps, options);
      animation.pause();
      return animation;
    };
  });
}

/** Waits until motion that is under way is over. */
async function atRest(element: Locator): Promise<void> {
  await element.evaluate((one) => Promise.all(one.getAnimations().map(({ finished }) => finished)));
}

/** Where something that is held is when this share of its motion is over. */
async function heldAt(element: Locator, share: number): Promise<Box> {
  return element.evaluate((one, part) => {
    const held = one.getAnimations().find(({ playState }) => playState === 'paused');
    if (!held) throw new Error('nothing is in motion');
    held.currentTime = Number(held.effect?.getComputedTiming().duration) * part;
    const { x, y, width, height } = one.getBoundingClientRect();
    return { x, y, width, height };
  }, share);
}

/** Ends what is held. */
async function letGo(element: Locator): Promise<void> {
  await element.evaluate((one) => {
    for (const animation of one.getAnimations()) animation.finish();
  });
}

const START = 0;
/** At the very end an animation no longer shows. */
const END = 0.9999;

/** The hash of `body {}`, a style with which the driver of Firefox lets a page come to rest before a picture; the policy refuses it. */
const OF_THE_DRIVER = 'sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA=';

/**
 * How plain a mark is: the contrast of its plainest line with what lies beyond it. Looked at is a strip of the picture that
 * crosses the mark's right edge; the last pixel of each row lies beyond, and the worst row counts.
 */
async function plainness(page: Page, mark: Locator, down: number): Promise<number> {
  const { x, y, width, height } = await box(mark);
  const clip = { x: Math.round(x + width) - 6, y: Math.round(y + height * down), width: 14, height: 4 };
  const picture = (await page.screenshot({ clip, caret: 'initial' })).toString('base64');
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.drawImage(image, 0, 0);
    const light = (column: number, row: number) => {
      const [red = 0, green = 0, blue = 0] = context.getImageData(column, row, 1, 1).data;
      const linear = [red, green, blue].map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
    };
    const rows = Array.from({ length: image.height }, (_unused, row) => {
      const beyond = light(image.width - 1, row);
      const contrasts = Array.from({ length: image.width }, (_none, column) => {
        const [more, less] = [beyond, light(column, row)].sort((a, b) => b - a);
        return ((more ?? 0) + 0.05) / ((less ?? 0) + 0.05);
      });
      return Math.max(...contrasts);
    });
    return Math.min(...rows);
  }, picture);
}

/** Puts up every wallpaper that ships, one after the other. */
async function onEveryWallpaper(page: Page, look: (name: string) => Promise<void>): Promise<void> {
  for (const wallpaper of Object.keys(WALLPAPERS)) {
    await page.evaluate((id) => window.Shell.configure({ defaults: { wallpaper: id } }), wallpaper);
    await page.waitForFunction(
      (id) => document.querySelector<HTMLElement>('.shell-wallpaper:only-child')?.dataset.background?.includes(id),
      wallpaper,
    );
    await frames(page);
    await look(wallpaper);
  }
}

/** The step from a tile to its neighbours, and the side of its sign. */
async function measures(page: Page): Promise<{ across: number; down: number; sign: number }> {
  const plates = page.locator('.shell-main .shell-tile .shell-plate');
  const [first, right, below] = [await box(plates.nth(0)), await box(plates.nth(1)), await box(plates.nth(5))];
  return { across: right.x - first.x, down: below.y - first.y, sign: first.width };
}

export const drawn = [
  story(
    'motion: a window that is minimized goes to its task, and comes back from there',
    { reducedMotion: false },
    async ({ page }) => {
      await openApp(page, 'sales');
      const win = await openApp(page, 'clock');
      await atRest(win);
      const [before, task] = [await box(win), await box(page.locator('.shell-task[data-app=clock]'))];
      const atTask = (rect: Box, when: string) => {
        const inside = rect.x >= task.x && rect.x <= task.x + task.width;
        assert.ok(inside && Math.abs(rect.y - task.y) <= task.height, `${when}: ${JSON.stringify({ rect, task })}`);
        assert.ok(rect.width < before.width / 10, `${when}: it is ${rect.width} wide`);
      };
      await holdMotion(page);
      await win.getByRole('button', { name: 'Minimize' }).click();
      same(await heldAt(win, START), before, 'it sets out from where it was');
      atTask(await heldAt(win, END), 'it arrives at its task');
      await letGo(win);
      await win.waitFor({ state: 'hidden' });
      await page.locator('.shell-task[data-app=clock]').click();
      atTask(await heldAt(win, START), 'it comes from its task');
      same(await heldAt(win, END), before, 'to where it was');
      await letGo(win);
      await becomes(win, before, 'back');
    },
  ),
  story('motion: a folder opens from its tile', { reducedMotion: false }, async ({ page }) => {
    await page.locator('.shell-tile').first().click({ button: 'right' });
    await page.getByRole('menu').getByText('Move to folder').click();
    await page.getByRole('menu').last().getByText('New folder').click();
    const tile = page.locator('.shell-tile[data-folder]');
    const from = await middle(tile);
    await holdMotion(page);
    await tile.click();
    const panel = page.locator('.shell-folder');
    const [small, whole] = [await heldAt(panel, START), await heldAt(panel, END)];
    const away = (rect: Box) => Math.hypot(rect.x + rect.width / 2 - from.x, rect.y + rect.height / 2 - from.y);
    assert.ok(small.width < whole.width / 3, `it begins ${small.width} wide and becomes ${whole.width}`);
    assert.ok(
      away(small) < away(whole) / 3,
      `it begins ${away(small)} px from its tile and ends ${away(whole)} px away`,
    );
  }),
  story(
    'effects: draw with every frame of the screen',
    { reducedMotion: false, options: { defaults: { effect: 'snow' } } },
    async ({ page }) => {
      await page.locator('canvas.shell-effect').waitFor();
      const drawings = await page.evaluate(async () => {
        let count = 0;
        const clear = CanvasRenderingContext2D.prototype.clearRect;
        CanvasRenderingContext2D.prototype.clearRect = function (...rect) {
          count += 1;
          clear.apply(this, rect);
        };
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        await frame();
        const before = count;
        for (let passed = 0; passed < 40; passed += 1) await frame();
        return count - before;
      });
      assert.ok(drawings >= 39 && drawings <= 41, `${drawings} drawings in 40 frames`);
    },
  ),
  story('webtop: tiles grow with the screen up to a point, and stay together', {}, async ({ page }) => {
    const usual = await measures(page);
    for (const [width, height] of [
      [1920, 1080],
      [2560, 1440],
      [3840, 2160],
    ] as const) {
      await page.setViewportSize({ width, height });
      await frames(page);
      const { across, down, sign } = await measures(page);
      const where = `at ${width} × ${height}`;
      assert.ok(sign >= usual.sign && sign <= usual.sign * 1.5, `${where} a sign has ${sign} px, ${usual.sign} before`);
      assert.ok(
        across <= sign * 2.5 && down <= sign * 2.5,
        `${where} signs of ${sign} px are ${across}, ${down} apart`,
      );
    }
    assert.ok((await measures(page)).sign > usual.sign, 'specks on a large screen');
  }),
  ...[false, true].map((dark) =>
    story(
      `marks: the guide and a folder in the making are plain on any wallpaper (${dark ? 'dark' : 'light'})`,
      { dark },
      async ({ page, errors }) => {
        const guide = page.locator('.shell-guide');
        const win = await openApp(page, 'clock');
        await drag(page, await titleOf(win), { x: 3, y: 400 }, false);
        const usable = await area(page);
        await becomes(guide, { ...usable, width: usable.width / 2 }, 'the guide');
        await onEveryWallpaper(page, async (name) => {
          const contrast = await plainness(page, guide, 0.9);
          assert.ok(contrast >= 3, `the guide on ${name}: ${contrast.toFixed(2)}`);
        });
        await page.keyboard.press('Escape');
        await page.mouse.up();
        await page.keyboard.press('Alt+Shift+W');
        await win.waitFor({ state: 'detached' });
        const [from, to] = [page.locator('.shell-tile').nth(1), page.locator('.shell-tile').nth(0)];
        await drag(page, await middle(from), await middle(to), false);
        const mark = page.locator('.shell-drop[data-kind=fold]');
        await mark.waitFor();
        await onEveryWallpaper(page, async (name) => {
          const contrast = await plainness(page, mark, 0.2);
          assert.ok(contrast >= 3, `a folder in the making on ${name}: ${contrast.toFixed(2)}`);
        });
        const word = mark.locator('.shell-drop-word');
        assert.equal(await word.innerText(), 'Make a folder');
        const [tile, label] = [await box(to), await box(word)];
        assert.ok(label.y >= tile.y + tile.height - 1, 'it says so below the tile, which stays in sight');
        assert.equal(await mark.evaluate((one) => getComputedStyle(one).backgroundColor), 'rgba(0, 0, 0, 0)');
        await page.keyboard.press('Escape');
        await page.mouse.up();
        errors.splice(0, errors.length, ...errors.filter((text) => !text.includes(OF_THE_DRIVER)));
      },
    ),
  ),
];
