/** Where somebody is signed in, in the pane of that person: each browser can be signed out, and all of them at once. */
import {
  asProblem,
  badge,
  confirmIn,
  define,
  failureBar,
  html,
  icon,
  noticesNear,
  nothing,
  Part,
  send,
  text,
  timeAgo,
  watch,
  type Problem,
  type PropertyValues,
  type TemplateResult,
} from '@svc/web';

/** How often it is read again while somebody looks. */
const LOOK_MS = 5_000;

interface Session {
  id: string;
  /** A program goes on without a browser. */
  isProgram: boolean;
  browser: string | null;
  system: string | null;
  address: string | null;
  /** The programs that were signed in to with the browser, or the one that it is. */
  programs: string[];
  createdAt: string;
  lastUsedAt: string;
  isCurrent: boolean;
}

function nameOf({ browser, system, isProgram, programs }: Session): string {
  if (isProgram) return programs.join(', ') || text('people-program');
  if (browser !== null && system !== null) return text('people-session-on', { browser, system });
  return browser ?? system ?? text('people-session-unknown');
}

export class SystemPersonSessions extends Part {
  static override properties = {
    person: { attribute: false },
    name: { attribute: false },
    sessions: { state: true },
    problem: { state: true },
  };
  /** The id of whose they are. */
  declare person: string;
  declare name: string;
  declare sessions: readonly Session[] | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.atEnd(watch(this, LOOK_MS, () => this.#load()));
  }

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('person')) return;
    this.sessions = undefined;
    void this.#load();
  }

  get #path(): string {
    return `/api/v1/identity/users/${this.person}/sessions`;
  }

  async #load(): Promise<void> {
    const { person } = this;
    try {
      const { body } = await send<{ items: Session[] }>(this.#path);
      if (person !== this.person) return;
      this.sessions = body.items;
      this.problem = undefined;
    } catch (error) {
      if (person === this.person) this.problem = asProblem(error);
    }
  }

  async #end(path: string, said: string): Promise<void> {
    try {
      await send(path, { method: 'DELETE' });
      noticesNear(this)?.say({ text: said });
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
    await this.#load();
    await this.updateComplete;
    // What was pressed may be gone.
    if (document.activeElement === document.body) this.querySelector('h3')?.focus();
  }

  async #endOne(one: Session): Promise<void> {
    const { name } = this;
    const session = nameOf(one);
    const sure = await confirmIn(this, {
      title: text('people-session-end-title', { name, session }),
      body: text(one.isProgram ? 'people-session-end-program' : 'people-session-end-text'),
      confirm: text('people-session-end'),
      danger: true,
    });
    if (sure) await this.#end(`${this.#path}/${one.id}`, text('people-session-ended', { name, session }));
  }

  async #endAll(isOwn: string): Promise<void> {
    const { name } = this;
    const sure = await confirmIn(this, {
      title: text('people-sessions-end-title', { name, isOwn }),
      body: text('people-sessions-end-text'),
      confirm: text('people-session-end'),
      danger: true,
    });
    if (sure) await this.#end(this.#path, text('people-sessions-ended', { name, isOwn }));
  }

  #row(one: Session): TemplateResult {
    const name = nameOf(one);
    const programs = one.isProgram ? '' : one.programs.join(', ');
    return html`<li><div><strong>${name}</strong> ${one.isProgram ? badge(text('people-program'), 'none') : nothing}${one.isCurrent ? badge(text('people-session-this'), 'info') : nothing}
        <p class="svc-note">${text('people-session-used')} ${timeAgo(one.lastUsedAt)} · ${text('people-session-since')} ${timeAgo(one.createdAt)}${one.address === null ? nothing : ` · ${text('people-session-from', { address: one.address })}`}</p>
        ${programs === '' ? nothing : html`<p class="svc-note">${text('people-session-programs', { programs })}</p>`}</div>
      ${one.isCurrent ? nothing : html`<button type="button" class="svc-button" aria-label=${text('people-session-end-named', { session: name })} @click=${() => void this.#endOne(one)}>${text('people-session-end')}</button>`}</li>`;
  }

  override render(): TemplateResult | typeof nothing {
    const { sessions, problem } = this;
    if (!sessions) return problem ? failureBar(problem, () => void this.#load()) : nothing;
    const others = sessions.filter(({ isCurrent }) => !isCurrent);
    const isOwn = others.length < sessions.length ? 'yes' : 'no';
    const all = html`<button type="button" class="svc-button" @click=${() => void this.#endAll(isOwn)}>${icon('ban')}<span>${text('people-sessions-end', { isOwn })}</span></button>`;
    return html`<section><header class="svc-row-of"><h3 tabindex="-1">${text('people-sessions')}</h3><span class="svc-grow"></span>
        ${others.length > 1 ? all : nothing}</header>
      ${problem ? failureBar(problem, () => void this.#load()) : nothing}
      ${sessions.length > 0 ? html`<ul class="svc-keys">${sessions.map((one) => this.#row(one))}</ul>` : html`<p class="svc-soft">${text('people-sessions-none')}</p>`}</section>`;
  }
}
define('system-person-sessions', SystemPersonSessions);
