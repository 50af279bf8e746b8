/**
 * The desktop's side of what `frame.ts` describes. A message counts when it comes from the frame of a window whose app has a
 * `url`, and from that address's origin: a frame that went elsewhere is heard no more, and web links never are.
 */
import { effect, scope } from '../core/signal.ts';
import type { FrameContext, FrameKey, ToDesktop, ToFrame } from '../frame.ts';
import { locale } from '../i18n.ts';
import { contextOf } from './context.ts';
import type { Desk } from './desk.ts';
import { listen } from './dom.ts';
import { handleKey } from './keys.ts';
import type { ShellWindow } from './window.ts';

/** The longest text and state that a frame may hand over. */
const MOST_TEXT = 300;
const MOST_STATE = 64 * 1024;

const text = (value: unknown) => (typeof value === 'string' && value ? value.slice(0, MOST_TEXT) : undefined);

/** Listens to frames. */
export function connectBridge(desk: Desk): () => void {
  const connected = new WeakSet<Window>();
  return listen(window, 'message', (event) => {
    const message = event.data as Partial<ToDesktop> | null;
    if (message?.shell !== 1 || !event.source) return;
    const frame = [...desk.windowLayer.querySelectorAll('iframe')].find((one) => one.contentWindow === event.source);
    const win = desk.windows.get(frame?.closest<HTMLElement>('.shell-window')?.dataset.id);
    if (!frame || !win?.app.url || event.origin !== new URL(win.app.url, document.baseURI).origin) return;
    const page = event.source as Window;
    if (message.type !== 'connect') {
      hear(desk, win, frame, message as ToDesktop);
      return;
    }
    const send = (answer: ToFrame) => page.postMessage(answer, event.origin);
    if (connected.has(page)) send({ shell: 1, type: 'context', context: frameContext(desk, win) });
    else {
      connected.add(page);
      tell(desk, win, send);
    }
  });
}

function frameContext(desk: Desk, win: ShellWindow): FrameContext {
  return {
    appId: win.app.id,
    windowId: win.id,
    theme: desk.dark() ? 'dark' : 'light',
    locale: locale(),
    systemColor: desk.setting('systemColor'),
    intent: win.intent,
  };
}

/** Keeps a frame informed until its window closes. */
function tell(desk: Desk, win: ShellWindow, send: (message: ToFrame) => void): void {
  const [, end] = scope(() => effect(() => send({ shell: 1, type: 'context', context: frameContext(desk, win) })));
  win.ends.add(end);
  win.hooks.intent.add((intent) => send({ shell: 1, type: 'intent', intent }));
}

function hear(desk: Desk, win: ShellWindow, frame: HTMLIFrameElement, message: ToDesktop): void {
  const context = contextOf(desk, win, win.body);
  if (message.type === 'appearance') {
    const [title, accent, icon] = [text(message.title), text(message.accent), text(message.icon)];
    context.setAppearance({ ...(title && { title }), ...(accent && { accent }), ...(icon && { icon }) });
  } else if (message.type === 'state') {
    if ((JSON.stringify(message.state) ?? '').length > MOST_STATE) {
      reportError(
        new RangeError(`the state of app \`${win.app.id}\` is larger than ${MOST_STATE} characters; report less`),
      );
      return;
    }
    context.setState(message.state, text(message.title));
  } else if (message.type === 'notify') {
    const [title, body] = [text(message.title), text(message.text)];
    const { intent } = message;
    if (title) desk.runtime.notices.add({ title, ...(body && { text: body }), appId: win.app.id, intent });
  } else if (message.type === 'key') press(desk, frame, message.press);
  else if (message.type === 'close') void desk.windows.close(win);
}

/** A frame's key counts as pressed in its window, and only while that is where one works. */
function press(desk: Desk, frame: HTMLIFrameElement, key: FrameKey): void {
  if (document.activeElement !== frame || typeof key?.key !== 'string') return;
  const typed = key.typing ? TYPED : frame;
  handleKey(desk, key, typed);
}

/** Stands for a field in another document. */
const TYPED = Object.assign(new EventTarget(), { localName: 'textarea' });
