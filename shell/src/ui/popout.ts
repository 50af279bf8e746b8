/**
 * Pop-outs: `?app=<id>` shows one app that fills the tab. State and shortcut travel in the fragment, which no server
 * sees; whoever crafts such a link can put anything into it, so apps treat an intent as input.
 */
import type { ShellWindow } from './window.ts';

/** What a pop-out's address says. */
export interface PopOut {
  appId: string;
  intent: unknown;
  link: string | undefined;
}

/** The address that shows a window in a tab of its own. What else the page's query says, it says there, too. */
export function popOutUrl(win: ShellWindow): string {
  const url = new URL(location.href);
  url.searchParams.set('app', win.app.id);
  const state = win.state ?? win.intent;
  const fragment = new URLSearchParams();
  if (state !== undefined) fragment.set('state', JSON.stringify(state));
  if (win.link !== undefined) fragment.set('link', win.link);
  url.hash = fragment.toString();
  return url.href;
}

/** Reads the address of this page; `undefined` when it isn't a pop-out. */
export function readPopOut(): PopOut | undefined {
  const appId = new URLSearchParams(location.search).get('app');
  if (!appId) return undefined;
  const fragment = new URLSearchParams(location.hash.slice(1));
  const state = fragment.get('state');
  let intent: unknown;
  try {
    intent = state === null ? undefined : JSON.parse(state);
  } catch {
    // Somebody cut the address; the app opens as it does without state.
    intent = undefined;
  }
  return { appId, intent, link: fragment.get('link') ?? undefined };
}
