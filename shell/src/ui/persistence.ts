/**
 * Keeps the profile: loads it without holding up the desktop, saves changes by itself, joins what other tabs did.
 *
 * | State    | Moved by                         | Next                                                   |
 * | -------- | -------------------------------- | ------------------------------------------------------ |
 * | loading  | the store answers                | clean; profile on screen                               |
 * | loading  | it takes over 1.5 s              | loading; desktop usable on the defaults, person told   |
 * | loading  | it fails                         | failed; desktop usable, nothing is saved, retry        |
 * | loading  | unreadable                       | clean; the old value set aside under another key       |
 * | clean    | a change                         | dirty; saved after 800 ms, on leaving the page, or when an app goes into its own tab |
 * | dirty    | saved                            | clean                                                  |
 * | dirty    | saving fails                     | dirty; person told once, tried again with growing waits |
 *
 * Saving happens under a Web Lock: read what's stored, join it with this tab's changes, write. A crash in between leaves
 * the old profile.
 */
import { mergeProfiles, sameJson } from '../core/merge.ts';
import { PROFILE_VERSION, UnreadableProfile, readProfile, type Profile } from '../core/profile.ts';
import { effect, flush, untracked } from '../core/signal.ts';
import { t } from '../i18n.ts';
import { localProfileStore } from '../stores.ts';
import type { ProfileStore } from '../types.ts';
import type { Desk } from './desk.ts';
import { listen, nextTask } from './dom.ts';

const SAVE_AFTER_MS = 800;
/** How long a store may take before the person is told, and begins without it. */
export const SLOW_MS = 1_500;
const LONGEST_WAIT_MS = 60_000;

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
    this.#desk.windows.restore(profile.windows);
    // Whoever has begun goes on where they are.
    if (active) this.#desk.windows.activate(active);
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
    const mine = this.#ready ? this.#dirty() : undefined;
    if (!mine) return;
    this.#saving = this.#write(mine);
    try {
      await this.#saving;
      this.#wait = SAVE_AFTER_MS;
      this.#told = false;
      this.#channel.postMessage('saved');
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
    return this.#desk.runtime.options.peek().profileStore === undefined;
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

  /** The page goes: a synchronous store takes the profile now; others get their request on its way. */
  #leave(): void {
    clearTimeout(this.#timer);
    const mine = this.#dirty();
    if (!mine || this.#saving) return;
    if (!this.#isLocal) {
      void this.save();
      return;
    }
    try {
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

  /** Saves the rest and stops. What's to be saved is taken at once: the caller goes on to close the windows. */
  async end(): Promise<void> {
    const mine = this.#ready ? this.#dirty() : undefined;
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const end of this.#ends) end();
    removeEventListener('storage', this.#onStorage);
    this.#channel.onmessage = null;
    try {
      await this.#saving;
      if (mine) {
        await this.#write(mine);
        this.#channel.postMessage('saved');
      }
    } catch (error) {
      reportError(error);
    } finally {
      this.#channel.close();
    }
  }
}
