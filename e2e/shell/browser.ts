/** The browser and the playground, shared by all scenarios. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { addTaps, launchFirefox, SYSTEM_ACCESS, type Preferences } from '../../shell/scripts/firefox.ts';
import type { ShellApi } from '../../shell/src/index.ts';
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
  /** Closes whatever the scenario that ended has opened. */
  clear(): Promise<void>;
  end(): Promise<void>;
}

/** Who prefers nothing but less motion. */
const CALM: Preferences = {
  dark: false,
  touch: false,
  reducedMotion: true,
  forcedColours: false,
  moreContrast: false,
  lessTransparency: false,
};

/** Who prefers nothing at all. */
export const LIVELY: Preferences = { ...CALM, reducedMotion: false };

/** What a page's browser must be set to. */
export function preferencesOf(how: Opening): Preferences {
  return {
    dark: how.dark ?? CALM.dark,
    touch: how.touch ?? CALM.touch,
    reducedMotion: how.reducedMotion ?? CALM.reducedMotion,
    forcedColours: how.forcedColours ?? CALM.forcedColours,
    moreContrast: how.moreContrast ?? CALM.moreContrast,
    lessTransparency: how.lessTransparency ?? CALM.lessTransparency,
  };
}

/** Tells preferences apart. */
export function keyOf(preferences: Preferences): string {
  const special = Object.entries(preferences).filter(([name, value]) => value !== CALM[name as keyof Preferences]);
  return special.map(([name]) => name).join(' ');
}

/** Starts the playground and a browser. */
export async function start(engine: Engine = 'chromium'): Promise<World> {
  const launched = new Map<string, Promise<Browser>>();
  const calm = launchIn(engine, CALM);
  launched.set(keyOf(CALM), calm);
  const browserFor = async (preferences: Preferences) => {
    if (engine === 'chromium') return calm;
    const key = keyOf(preferences);
    const known = launched.get(key);
    if (known) return known;
    // A browser is large: one beside the first has to do, so whichever has no page goes.
    for (const [other, idle] of launched) {
      if (idle === calm || (await idle).contexts().length > 0) continue;
      launched.delete(other);
      await (await idle).close();
    }
    const browser = launchIn(engine, preferences);
    launched.set(key, browser);
    return browser;
  };
  const { server, url } = await serve(0);
  return {
    engine,
    browser: await calm,
    browserFor,
    url,
    async clear() {
      for (const browser of launched.values()) for (const context of (await browser).contexts()) await context.close();
    },
    async end() {
      for (const browser of launched.values()) await (await browser).close();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A browser for somebody. */
export function launchIn(engine: Engine, preferences: Preferences): Promise<Browser> {
  return engine === 'firefox' ? launchFirefox(preferences, [SYSTEM_ACCESS]) : launchChromium();
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
  moreContrast?: boolean;
  lessTransparency?: boolean;
  /** Device pixels to a CSS pixel. */
  scale?: number;
  path?: string;
  /** Options for `Shell.configure`, as JSON. */
  options?: Record<string, unknown>;
  /** Runs on the page with the shell, beside the playground's own registrations; it sees nothing of this file. */
  setup?: (shell: ShellApi) => void;
  /** Where the page is, when not on the shared playground. */
  url?: string;
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
  const preferences = preferencesOf(how);
  const { dark, touch, reducedMotion, forcedColours, moreContrast, lessTransparency } = preferences;
  const context =
    how.context ??
    (await (
      await world.browserFor(preferences)
    ).newContext({
      viewport: { width: how.width ?? 1440, height: how.height ?? 900 },
      locale: how.locale ?? 'en-GB',
      colorScheme: dark ? 'dark' : 'light',
      hasTouch: touch,
      isMobile: touch && (how.width ?? 1440) < 700,
      deviceScaleFactor: how.scale ?? 1,
      forcedColors: forcedColours ? 'active' : 'none',
      contrast: moreContrast ? 'more' : 'no-preference',
      reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    }));
  const page = await context.newPage();
  if (world.engine === 'firefox' && touch) addTaps(page);
  if (world.engine === 'chromium' && lessTransparency) await askForLessTransparency(page, preferences);
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
  if (how.setup) {
    await page.addInitScript(`globalThis.playground = { ...globalThis.playground, setup: ${how.setup.toString()} };`);
  }
  await page.goto(`${how.url ?? world.url}${how.path ?? '/'}`);
  await page.locator('.shell-taskbar').waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('.shell-tile, .shell-window, .shell-login') !== null);
  return { page, context, errors };
}

/** `playwright-core` has no word for it; told to Chromium, it replaces what was told before. */
async function askForLessTransparency(page: Page, { dark, reducedMotion }: Preferences): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setEmulatedMedia', {
    features: [
      { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
      { name: 'prefers-reduced-motion', value: reducedMotion ? 'reduce' : 'no-preference' },
      { name: 'prefers-reduced-transparency', value: 'reduce' },
    ],
  });
}
