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

/** Starts it. */
export async function launchFirefox({ dark, reducedMotion, touch }: Preferences): Promise<Browser> {
  const { FIREFOX } = process.env;
  const executablePath = (FIREFOX ? [FIREFOX] : PATHS).find((path) => existsSync(path));
  if (!executablePath) {
    const looked = FIREFOX ? `at \`${FIREFOX}\`, which \`FIREFOX\` names` : `in ${PATHS.join(', ')}`;
    throw new Error(`no Firefox ${looked}; install Debian’s \`firefox-esr\` or name one in \`FIREFOX\``);
  }
  const pointer = touch ? FINGER : MOUSE;
  const launched = firefox.launch({
    channel: 'moz-firefox',
    executablePath,
    firefoxUserPrefs: {
      'layout.css.prefers-color-scheme.content-override': dark ? 0 : 1,
      'ui.prefersReducedMotion': reducedMotion ? 1 : 0,
      'ui.primaryPointerCapabilities': pointer,
      'ui.allPointerCapabilities': pointer,
      'dom.w3c_touch_events.enabled': touch ? 1 : 0,
    },
  });
  const browser = await launched.catch((cause: unknown) => {
    if (!String(cause).includes('unknown command')) throw cause;
    const newer = 'bring your package lists up to date and upgrade it, or name a newer one in `FIREFOX`';
    throw new Error(`the Firefox at \`${executablePath}\` is too old to be driven; ${newer}`, { cause });
  });
  const session = (browser as unknown as Inside)._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = (method, params) => {
    if (method === REFUSED) return Promise.resolve({});
    const alone = browser.contexts().every((context) => context.pages().length === 0);
    return send(method, method === CREATE && alone ? { ...(params as object), type: 'tab' } : params);
  };
  return browser;
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

/** Gives a page the taps that `playwright-core` leaves out. */
export function addTaps(page: Page): void {
  (page as unknown as Inside)._connection.toImpl(page).delegate.rawTouchscreen.tap = (_progress, x, y) =>
    touch(page, [
      { type: 'pointerMove', x: Math.round(x), y: Math.round(y) },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ]);
}
