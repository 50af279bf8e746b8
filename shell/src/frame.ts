/**
 * `@svc/shell/frame`: what a page in a window (`url` of an app) says to the desktop, and hears from it. It needs nothing else of
 * the shell, and does nothing outside a frame.
 *
 * ```ts
 * import { connectFrame } from '@svc/shell/frame';
 * const desktop = connectFrame('https://desktop.example', {
 *   onContext: ({ theme }) => { document.documentElement.dataset.theme = theme; },
 * });
 * desktop.setTitle('Order 17');
 * ```
 *
 * Every message is an object with `shell: 1` and a `type`. The frame begins with `connect`; the desktop answers with the context,
 * again whenever it changes. Either side takes messages from the other's own origin only.
 */

/** What a page in a window gets to know. */
export interface FrameContext {
  appId: string;
  windowId: string;
  theme: 'light' | 'dark';
  /** The language, such as `de`. */
  locale: string;
  /** The person's colour, as `#rrggbb` or what they wrote. */
  systemColor: string;
  /** What the window was opened with; its shape is the app's own. Check it like any input. */
  intent: unknown;
}

/** A key that the page didn't use, for the desktop's shortcuts. */
export interface FrameKey {
  key: string;
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
  /** Whether text is typed where it was pressed. */
  typing: boolean;
}

/** Messages to the desktop. */
export type ToDesktop =
  | { shell: 1; type: 'connect' }
  | { shell: 1; type: 'appearance'; title?: string; accent?: string; icon?: string }
  | { shell: 1; type: 'state'; state: unknown; title?: string }
  | { shell: 1; type: 'notify'; title: string; text?: string; intent?: unknown }
  | { shell: 1; type: 'key'; press: FrameKey }
  | { shell: 1; type: 'close' };

/** Messages to the frame. */
export type ToFrame =
  | { shell: 1; type: 'context'; context: FrameContext }
  | { shell: 1; type: 'intent'; intent: unknown };

/** What a page wants to be told. */
export interface FrameHandlers {
  /** At the beginning, and whenever theme, language or colour change. */
  onContext?(context: FrameContext): void;
  /** When the open window gets a further intent. */
  onIntent?(intent: unknown): void;
}

/** What a page says to its window. */
export interface FrameConnection {
  setTitle(title: string): void;
  setAppearance(appearance: { title?: string; accent?: string; icon?: string }): void;
  /** Reports what would bring somebody back here. */
  setState(state: unknown, title?: string): void;
  notify(notice: { title: string; text?: string; intent?: unknown }): void;
  /** Asks the desktop to close the window. */
  close(): void;
  /** Ends the connection. */
  disconnect(): void;
}

const SHORTCUTS = /^(F6|F9)$/;

/** Connects a page in a window with the desktop of that origin. */
export function connectFrame(desktopOrigin: string, handlers: FrameHandlers = {}): FrameConnection {
  const send = (message: ToDesktop) => {
    if (parent !== window) parent.postMessage(message, desktopOrigin);
  };
  const hear = (event: MessageEvent) => {
    const message = event.data as ToFrame | undefined;
    if (event.source !== parent || event.origin !== desktopOrigin || message?.shell !== 1) return;
    if (message.type === 'context') handlers.onContext?.(message.context);
    else if (message.type === 'intent') handlers.onIntent?.(message.intent);
  };
  const press = (event: KeyboardEvent) => {
    const { key, code, ctrlKey, altKey, shiftKey, metaKey, target } = event;
    const meant = SHORTCUTS.test(key) || (ctrlKey && !altKey) || (altKey && shiftKey);
    if (event.defaultPrevented || event.isComposing || !meant) return;
    const field = target as Partial<HTMLInputElement> | null;
    const typing = field?.isContentEditable === true || /^(input|textarea|select)$/.test(field?.localName ?? '');
    send({ shell: 1, type: 'key', press: { key, code, ctrlKey, altKey, shiftKey, metaKey, typing } });
    // What the browser would do with it: F6 leaves the page, Ctrl+K goes to the address.
    if (SHORTCUTS.test(key) || (ctrlKey && key.toLowerCase() === 'k')) event.preventDefault();
  };
  addEventListener('message', hear);
  addEventListener('keydown', press);
  send({ shell: 1, type: 'connect' });
  return {
    setTitle: (title) => send({ shell: 1, type: 'appearance', title }),
    setAppearance: (appearance) => send({ ...appearance, shell: 1, type: 'appearance' }),
    setState: (state, title) => send({ shell: 1, type: 'state', state, ...(title === undefined ? {} : { title }) }),
    notify: (notice) => send({ ...notice, shell: 1, type: 'notify' }),
    close: () => send({ shell: 1, type: 'close' }),
    disconnect: () => {
      removeEventListener('message', hear);
      removeEventListener('keydown', press);
    },
  };
}
