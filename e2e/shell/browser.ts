/** The browser and the playground, shared by all scenarios. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { addTaps, launchFirefox, type Preferences } from '../../shell/scripts/firefox.ts';
import { serve } from '../../shell/scripts/play.ts';

/** The browsers that scenarios are played in. */
const ENGINES = ['chromium', 'firefox'] as const;
export type Engine = (typeof ENGINES)[number];

/** The engine that somebody names. */
export function engineNamed(name: string): Engine {
  const engine = ENGINES.find((known) => known === name);
  if (!engine) throw new Error(`there is no browser \`${name}\`; write one of ${ENGINES.join(', ')}`);
  return engine;
}

/** What a scenario works with. */
export interface World {
  engine: Engine;
  /** For whoever prefers nothing but less motion. */
  browser: Browser;
  /** The browser to open a page in; Firefox has one for every set of preferences. */
  browserFor(preferences: Preferences): Promise<Browser>;
  url: string;
  /** Contexts opened by the scenario at work. */
  contexts: BrowserContext[];
  end(): Promise<void>;
}

/** Starts the playground and a browser. */
export async function start(engine: Engine = 'chromium'): Promise<World> {
  const launched = new Map<string, Promise<Browser>>();
  const browserFor = (preferences: Preferences) => {
    const key = engine === 'firefox' ? JSON.stringify(preferences) : '';
    const browser = launched.get(key) ?? (key ? launchFirefox(preferences) : launchChromium());
    launched.set(key, browser);
    return browser;
  };
  const browser = await browserFor({ dark: false, reducedMotion: true, touch: false });
  const { server, url } = await serve(0);
  return {
    engine,
    browser,
    browserFor,
    url,
    contexts: [],
    async end() {
      for (const each of launched.values()) await (await each).close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The browser a page is in. */
export function engineOf(page: Page): Engine {
  return page.context().browser()?.browserType().name() === 'firefox' ? 'firefox' : 'chromium';
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
  const [dark, touch, reducedMotion] = [how.dark ?? false, how.touch ?? false, how.reducedMotion ?? true];
  const context =
    how.context ??
    (await (
      await world.browserFor({ dark, touch, reducedMotion })
    ).newContext({
      viewport: { width: how.width ?? 1440, height: how.height ?? 900 },
      locale: how.locale ?? 'en-GB',
      colorScheme: dark ? 'dark' : 'light',
      hasTouch: touch,
      isMobile: touch && (how.width ?? 1440) < 700,
      deviceScaleFactor: how.scale ?? 1,
      forcedColors: how.forcedColours ? 'active' : 'none',
      reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    }));
  if (!world.contexts.includes(context)) world.contexts.push(context);
  const page = await context.newPage();
  if (world.engine === 'firefox' && touch) addTaps(page);
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
