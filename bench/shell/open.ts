/** Opens the same windows with each of the libraries. */
import type { Browser, Page } from 'playwright-core';
import { freshPage, spentIn } from './browser.ts';

/** What is compared, in the order in which they take turns. */
export const LIBRARIES = ['shell', 'winbox', 'jspanel'] as const;
/** One of them. */
export type Library = (typeof LIBRARIES)[number];

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12);

/** A page with a library that is ready to open windows. */
export async function ready(browser: Browser, url: string, library: Library): Promise<Page> {
  const page = await freshPage(browser, `${url}/${library}`);
  if (library === 'shell') {
    await page.evaluate(async (text) => {
      window.Shell.registerApp({
        id: 'text',
        title: 'Text',
        icon: 'notes.svg',
        width: 400,
        height: 300,
        render: () => {
          const paragraph = document.createElement('p');
          paragraph.textContent = text;
          return paragraph;
        },
      });
      document.body.append(document.createElement('shell-desktop'));
      // The clock comes last; a start isn't what is compared here.
      while (!document.querySelector('.shell-clock-time')?.textContent)
        await new Promise((resolve) => setTimeout(resolve, 50));
    }, TEXT);
  }
  return page;
}

/** What opening cost, in milliseconds. */
export interface Opening {
  /** On the clock: the loop that opens, and until all is drawn. */
  script: number;
  settled: number;
  /** The main thread's own time until all is drawn. */
  cpu: number;
}

/** How windows are opened or closed: in one loop, or with a task of the browser's after each. */
export type Pace = 'loop' | 'turns';

/** Opens windows and waits until they are drawn. */
export async function openMany(page: Page, library: Library, count: number, pace: Pace = 'loop'): Promise<Opening> {
  return timed(page, () => openAndDraw(page, library, count, pace));
}

/** Closes all windows and waits until that's drawn. */
export async function closeMany(page: Page, library: Library, pace: Pace): Promise<Opening> {
  return timed(page, () => closeAndDraw(page, library, pace));
}

async function timed(page: Page, act: () => Promise<{ script: number; settled: number }>): Promise<Opening> {
  let clock = { script: 0, settled: 0 };
  const spent = await spentIn(page, async () => {
    clock = await act();
  });
  return { ...clock, cpu: spent('TaskDuration') * 1000 };
}

function closeAndDraw(page: Page, library: Library, pace: Pace): Promise<{ script: number; settled: number }> {
  return page.evaluate(
    async ([kind, step]) => {
      const turn = () =>
        new Promise<void>((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => {
            port1.close();
            resolve();
          };
          port2.postMessage(0);
        });
      const selector = { shell: '[data-act=close]', winbox: '.wb-close', jspanel: '.jsPanel-btn-close' }[kind];
      const buttons = [...document.querySelectorAll<HTMLElement>(selector)].reverse();
      const began = performance.now();
      for (const button of buttons) {
        button.click();
        if (step === 'turns') await turn();
      }
      const script = performance.now() - began;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      return { script, settled: performance.now() - began };
    },
    [library, pace] as const,
  );
}

function openAndDraw(
  page: Page,
  library: Library,
  count: number,
  pace: Pace,
): Promise<{ script: number; settled: number }> {
  return page.evaluate(
    async ([kind, amount, text, step]) => {
      const turn = () =>
        new Promise<void>((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => {
            port1.close();
            resolve();
          };
          port2.postMessage(0);
        });
      const content = () => {
        const paragraph = document.createElement('p');
        paragraph.textContent = text;
        return paragraph;
      };
      const globals = window as unknown as {
        WinBox: new (options: object) => unknown;
        jsPanel: { create(options: object): unknown };
      };
      const began = performance.now();
      for (let index = 0; index < amount; index += 1) {
        const [x, y] = [(index * 37) % 900, (index * 23) % 500];
        if (kind === 'shell') window.Shell.openApp('text');
        else if (kind === 'winbox')
          new globals.WinBox({ title: 'Text', x, y, width: 400, height: 300, mount: content() });
        else
          globals.jsPanel.create({
            headerTitle: 'Text',
            panelSize: '400 300',
            position: { my: 'left-top', at: 'left-top', offsetX: x, offsetY: y },
            content: content(),
            animateIn: false,
          });
        if (step === 'turns') await turn();
      }
      const script = performance.now() - began;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      return { script, settled: performance.now() - began };
    },
    [library, count, TEXT, pace] as const,
  );
}
