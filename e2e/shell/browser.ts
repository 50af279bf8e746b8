/** The browser and the playground, shared by all scenarios. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { serve } from '../../shell/scripts/play.ts';

/** What a scenario works with. */
export interface World {
  browser: Browser;
  url: string;
  /** Contexts opened by the scenario at work. */
  contexts: BrowserContext[];
  end(): Promise<void>;
}

/** Starts the playground and a browser. */
export async function start(flags: string[] = []): Promise<World> {
  const browser = await launchChromium(flags);
  const { server, url } = await serve(0);
  return {
    browser,
    url,
    contexts: [],
    async end() {
      await browser.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** How a page is opened. */
export interface Opening {
  width?: number;
  height?: number;
  locale?: string;
  dark?: boolean;
  touch?: boolean;
  reducedMotion?: boolean;
  forcedColours?: boolean;
  /** Device pixels to a CSS pixel. */
  scale?: number;
  path?: string;
  /** Options for `Shell.configure`, as JSON. */
  options?: Record<string, unknown>;
  context?: BrowserContext;
}

/** A page with its errors. */
export interface Desktop {
  page: Page;
  context: BrowserContext;
  errors: string[];
}

/** Opens the playground and waits until the desktop stands. */
export async function open(world: World, how: Opening = {}): Promise<Desktop> {
  const context =
    how.context ??
    (await world.browser.newContext({
      viewport: { width: how.width ?? 1440, height: how.height ?? 900 },
      locale: how.locale ?? 'en-GB',
      colorScheme: how.dark ? 'dark' : 'light',
      hasTouch: how.touch ?? false,
      isMobile: (how.touch ?? false) && (how.width ?? 1440) < 700,
      deviceScaleFactor: how.scale ?? 1,
      forcedColors: how.forcedColours ? 'active' : 'none',
      reducedMotion: how.reducedMotion === false ? 'no-preference' : 'reduce',
    }));
  if (!world.contexts.includes(context)) world.contexts.push(context);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  if (how.options) {
    await page.addInitScript((options) => {
      (globalThis as { playground?: unknown }).playground = { options };
    }, how.options);
  }
  await page.goto(`${world.url}${how.path ?? '/'}`);
  await page.locator('.shell-taskbar').waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('.shell-tile, .shell-window') !== null);
  return { page, context, errors };
}
