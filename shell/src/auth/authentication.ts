/**
 * Who is signed in.
 *
 * | State     | Moved by                                   | Next                                                                |
 * | --------- | ------------------------------------------ | ------------------------------------------------------------------- |
 * | start     | a provider is registered                   | restoring, with all that the same task registers                     |
 * | restoring | a provider finds a session                 | signed in                                                           |
 * | restoring | none does, or 4 s pass                     | out: login screen, or guest when `requireLogin` is `false`          |
 * | out       | `login`, `setSession`, sign-in in a tab    | signed in; rights fall first, then they are asked for; `login`       |
 * | signed in | 30 s before `expiresAt`, or a 401          | signed in with what `restore({ refresh: true })` brings, in all tabs |
 * | signed in | `restore` finds nothing                    | expired: login screen; windows and rights wait behind it            |
 * | signed in | `restore` fails                            | signed in, asked again every 5 s; expired once `expiresAt` passed    |
 * | expired   | the same person signs in                   | signed in; windows are as they were                                 |
 * | expired   | another person signs in                    | signed in; the first one's windows and rights are gone              |
 * | signed in | `logout`, `setSession()`, sign-out in a tab | out; the profile is saved before the session goes; `logout`          |
 */
import { taken } from '../core/check.ts';
import { checkAuthProvider } from '../core/validate.ts';
import { flush, signal } from '../core/signal.ts';
import type { AuthProvider, Session, ShellOptions } from '../types.ts';
import { expiryOf, samePerson } from './person.ts';
import { Tabs, type TabMessage } from './tabs.ts';

/** What the sessions need of the runtime. */
export interface AuthHost {
  options(): ShellOptions;
  /** Saves what somebody leaves behind, while their session still counts. */
  leave(save: boolean): Promise<void> | undefined;
  /** Takes the rights away that came with the last session. */
  fall(): void;
  refreshAccess(): Promise<void>;
  emit(name: 'login', session: Session): void;
  emit(name: 'logout', nothing: undefined): void;
}

const REFRESH_BEFORE_MS = 30_000;
/** Between two attempts, however short a session lasts. */
const REFRESH_EVERY_MS = 5_000;
/** A server that says 401 right after a refresh isn't helped by another one. */
const JUST_REFRESHED_MS = 10_000;
const RESTORE_PATIENCE_MS = 4_000;
const PROVIDER_PATIENCE_MS = 15_000;
/** How long the login screen waits for the rights before it shows a desktop without them. */
const ACCESS_PATIENCE_MS = 4_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Rejects when a provider takes too long. */
function within<T>(work: PromiseLike<T> | T, limit: number, what: string): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Error(`${what} did not answer within ${limit / 1000} s`)), limit);
  Promise.resolve(work).then(resolve, reject);
  return promise.finally(() => clearTimeout(timer));
}

/** Sessions, and the providers they come from. */
export class Authentication {
  readonly session = signal<Session | undefined>(undefined);
  readonly providers = signal<readonly AuthProvider[]>([]);
  /** The session ended by itself: the person's windows wait for them behind the login screen. */
  readonly expired = signal(false);
  /** Providers look for a session. */
  readonly restoring = signal(false);
  /** Somebody signed in, and what they may do is being found out. */
  readonly entering = signal(false);
  /** Somebody signs out, and what they leave is being saved. */
  readonly leaving = signal(false);
  /** A guest wants to sign in. */
  readonly asked = signal(false);
  /** Why a session couldn't be found again. */
  readonly problem = signal<unknown>(undefined);
  readonly #host: AuthHost;
  readonly #fresh: AuthProvider[] = [];
  #provider: AuthProvider | undefined;
  #run = 0;
  #restores = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refreshing: Promise<Session | undefined> | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #tabs: Tabs | undefined;
  /** A session that another tab was given while this one was still looking for it. */
  #news: TabMessage | undefined;

  constructor(host: AuthHost) {
    this.#host = host;
  }

  /** The session that requests go out with. */
  get current(): Session | undefined {
    return this.expired.peek() ? undefined : this.session.peek();
  }

  /** Whether guests may use the desktop. */
  get guests(): boolean {
    return this.providers().length === 0 || this.#host.options().requireLogin === false;
  }

  /** Whether the desktop is locked until somebody signs in. */
  locked(): boolean {
    return this.expired() || (!this.guests && !this.session());
  }

