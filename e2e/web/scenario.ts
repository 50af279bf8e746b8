/** What scenarios are made of: a page of the client, without errors at its end. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { addTaps } from '../../shell/scripts/firefox.ts';
import { enter, signIn, type Application, type DatabaseKind, type Person, type SignedIn } from './application.ts';

/** One played story. */
export interface Scenario {
  name: string;
  /** What it promises depends neither on the browser nor on the database: played in Chromium on SQLite, unless it's asked for by name. */
  once?: boolean;
  run(world: World): Promise<void>;
}

export type Engine = 'chromium' | 'firefox';

/** What a scenario works with. */
export interface World {
  application: Application;
  database: DatabaseKind;
  engine: Engine;
  browserFor(how: Opening): Promise<Browser>;
  contexts: BrowserContext[];
  /** Who has come through the front door already. */
  signedIn?: Promise<SignedIn>;
}

/** How a page is opened. */
export interface Opening {
  /** The app that fills the tab; none is the desktop. */
  app?: string;
  state?: unknown;
  width?: number;
  height?: number;
  locale?: string;
  dark?: boolean;
  touch?: boolean;
  /** The story opens its page itself (`Opened.visit`), once what it shows is there. */
  later?: boolean;
  /** Nobody is signed in. */
  stranger?: boolean;
  /** With the desktop that the person has, which is left as it is at the end. */
  ownDesktop?: boolean;
  /** With the service worker, which keeps files for when the network is away. */
  installed?: boolean;
  /** Errors that are part of the story. */
  expects?: RegExp;
  /** As with a scenario. */
  once?: boolean;
}

/** How browsers call a request, or a module that they import, that breaks off. */
const BROKEN_OFF = /NetworkError when attempting to fetch|Failed to fetch|error loading dynamically imported module/;

/** A page with what was said on its console. */
export interface Opened {
  page: Page;
  application: Application;
  /** Opens the page of a story that begins with something else. */
  visit(how: Opening): Promise<void>;
  /** Opens a further page of the same person. */
  another(how: Opening): Promise<Page>;
  /** Opens an address in a browser in which nobody is signed in. */
  stranger(address: string, how?: Opening): Promise<Page>;
}

/** The address of an app that fills the tab. */
export function addressOf(url: string, how: Opening): string {
  const fragment = how.state === undefined ? '' : `#${new URLSearchParams({ state: JSON.stringify(how.state) })}`;
  return how.app ? `${url}/?app=${how.app}${fragment}` : `${url}/`;
}

