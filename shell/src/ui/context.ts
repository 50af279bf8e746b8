/** What an app is given to render with. */
import { untracked } from '../core/signal.ts';
import type { RenderContext, ShortcutLink } from '../types.ts';
import { untilClosed } from './content.ts';
import type { Desk } from './desk.ts';
import type { ShellWindow } from './window.ts';

/** What the app of a window gets to know and do. */
export function contextOf(desk: Desk, win: ShellWindow, host: HTMLElement): RenderContext {
  const { runtime, windows } = desk;
  const change = () => {
    if (win.closed) return;
    windows.paint(win);
    win.translate();
    windows.changed(win);
  };
  return {
    host,
    appId: win.app.id,
    windowId: win.id,
    get session() {
      return runtime.session.peek();
    },
    get access() {
      return runtime.access.peek();
    },
    get intent() {
      return win.intent;
    },
    get link(): ShortcutLink | undefined {
      const shortcut = untracked(() => desk.shortcut(win.link));
      if (!shortcut) return undefined;
      const { kind: _kind, cell: _cell, ...link } = shortcut;
      return link;
    },
    can: (permission) => untracked(() => runtime.can(permission)),
    request: <Answer>(path: string, init?: RequestInit) =>
      runtime.request(path, untilClosed(win, init)) as Promise<Answer>,
    onClose(callback) {
      win.hooks.close.add(callback);
      return () => win.hooks.close.delete(callback);
    },
    onIntent(callback) {
      win.hooks.intent.add(callback);
      return () => win.hooks.intent.delete(callback);
    },
    setTitle(text) {
      win.title = text;
      change();
    },
    setAppearance({ title, accent, icon }) {
      if (title !== undefined) win.title = title;
      if (accent !== undefined) win.accent = accent;
      if (icon !== undefined) win.icon = icon;
      change();
    },
    setState(state, title) {
      win.state = state;
      if (title !== undefined) win.title = title;
      change();
    },
  };
}