  /** Headers that the providers ask for on every request. */
  headers(): Record<string, string> {
    return Object.assign({}, ...this.providers.peek().map((provider) => provider.headers));
  }

  register(provider: AuthProvider): () => void {
    checkAuthProvider(provider);
    if (this.providers.peek().some((known) => known.id === provider.id)) {
      throw taken(`an auth provider with the id \`${provider.id}\``);
    }
    this.providers.update((known) => [...known, provider]);
    this.#tabs ??= new Tabs((message) => void this.#hear(message).catch(reportError));
    this.restoring.set(true);
    if (this.#fresh.push(provider) === 1) queueMicrotask(() => void this.#restore(this.#fresh.splice(0)));
    return () => this.providers.update((known) => known.filter((one) => one !== provider));
  }

  /** Asks providers for a session that is still there; the first one registered wins. */
  async #restore(providers: readonly AuthProvider[]): Promise<void> {
    this.#restores += 1;
    this.#news = undefined;
    this.restoring.set(true);
    const round = this.#restores;
    const late = setTimeout(() => this.restoring.set(false), RESTORE_PATIENCE_MS);
    const found = providers.map(async (provider) => {
      try {
        return await provider.restore?.({ refresh: false });
      } catch (error) {
        this.problem.set(error);
        return undefined;
      }
    });
    for (const [index, answer] of found.entries()) {
      const session = await answer;
      if (!session || this.session.peek()) continue;
      await this.enter(session, providers[index]).catch(reportError);
    }
    clearTimeout(late);
    if (round === this.#restores) this.restoring.set(false);
  }

  async login(id: string, values: Record<string, string> = {}): Promise<Session | undefined> {
    const provider = this.providers.peek().find((one) => one.id === id);
    if (!provider) throw new Error(`there is no auth provider \`${id}\`; register it first`);
    this.problem.set(undefined);
    this.#news = undefined;
    const before = this.session.peek();
    const session = await provider.login(values);
    // A provider may have called `setSession` itself.
    if (session) await this.enter(session, provider);
    else if (this.session.peek() !== before) this.#provider = provider;
    return this.current;
  }

  /** Ends the session here and at its provider, however long that takes to answer. */
  async logout(): Promise<void> {
    const [session, provider] = [this.session.peek(), this.#provider];
    if (!session) return;
    const expired = this.expired.peek();
    this.#run += 1;
    this.leaving.set(true);
    await this.#host.leave(!expired);
    try {
      await within(provider?.logout?.(session), PROVIDER_PATIENCE_MS, `the auth provider \`${provider?.id}\``);
    } catch (error) {
      reportError(error);
    }
    if (provider) this.#tabs?.send({ kind: 'logout', provider: provider.id, person: session.identity?.id });
    try {
      await this.enter(undefined);
    } finally {
      this.leaving.set(false);
    }
  }

  /** Takes over a session. Rights of another person fall before anything is asked for. */
  async enter(session: Session | undefined, provider?: AuthProvider, save = true, refreshed = false): Promise<void> {
    this.#run += 1;
    const run = this.#run;
    const before = this.session.peek();
    const stays = refreshed || samePerson(before, session);
    if (!stays && before !== session) {
      await this.#host.leave(save && !this.expired.peek());
      if (run !== this.#run) return;
    }
    const renewed = stays && !this.expired.peek();
    this.#take(session, provider);
    const taken = this.session.peek();
    if (!stays) this.#host.fall();
    flush();
    if (taken && !renewed && this.#provider) {
      this.#tabs?.send({ kind: 'login', provider: this.#provider.id, person: taken.identity?.id });
    }
    try {
      await this.#found();
    } finally {
      if (run === this.#run) {
        if (taken && !renewed) this.#host.emit('login', taken);
        else if (!taken && before) this.#host.emit('logout', undefined);
      }
    }
  }

  #take(session: Session | undefined, provider: AuthProvider | undefined): void {
    const all = this.providers.peek();
    // A session from elsewhere is refreshed by the provider, if there's only one.
    this.#provider = session && (provider ?? this.#provider ?? (all.length === 1 ? all[0] : undefined));
    const news = this.#news;
    const newer = session && news?.provider === provider?.id && news?.person === session.identity?.id && news?.session;
    this.session.set(newer || session);
    this.#news = undefined;
    this.expired.set(false);
    // Whoever asks for the login screen while somebody leaves gets it once they have left.
    if (session) this.asked.set(false);
    this.problem.set(undefined);
    this.#schedule();
  }

  async #found(): Promise<void> {
    if (!this.session.peek()) return this.#host.refreshAccess();
    this.entering.set(true);
    const late = setTimeout(() => this.entering.set(false), ACCESS_PATIENCE_MS);
    try {
      await this.#host.refreshAccess();
    } finally {
      clearTimeout(late);
      this.entering.set(false);
    }
  }

  #schedule(atLeast = 0): void {
    clearTimeout(this.#timer);
    const ends = expiryOf(this.session.peek());
    if (ends === undefined || !this.#provider?.restore) return;
    const wait = Math.max(ends - Date.now() - REFRESH_BEFORE_MS, atLeast || REFRESH_EVERY_MS * Number(this.#short));
    const next = Math.min(Math.max(wait, 0), LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => {
      if (next === LONGEST_TIMER_MS) this.#schedule();
      else void this.refresh();
    }, next);
  }

  /** Whether the session is itself the fruit of a refresh a moment ago. */
  get #short(): boolean {
    return performance.now() - this.#refreshedAt < REFRESH_EVERY_MS;
  }

  /** A request was refused: answers the session to repeat it with. */
  async renew(used: Session | undefined, asked: number): Promise<Session | undefined> {
    if (!used || !this.#provider?.restore) return undefined;
    if (this.current !== used) return this.current?.identity?.id === used.identity?.id ? this.current : undefined;
    // A provider may send requests to refresh; these can't wait for the refresh they are part of.
    if (this.#refreshing && asked >= this.#began) return undefined;
    if (performance.now() - this.#refreshedAt < JUST_REFRESHED_MS) return undefined;
    return this.refresh();
  }

  #began = 0;

  /** Asks the provider for a new session; one tab does it for all. */
  refresh(): Promise<Session | undefined> {
    this.#began = this.#refreshing ? this.#began : performance.now();
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<Session | undefined> {
    const [before, provider, tabs] = [this.current, this.#provider, this.#tabs];
    if (!before || !provider?.restore || !tabs) return undefined;
    const mine = () => this.current === before;
    try {
      const next = await tabs.once(provider.id, before.identity?.id, async () => {
        // Another tab may have done it while this one stood in line.
        if (!mine()) return undefined;
        const found = await within(
          provider.restore?.({ refresh: true }),
          PROVIDER_PATIENCE_MS,
          `the auth provider \`${provider.id}\``,
        );
        if (!found || found.identity?.id !== before.identity?.id) return undefined;
        tabs.send({ kind: 'session', provider: provider.id, person: before.identity?.id, session: found });
        return found;
      });
      if (!mine()) return this.current;
      this.#refreshedAt = performance.now();
      if (!next) this.#expire();
      else await this.enter(next, provider, true, true).catch(reportError);
    } catch (error) {
      if (!mine()) return this.current;
      const ends = expiryOf(before);
      reportError(error);
      if (ends !== undefined && ends <= Date.now()) this.#expire(error);
      else this.#schedule(REFRESH_EVERY_MS);
      return undefined;
    }
    return this.current;
  }

  #expire(problem?: unknown): void {
    clearTimeout(this.#timer);
    this.expired.set(true);
    this.problem.set(problem);
    flush();
  }

  /** What another tab did. */
  async #hear(message: TabMessage): Promise<void> {
    const session = this.session.peek();
    const provider = this.providers.peek().find((one) => one.id === message.provider);
    if (!provider) return;
    const ours = session && this.#provider === provider && session.identity?.id === message.person;
    if (message.kind === 'session') {
      if (ours && message.session) await this.enter(message.session, provider, true, true);
      else this.#news = message;
    } else if (message.kind === 'logout') {
      // The provider has ended it; what isn't saved yet could only be saved as nobody.
      if (ours) await this.enter(undefined, undefined, false);
    } else if (!session || this.expired.peek()) await this.#rejoin(provider);
    else if (!ours && this.#provider === provider) await this.#rejoin(provider);
  }

  /** Where the browser keeps one session for all tabs, this tab goes with it. */
  async #rejoin(provider: AuthProvider): Promise<void> {
    const before = this.session.peek();
    this.#news = undefined;
    const found = await provider.restore?.({ refresh: false });
    if (this.session.peek() !== before || !found) return;
    if (this.expired.peek() || !samePerson(before, found)) await this.enter(found, provider, false);
  }
}