/** A browser's context for somebody. */
export async function contextFor(world: World, how: Opening): Promise<BrowserContext> {
  const browser = await world.browserFor(how);
  if (!how.stranger) world.signedIn ??= enter(browser, world.application);
  const storageState = how.stranger ? undefined : await world.signedIn;
  const context = await browser.newContext({
    ...(storageState ? { storageState } : {}),
    serviceWorkers: how.installed ? 'allow' : 'block',
    viewport: { width: how.width ?? 1440, height: how.height ?? 900 },
    locale: how.locale ?? 'en-GB',
    timezoneId: 'Europe/Berlin',
    colorScheme: how.dark ? 'dark' : 'light',
    hasTouch: how.touch ?? false,
    isMobile: (how.touch ?? false) && world.engine === 'chromium',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(30_000);
  if (!how.ownDesktop) await saveNoDesktop(context);
  world.contexts.push(context);
  return context;
}

/** A page on which a finger taps, where there is one. */
async function newPage(context: BrowserContext, how: Opening): Promise<Page> {
  const page = await context.newPage();
  if (how.touch && context.browser()?.browserType().name() === 'firefox') addTaps(page);
  return page;
}

/** Saves no desktop: windows that one scenario leaves open would lie over what another looks for. */
async function saveNoDesktop(context: BrowserContext): Promise<void> {
  await context.route('**/api/v1/profile?key=shell.*', (route) => route.fulfill({ status: 204 }));
}

async function openIn(context: BrowserContext, url: string, how: Opening, errors: string[]): Promise<Page> {
  const page = await newPage(context, how);
  const hear = (message: string, where = '') => {
    if (!how.expects?.test(message)) errors.push(`${message}${where}`);
  };
  // What was still on its way when a page is left breaks off, which Firefox tells as an error of that page.
  let isLeft = false;
  page.on('request', (request) => {
    isLeft ||= request.isNavigationRequest() && request.frame() === page.mainFrame();
  });
  page.on('domcontentloaded', () => {
    isLeft = false;
  });
  page.on('pageerror', (error) => {
    if (!isLeft || !BROKEN_OFF.test(error.message)) hear(String(error));
  });
  page.on('console', (message) => {
    // What failed to load says where only beside its text.
    if (message.type() === 'error') hear(message.text(), ` (${message.location().url})`);
  });
  if (!how.later) await visit(page, url, how);
  return page;
}

async function visit(page: Page, url: string, how: Opening): Promise<void> {
  await page.goto(addressOf(url, how));
  if (how.stranger) return;
  await page
    .locator(how.app ? '.svc-app' : '.shell-taskbar')
    .first()
    .waitFor();
}

/** A scenario on a fresh page that must end without any error on it. */
export function story(name: string, how: Opening, play: (opened: Opened) => Promise<void>): Scenario {
  return {
    name,
    once: how.once ?? false,
    async run(world) {
      const errors: string[] = [];
      const { application } = world;
      const context = await contextFor(world, how);
      const page = await openIn(context, application.url, how, errors);
      await play({
        page,
        application,
        visit: (next) => visit(page, application.url, next),
        async stranger(address, theirs) {
          const how = { ...theirs, stranger: true };
          const other = await newPage(await contextFor(world, how), how);
          await other.goto(address);
          return other;
        },
        another: (next) => openIn(context, application.url, { expects: how.expects, ...next } as Opening, errors),
      });
      assert.deepEqual(errors, [], 'errors on the page');
    },
  };
}

/** The rows of a list, by what stands in them. */
export function row(page: Page, text: string | RegExp): Locator {
  return page.locator('.svc-row[data-index]', { hasText: text });
}

/** Waits until a list shows as many rows as its head says. */
export async function total(page: Page, count: string): Promise<void> {
  await page.locator('.svc-head [role=status]', { hasText: new RegExp(`^\\s*${count}\\s*$`) }).waitFor();
}

/** The line at the foot that says what was done. */
export async function said(page: Page, text: string | RegExp): Promise<void> {
  await page.locator('.svc-notice', { hasText: text }).waitFor();
}

/** Waits until something is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`it never came to be: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A name that no other scenario uses. */
export function fresh(prefix: string): string {
  return `${prefix}-${Math.random().toString(36).slice(2, 8).toUpperCase()}`;
}

/** Tells a page of nothing live: what others do is then seen by what comes of one's own steps. The page's console says 503. */
export async function deafen(page: Page): Promise<void> {
  await page.route('**/api/v1/live?*', (route) => route.fulfill({ status: 503 }));
}

/** Makes a product past the client. */
export async function makeProduct(application: Application, name: string): Promise<{ id: string; sku: string }> {
  const { value } = await application.ask<{ value: { id: string }[] }>('/odata/v1/Categories?$top=1');
  const sku = fresh('T');
  const body = { sku, name, price: 10, categoryId: value[0]?.id };
  return application.ask<{ id: string; sku: string }>('/odata/v1/Products', { method: 'POST', body });
}

/** Signs somebody in, where the page that was just left hasn't done so already. */
export async function signInAs(page: Page, person: Person): Promise<void> {
  await page.locator('[name=email], .shell-taskbar').first().waitFor();
  if ((await page.locator('.shell-taskbar').count()) === 0) await signIn(page, person);
}
