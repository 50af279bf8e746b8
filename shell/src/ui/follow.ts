/**
 * The desktop belongs to whoever is signed in: their profile is loaded with them and goes with them.
 *
 * | Signed in                          | Profile                                                            |
 * | ---------------------------------- | ------------------------------------------------------------------ |
 * | nobody, no provider, or guests may | `<storageKey>`                                                     |
 * | nobody, login is required          | none: nothing of the last person or of a guest is behind the login |
 * | somebody with an id                | `<storageKey>.<id>`; the id may come with the access               |
 * | somebody, access not yet known     | none                                                               |
 * | somebody without any id            | `<storageKey>`                                                     |
 */
import { emptyProfile } from '../core/profile.ts';
import { effect, scope, untracked, type Dispose } from '../core/signal.ts';
import { setLocale, t } from '../i18n.ts';
import type { Intent } from '../types.ts';
import type { Desk } from './desk.ts';
import { h } from './dom.ts';
import { Persistence, SLOW_MS } from './persistence.ts';
import type { PopOut } from './popout.ts';

/** Shows the desktop. */
export function reveal(desk: Desk): void {
  desk.root.removeAttribute('data-starting');
}

function profileKey({ runtime }: Desk, prefix: string): string | undefined {
  const { auth } = runtime;
  const session = auth.session();
  if (!session) return auth.restoring() || !auth.guests ? undefined : prefix;
  const id = session.identity?.id ?? runtime.access().identity?.id;
  if (id !== undefined) return `${prefix}.${id}`;
  return runtime.resolved() ? prefix : undefined;
}

/** Takes everything off the desktop that is somebody's. */
function clearDesk(desk: Desk): void {
  desk.menus.close(false);
  desk.start.close(false);
  if (desk.pilot.isOpen) desk.pilot.close();
  for (const dialog of desk.root.querySelectorAll<HTMLDialogElement>('dialog.shell-dialog[open]')) dialog.close();
  // An undo would bring one person's shortcut to another.
  desk.toasts.element.replaceChildren();
  desk.windows.clear();
  desk.adopt(emptyProfile());
}

class Follower {
  readonly #desk: Desk;
  readonly #popOut: PopOut | undefined;
  #persistence: Persistence | undefined;
  #detach: Dispose | undefined;
  #endPopOut: Dispose | undefined;
  /** The profile that is wanted; nothing yet, or none. */
  #key: string | undefined | null = null;
  #leaving: Promise<void> | undefined;

  constructor(desk: Desk, popOut: PopOut | undefined, prefix: string) {
    this.#desk = desk;
    this.#popOut = popOut;
    desk.keep = () => void this.#persistence?.save();
    desk.runtime.onLeave = (save) => this.#leave(save);
    effect(() => {
      const key = profileKey(desk, prefix);
      if (key !== this.#key) untracked(() => void this.#turnTo(key));
    });
    effect(() => () => this.#end());
  }

  /** Saves, and clears the desktop. The session that the profile is saved with is still there. */
  #leave(save: boolean): Promise<void> | undefined {
    const old = this.#persistence;
    this.#key = null;
    if (!old) return this.#leaving;
    this.#persistence = undefined;
    this.#desk.settled.set(false);
    this.#leaving = old.end(save).finally(() => {
      this.#leaving = undefined;
      this.#endPopOut?.();
      clearDesk(this.#desk);
    });
    return this.#leaving;
  }

  async #turnTo(key: string | undefined): Promise<void> {
    this.#desk.settled.set(false);
    const left = this.#leave(true);
    this.#key = key;
    await left;
    if (key !== this.#key || key === undefined || this.#persistence) return;
    await this.#load(key);
  }

  async #load(key: string): Promise<void> {
    const desk = this.#desk;
    const mine = new Persistence(desk, key);
    this.#persistence = mine;
    const start = () => {
      if (mine === this.#persistence) this.#begin();
    };
    // What was asked to open waits for the profile, so that it ends up on top; but not for a store that hangs.
    const patience = setTimeout(start, SLOW_MS);
    const known = await mine.load();
    clearTimeout(patience);
    if (mine !== this.#persistence) return;
    if (known === false) firstStart(desk);
    start();
    desk.settled.set(true);
    // The area is measured anew in the same frame, before this.
    requestAnimationFrame(() => reveal(desk));
  }

  /** Opens what was asked for, and takes requests from now on. */
  #begin(): void {
    const desk = this.#desk;
    this.#detach ??= desk.runtime.attach({
      open(appId: string, intent: Intent) {
        const app = desk.usableApp(appId);
        if (app) desk.windows.open(app, { intent });
      },
    });
    if (!this.#popOut || this.#endPopOut) return;
    const popOut = this.#popOut;
    const [, end] = scope(() => openPopOut(desk, popOut));
    this.#endPopOut = () => {
      this.#endPopOut = undefined;
      end();
    };
  }

  #end(): void {
    this.#detach?.();
    this.#endPopOut?.();
    this.#desk.runtime.onLeave = undefined;
    const last = this.#persistence;
    this.#persistence = undefined;
    void last?.end();
    this.#desk.windows.clear();
    setLocale(undefined);
  }
}

/** Loads the profile of whoever is signed in, and changes it with them. */
export function followPerson(desk: Desk, popOut: PopOut | undefined, prefix = 'shell'): void {
  new Follower(desk, popOut, prefix);
}

/** The very first start: shortcuts and apps that the product wants to show. */
function firstStart(desk: Desk): void {
  const { initialShortcuts, initialApps } = desk.runtime.options.peek();
  const webtop = desk.activeWebtop.peek();
  for (const [index, appId] of (initialShortcuts ?? []).entries()) {
    // Ids of their own would double shortcuts and windows when two tabs start for the first time at once.
    desk.addShortcut(appId, { id: `shortcut-first-${index}` }, webtop);
  }
  if (desk.popOut) return;
  for (const [index, appId] of (initialApps ?? []).entries()) {
    const app = desk.usableApp(appId);
    if (app) desk.windows.open(app, { id: `window-first-${index}` });
  }
}

/** A pop-out waits until its app is registered and allowed. */
function openPopOut(desk: Desk, popOut: PopOut): void {
  let opened = false;
  const note = h('p.shell-popout-note', { role: 'status' }, () => t('popout.waiting', { id: popOut.appId }));
  desk.grids.element.append(note);
  effect(() => () => note.remove());
  effect(() => {
    const app = desk.usableApp(popOut.appId);
    if (!app || opened) return;
    opened = true;
    note.remove();
    untracked(() => desk.windows.open(app, { intent: popOut.intent, link: popOut.link }));
  });
}
