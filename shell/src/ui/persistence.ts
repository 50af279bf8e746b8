/**
 * Keeps the profile: loads it without holding up the desktop, saves changes by itself, joins what other tabs did.
 *
 * | State    | Moved by                         | Next                                                   |
 * | -------- | -------------------------------- | ------------------------------------------------------ |
 * | loading  | the store answers                | clean; profile on screen                               |
 * | loading  | it takes over 1.5 s              | loading; desktop usable on the defaults, person told   |
 * | loading  | it fails                         | failed; desktop usable, nothing is saved, retry        |
 * | loading  | unreadable                       | clean; the old value set aside under another key       |
 * | clean    | a change                         | dirty; saved after 800 ms, on leaving the page, on sign-out, or when an app goes into its own tab |
 * | dirty    | saved                            | clean                                                  |
 * | dirty    | saving fails                     | dirty; person told once, tried again with growing waits |
 *
 * Saving happens under a Web Lock: read what's stored, join it with this tab's changes, write. A crash in between leaves
 * the old profile. Which windows are open is each tab's own matter: a reload brings back those of the tab, a new tab those
 * of the profile.
 */
import { mergeProfiles, sameJson } from '../core/merge.ts';
import { PROFILE_VERSION, UnreadableProfile, readProfile, type Profile } from '../core/profile.ts';
import { effect, flush, untracked } from '../core/signal.ts';
import { t } from '../i18n.ts';
import { isLocal, localProfileStore } from '../stores.ts';
import type { ProfileStore } from '../types.ts';
import type { Desk } from './desk.ts';
import { listen, nextTask } from './dom.ts';

const SAVE_AFTER_MS = 800;
/** How long a store may take before the person is told, and begins without it. */
export const SLOW_MS = 1_500;
const LONGEST_WAIT_MS = 60_000;
/** How long somebody who leaves waits for a store. */
const LEAVE_MS = 3_000;

/** Loads and saves one profile. */
export class Persistence {
  readonly #desk: Desk;
  readonly #store: ProfileStore;
  readonly #key: string;
  /** What the store held when this tab last read or wrote it. */
  #base: Profile | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wait = SAVE_AFTER_MS;
  #saving: Promise<void> | undefined;
  #ready = false;
  #told = false;
  #ended = false;
  #gone = false;
  readonly #channel: BroadcastChannel;

  constructor(desk: Desk, key: string) {
    this.#desk = desk;
    this.#key = key;
    this.#store = desk.runtime.options.peek().profileStore ?? localProfileStore();
    this.#channel = new BroadcastChannel(`svc-shell ${key}`);
  }

