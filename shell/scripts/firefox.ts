/**
 * Starts stock Firefox over WebDriver BiDi, as far as `playwright-core` and Firefox understand each other.
 *
 * What a person prefers can't be told to Firefox over that protocol yet, and `playwright-core` opens no page without having
 * told it. So that command is answered here, and the preferences are the browser's own. Fingers are in the protocol but not in
 * `playwright-core`: they're added here. It also opens a window for each page, whose tool bars cost the browser more than the
 * page does and leave some 10 MB behind: a page that is alone is a tab of the first window instead.
 */
import { existsSync } from 'node:fs';
import { firefox, type Browser, type Page } from 'playwright-core';

/** Where one may lie; `FIREFOX` names another. */
const PATHS = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

const REFUSED = 'emulation.setMediaFeaturesOverride';
const CREATE = 'browsingContext.create';
/** What a pointer can do, as Firefox counts it: a finger is coarse; a mouse is fine and hovers. */
const FINGER = 1;
const MOUSE = 2 + 4;

/** Whom the browser is for. */
export interface Preferences {
  dark: boolean;
  reducedMotion: boolean;
  touch: boolean;
  /** The browser chooses all colours. */
  forcedColours: boolean;
  moreContrast: boolean;
  lessTransparency: boolean;
}

interface Session {
  sessionId: string;
  send(method: string, params?: unknown): Promise<unknown>;
}

interface Delegate {
  _session: Session;
  rawTouchscreen: { tap(progress: unknown, x: number, y: number): Promise<void> };
}

/** What `playwright-core` keeps behind its objects when it runs in the same process. */
interface Inside {
  _connection: {
    toImpl(browser: Browser): { _browserSession: Session };
    toImpl(page: Page): { delegate: Delegate };
  };
}

/** What lets `privileged` reach the browser itself. */
export const SYSTEM_ACCESS = '--remote-allow-system-access';

/** Starts it, with further flags. */
export async function launchFirefox(whom: Preferences, flags: readonly string[] = []): Promise<Browser> {
  const { FIREFOX } = process.env;
  const executablePath = (FIREFOX ? [FIREFOX] : PATHS).find((path) => existsSync(path));
  if (!executablePath) {
    const looked = FIREFOX ? `at \`${FIREFOX}\`, which \`FIREFOX\` names` : `in ${PATHS.join(', ')}`;
    throw new Error(`no Firefox ${looked}; install Debian’s \`firefox-esr\` or name one in \`FIREFOX\``);
  }
  const launched = firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    args: [...flags],
    firefoxUserPrefs: settingsFor(whom),
  });
  const browser = await launched.catch((cause: unknown) => {
    if (!String(cause).includes('unknown command')) throw cause;
    const newer = 'bring your package lists up to date and upgrade it, or name a newer one in `FIREFOX`';
    throw new Error(`the Firefox at \`${executablePath}\` is too old to be driven; ${newer}`, { cause });
  });
  const session = sessionOf(browser);
  const send = session.send.bind(session);
  session.send = (method, params) => {
    if (method === REFUSED) return Promise.resolve({});
    const alone = browser.contexts().every((context) => context.pages().length === 0);
    return send(method, method === CREATE && alone ? { ...(params as object), type: 'tab' } : params);
  };
  return browser;
}

function settingsFor(whom: Preferences): Record<string, number | boolean> {
  const pointer = whom.touch ? FINGER : MOUSE;
  return {
    'layout.css.prefers-color-scheme.content-override': whom.dark ? 0 : 1,
    'ui.prefersReducedMotion': whom.reducedMotion ? 1 : 0,
    'ui.primaryPointerCapabilities': pointer,
    'ui.allPointerCapabilities': pointer,
    'dom.w3c_touch_events.enabled': whom.touch ? 1 : 0,
    // The system's theme asks for more contrast; whether a page's colours give way to it is the second setting.
    'ui.useAccessibilityTheme': whom.forcedColours || whom.moreContrast ? 1 : 0,
    'browser.display.document_color_use': whom.forcedColours ? 2 : 1,
    'layout.css.prefers-reduced-transparency.enabled': true,
    'ui.prefersReducedTransparency': whom.lessTransparency ? 1 : 0,
  };
}

function sessionOf(browser: Browser): Session {
  return (browser as unknown as Inside)._connection.toImpl(browser)._browserSession;
}

/** What an expression comes to in the browser itself, which must have been started with `SYSTEM_ACCESS`: a promised text. */
export async function privileged(browser: Browser, expression: string): Promise<string> {
  const session = sessionOf(browser);
  const tree = await session.send('browsingContext.getTree', { 'moz:scope': 'chrome', maxDepth: 0 });
  const [first] = (tree as { contexts: { context: string }[] }).contexts;
  const target = { context: first?.context };
  const answer = await session.send('script.evaluate', { expression, target, awaitPromise: true });
  const { result, exceptionDetails } = answer as { result?: { value: string }; exceptionDetails?: { text: string } };
  if (!result) throw new Error(`Firefox refused \`${expression}\`: ${exceptionDetails?.text}`);
  return result.value;
}

/** What statements answer in a page's process, with `content` for its window and the browser's own rights. */
export async function privilegedInPage(page: Page, statements: string): Promise<unknown> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser any more');
  const { sessionId } = (page as unknown as Inside)._connection.toImpl(page).delegate._session;
  const script = `sendAsyncMessage('e2e', (() => { ${statements} })());`;
  const answer = await privileged(
    browser,
    `(async () => {
      const { NavigableManager } = ChromeUtils.importESModule('chrome://remote/content/shared/NavigableManager.sys.mjs');
      const page = NavigableManager.getBrowsingContextById('${sessionId}').top.embedderElement.messageManager;
      const answer = new Promise((resolve) => {
        page.addMessageListener('e2e', function once({ data }) {
          page.removeMessageListener('e2e', once);
          resolve(JSON.stringify(data ?? null));
        });
      });
      page.loadFrameScript(${JSON.stringify(`data:,${encodeURIComponent(script)}`)}, false);
      return answer;
    })()`,
  );
  return JSON.parse(answer);
}

/** Moves, presses or lifts a pen, which WebDriver can't in Firefox yet. */
export async function penIn(
  page: Page,
  type: 'mousemove' | 'mousedown' | 'mouseup',
  x: number,
  y: number,
  down: boolean,
) {
  const event = {
    button: 0,
    buttons: Number(down),
    clickCount: type === 'mousemove' ? 0 : 1,
    pressure: Number(down) / 2,
  };
  await privilegedInPage(
    page,
    `const pen = { inputSource: content.MouseEvent.MOZ_SOURCE_PEN, identifier: content.windowUtils.DEFAULT_PEN_POINTER_ID };
     content.synthesizeMouseEvent('${type}', ${x}, ${y}, { ...pen, ...${JSON.stringify(event)} }, { toWindow: true });`,
  );
}

/** A step of a finger, as WebDriver spells it. */
export type PointerStep =
  | { type: 'pointerMove'; x: number; y: number; duration?: number }
  | { type: 'pointerDown' | 'pointerUp'; button: 0 }
  | { type: 'pause'; duration: number };

/** Plays steps of a finger; what's pressed stays pressed until the next ones lift it. */
export async function touch(page: Page, steps: PointerStep[]): Promise<void> {
  const { _session } = (page as unknown as Inside)._connection.toImpl(page).delegate;
  await _session.send('input.performActions', {
    context: _session.sessionId,
    actions: [{ type: 'pointer', id: 'e2e-touch', parameters: { pointerType: 'touch' }, actions: steps }],
  });
}

/** Presses the keys of a text in one command: `playwright-core` sends one for each press and each release, and waits for it. */
export async function typeKeys(page: Page, text: string): Promise<void> {
  const { _session } = (page as unknown as Inside)._connection.toImpl(page).delegate;
  const actions = [...text].flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]);
  await _session.send('input.performActions', {
    context: _session.sessionId,
    actions: [{ type: 'key', id: 'e2e-keys', actions }],
  });
}

/** Presses a mouse twice at once: over a busy machine the two clicks of `dblclick` come too far apart to be one. */
export async function pressTwice(page: Page, x: number, y: number): Promise<void> {
  const { _session } = (page as unknown as Inside)._connection.toImpl(page).delegate;
  const press = [
    { type: 'pointerDown', button: 0 },
    { type: 'pointerUp', button: 0 },
  ];
  const actions = [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y) }, ...press, ...press];
  await _session.send('input.performActions', {
    context: _session.sessionId,
    actions: [{ type: 'pointer', id: 'e2e-mouse', parameters: { pointerType: 'mouse' }, actions }],
  });
}

/** Gives a page the taps that `playwright-core` leaves out. */
export function addTaps(page: Page): void {
  (page as unknown as Inside)._connection.toImpl(page).delegate.rawTouchscreen.tap = (_progress, x, y) =>
    touch(page, [
      { type: 'pointerMove', x: Math.round(x), y: Math.round(y) },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]);
}