  /** Loads; answers whether there was a profile, `undefined` when it couldn't be found out. */
  async load(): Promise<boolean | undefined> {
    let calm: (() => void) | undefined;
    const slow = setTimeout(() => {
      calm = this.#desk.toasts.show(t('profile.slow'), 'info');
    }, SLOW_MS);
    const before = untracked(() => this.#current());
    try {
      // A desktop that just ended may still be writing; a store of the product's own may hang and isn't waited for in line.
      const load = async () => this.#store.load(this.#key);
      const stored = await (this.#isLocal ? this.#locked(load) : load());
      if (this.#ended) return undefined;
      const known = stored !== undefined && stored !== null && stored !== '';
      const profile = known ? await this.#read(stored) : undefined;
      await this.#desk.measured.promise;
      await nextTask();
      if (this.#ended) return undefined;
      if (profile) this.#show(profile, before);
      this.#base = profile ?? { version: PROFILE_VERSION, webtops: [], activeWebtop: '', settings: {}, windows: [] };
      this.#start();
      return profile !== undefined;
    } catch (error) {
      if (this.#ended) return undefined;
      reportError(error);
      this.#desk.toasts.show(t('profile.notLoaded'), 'warning', {
        title: t('window.retry'),
        run: () => void this.load(),
      });
      return undefined;
    } finally {
      clearTimeout(slow);
      calm?.();
    }
  }

  /** A store that answered late meets a person who has begun: what they did meanwhile is joined with what was stored. */
  #show(profile: Profile, before: Profile): void {
    const now = untracked(() => this.#current());
    if (sameJson({ ...now, windows: [] }, { ...before, windows: [] })) this.#desk.adopt(profile);
    else {
      const started = new Set(before.webtops.map((webtop) => webtop.id));
      const target = profile.activeWebtop;
      let webtops = profile.webtops;
      for (const webtop of now.webtops) {
        if (!started.has(webtop.id)) continue;
        const into = webtops.find((one) => one.id === target);
        const merged = mergeProfiles(
          { ...profile, webtops: [{ id: target, items: [] }] },
          { ...profile, webtops: [{ id: target, items: webtop.items }] },
          { ...profile, webtops: into ? [into] : [] },
        );
        webtops = webtops.map((one) => (one.id === target ? (merged.webtops[0] ?? one) : one));
      }
      this.#desk.adopt({ ...profile, webtops, settings: { ...profile.settings, ...now.settings } });
      for (const win of this.#desk.windows.list.peek()) this.#desk.windows.sendTo(win, target);
    }
    flush();
    if (this.#desk.popOut) return;
    const { active } = this.#desk.windows;
    this.#desk.windows.restore(this.#ownWindows(profile) ?? profile.windows);
    // Whoever has begun goes on where they are.
    if (active) this.#desk.windows.activate(active);
  }

  /** The windows that this tab had before it was reloaded. The profile has those of the tab that saved last. */
  #ownWindows(profile: Profile): Profile['windows'] | undefined {
    const kept = sessionStorage.getItem(this.#tabKey);
    if (kept === null) return undefined;
    try {
      return readProfile({ ...profile, windows: JSON.parse(kept) as unknown }).windows;
    } catch (error) {
      reportError(error);
      return undefined;
    }
  }

  get #tabKey(): string {
    return `${this.#key}.windows`;
  }

  /** Keeps this tab's windows beside the profile. */
  #keepWindows(): void {
    if (this.#desk.popOut) return;
    try {
      sessionStorage.setItem(this.#tabKey, JSON.stringify(untracked(() => this.#desk.windows.store())));
    } catch (error) {
      // Without room for them the profile's windows come back, which are most often the same.
      reportError(error);
    }
  }

  async #read(stored: unknown): Promise<Profile | undefined> {
    try {
      return readProfile(stored);
    } catch (error) {
      if (!(error instanceof UnreadableProfile)) throw error;
      // Under a key of its own the old value can be looked at, and brought back by hand or by a later release.
      await this.#store.save(`${this.#key}.unreadable`, stored);
      reportError(
        new Error(`the profile \`${this.#key}\` was set aside as \`${this.#key}.unreadable\``, { cause: error }),
      );
      this.#desk.toasts.show(t('profile.unreadable', { key: `${this.#key}.unreadable` }), 'warning');
      return undefined;
    }
  }

  #current(): Profile {
    const desk = this.#desk;
    desk.windows.revision();
    return {
      version: PROFILE_VERSION,
      webtops: desk.webtops(),
      activeWebtop: desk.activeWebtop(),
      settings: desk.chosen(),
      // A pop-out shows one app and has no windows of its own to keep.
      windows: desk.popOut ? (this.#base?.windows ?? []) : desk.windows.store(),
    };
  }

  #ends: (() => void)[] = [];

  #start(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#ends = [
      effect(() => {
        // What a profile is made of; it's put together when it's saved.
        const { windows, webtops, activeWebtop, chosen } = this.#desk;
        for (const part of [windows.revision, webtops, activeWebtop, chosen]) part();
        untracked(() => this.#later());
      }),
      listen(window, 'pagehide', () => this.#leave()),
      listen(document, 'visibilitychange', () => {
        if (document.visibilityState === 'hidden') this.#leave();
      }),
    ];
    this.#channel.onmessage = () => void this.#join();
    addEventListener('storage', this.#onStorage);
  }

  readonly #onStorage = (event: StorageEvent) => {
    if (event.key === this.#key) this.#join();
  };

  #later(): void {
    clearTimeout(this.#timer);
    if (this.#ended) return;
    this.#timer = setTimeout(() => void this.save(), this.#wait);
  }

  #dirty(): Profile | undefined {
    const mine = untracked(() => this.#current());
    return this.#base && sameJson(mine, this.#base) ? undefined : structuredClone(mine);
  }

  /** Saves what changed; a save under way is waited for. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#saving;
    // What is on screen then is the next person's.
    const mine = this.#ready && !this.#ended ? this.#dirty() : undefined;
    if (!mine) return;
    this.#keepWindows();
    this.#saving = this.#write(mine);
    try {
      await this.#saving;
      this.#wait = SAVE_AFTER_MS;
      this.#told = false;
      this.#channel.postMessage('saved');
      if (this.#dirty()) this.#later();
    } catch (error) {
      reportError(error);
      if (!this.#told)
        this.#desk.toasts.show(t('profile.notSaved'), 'warning', {
          title: t('window.retry'),
          run: () => void this.save(),
        });
      this.#told = true;
      this.#wait = Math.min(LONGEST_WAIT_MS, this.#wait * 4);
      this.#later();
    } finally {
      this.#saving = undefined;
    }
  }

  /** Whether the store is the browser's own, which needs no waiting. */
  get #isLocal(): boolean {
    return isLocal(this.#store);
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    // Without Web Locks (pages that aren't secure contexts) the join still happens, only not atomically.
    return navigator.locks ? (navigator.locks.request(`svc-shell ${this.#key}`, work) as Promise<T>) : work();
  }

  async #stored(): Promise<Profile | undefined> {
    const stored = await this.#store.load(this.#key);
    if (stored === undefined || stored === null || stored === '') return undefined;
    try {
      return readProfile(stored);
    } catch {
      // It was readable when this tab began; what made it unreadable must not be overwritten by a merge of nothing.
      await this.#store.save(`${this.#key}.unreadable`, stored);
      return undefined;
    }
  }

  async #write(mine: Profile): Promise<void> {
    await this.#locked(async () => {
      const theirs = await this.#stored();
      const base = this.#base;
      const merged = theirs && base && !sameJson(theirs, base) ? mergeProfiles(base, mine, theirs) : mine;
      // By now somebody else may be signed in, whose profile a server would take this for.
      if (this.#gone) return;
      await this.#store.save(this.#key, merged);
      // Windows of other tabs are theirs: what isn't open here mustn't look closed here with the next save.
      this.#base = { ...merged, windows: mine.windows };
      this.#adoptMerged(merged, mine);
    });
  }

  /** Shows what others changed, unless this tab has moved on meanwhile (then the next save joins it). */
  #adoptMerged(merged: Profile, mine: Profile): void {
    if (this.#ended || sameJson(merged, mine)) return;
    const now = untracked(() => this.#current());
    if (!sameJson(now.webtops, mine.webtops) || this.#desk.grids.drag.active.peek()) return;
    if (!sameJson(merged.webtops, now.webtops)) this.#desk.webtops.set(merged.webtops);
    if (!sameJson(merged.settings, now.settings)) this.#desk.choose({ locale: '', ...merged.settings });
    if (!merged.webtops.some((webtop) => webtop.id === this.#desk.activeWebtop.peek())) {
      this.#desk.activeWebtop.set(merged.activeWebtop);
    }
    for (const win of this.#desk.windows.list.peek()) {
      if (!merged.webtops.some((webtop) => webtop.id === win.webtop))
        this.#desk.windows.sendTo(win, merged.activeWebtop);
    }
  }

  /** Another tab saved. */
  async #join(): Promise<void> {
    try {
      await this.#saving;
      await this.#locked(async () => {
        const theirs = await this.#stored();
        const base = this.#base;
        if (!theirs || !base || this.#ended || sameJson(theirs, base)) return;
        const mine = untracked(() => structuredClone(this.#current()));
        const merged = mergeProfiles(base, mine, theirs);
        this.#base = { ...theirs, windows: mine.windows };
        this.#adoptMerged(merged, mine);
      });
    } catch (error) {
      reportError(error);
    }
  }

  /**
   * The page goes. The browser's own store takes the profile now. A server gets it in a request that outlives the page, and
   * that has no time to ask first what others saved; tabs of this browser have told already.
   */
  #leave(): void {
    clearTimeout(this.#timer);
    const mine = this.#dirty();
    this.#keepWindows();
    if (!mine) return;
    try {
      if (!this.#isLocal) {
        this.#sendOff(mine);
        return;
      }
      const stored = this.#store.load(this.#key);
      const theirs = stored ? readProfile(stored) : undefined;
      const merged =
        theirs && this.#base && !sameJson(theirs, this.#base) ? mergeProfiles(this.#base, mine, theirs) : mine;
      this.#store.save(this.#key, merged);
      this.#base = { ...merged, windows: mine.windows };
    } catch (error) {
      reportError(error);
    }
  }

  #sendOff(mine: Profile): void {
    const before = this.#base;
    const sent = Promise.resolve(this.#store.save(this.#key, mine, { leaving: true }));
    this.#base = mine;
    sent.then(
      () => this.#channel.postMessage('saved'),
      () => {
        // The page is still there: what wasn't taken counts as a change again.
        if (this.#base === mine) this.#base = before;
        this.#later();
      },
    );
  }

  /**
   * Saves the rest and stops. What's to be saved is taken at once: the caller goes on to close the windows. A store that
   * takes long is left behind, and with it what it hasn't begun to write.
   */
  async end(save = true): Promise<void> {
    const mine = this.#ready && (save || this.#isLocal) ? this.#dirty() : undefined;
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const end of this.#ends) end();
    removeEventListener('storage', this.#onStorage);
    this.#channel.onmessage = null;
    sessionStorage.removeItem(this.#tabKey);
    const work = async () => {
      await this.#saving;
      if (!mine || this.#gone) return;
      await this.#write(mine);
      this.#channel.postMessage('saved');
    };
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LEAVE_MS);
    try {
      await Promise.race([work(), late.promise]);
    } catch (error) {
      reportError(error);
    } finally {
      this.#gone = true;
      clearTimeout(timer);
      this.#channel.close();
    }
  }
}
