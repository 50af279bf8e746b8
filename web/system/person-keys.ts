/** The API keys of somebody, in the pane of that person: each can be revoked, and a program is given new ones. */
import {
  asProblem,
  date,
  define,
  failureBar,
  html,
  icon,
  noticesNear,
  nothing,
  Part,
  send,
  showSecret,
  text,
  timeAgo,
  type Problem,
  type PropertyValues,
  type TemplateResult,
} from '@svc/web';
import { API_KEYS, confirmRevoking, makeKey, type ApiKey } from './api-keys.ts';
import { everyPage } from './listing.ts';

export class SystemPersonKeys extends Part {
  static override properties = {
    person: { attribute: false },
    mayMake: { attribute: false },
    keys: { state: true },
    problem: { state: true },
  };
  /** The id of whom the keys speak for. */
  declare person: string;
  /** Whether keys are made here: those of a program, by who may. */
  declare mayMake: boolean;
  declare keys: readonly ApiKey[] | undefined;
  declare problem: Problem | undefined;

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('person')) return;
    this.keys = undefined;
    void this.#load();
  }

  async #load(): Promise<void> {
    const { person } = this;
    this.problem = undefined;
    try {
      const keys = await everyPage<ApiKey>(`${API_KEYS}?userId=${person}`);
      if (person !== this.person) return;
      this.keys = keys.filter(({ revokedAt }) => revokedAt === null);
    } catch (error) {
      if (person === this.person) this.problem = asProblem(error);
    }
  }

  async #make(): Promise<void> {
    const made = await makeKey(this, { prefix: 'person-key', longest: 200, userId: this.person });
    if (made === undefined) return;
    await this.#load();
    await showSecret(this, text('people-key-made'), text('keys-once'), made);
  }

  async #revoke({ id, name }: ApiKey): Promise<void> {
    if (!(await confirmRevoking(this, name))) return;
    try {
      await send(`${API_KEYS}/${id}`, { method: 'DELETE' });
      noticesNear(this)?.say({ text: text('keys-revoked-said') });
      await this.#load();
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  #list(keys: readonly ApiKey[]): TemplateResult {
    const used = ({ lastUsedAt }: ApiKey) => (lastUsedAt ? timeAgo(lastUsedAt) : text('keys-never'));
    const end = ({ expiresAt }: ApiKey) => (expiresAt ? date(expiresAt) : text('keys-no-end'));
    return html`<ul class="svc-keys">${keys.map(
      (key) => html`<li><div><strong>${key.name}</strong> <code>${key.prefix}…</code>
          <p class="svc-note">${text('keys-used')}: ${used(key)} · ${text('keys-end')}: ${end(key)}</p></div>
        <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('people-key-revoke', { name: key.name })} title=${text('keys-revoke')} @click=${() => void this.#revoke(key)}>${icon('ban')}</button></li>`,
    )}</ul>`;
  }

  override render(): TemplateResult | typeof nothing {
    const { keys, problem } = this;
    if (problem) return failureBar(problem, () => void this.#load());
    if (!keys || (keys.length === 0 && !this.mayMake)) return nothing;
    return html`<section><header class="svc-row-of"><h3>${text('keys-app')}</h3><span class="svc-grow"></span>
        ${this.mayMake ? html`<button type="button" class="svc-button" @click=${() => void this.#make()}>${icon('plus')}<span>${text('keys-new')}</span></button>` : nothing}</header>
      ${keys.length > 0 ? this.#list(keys) : html`<p class="svc-soft">${text('people-no-keys')}</p>`}</section>`;
  }
}
define('system-person-keys', SystemPersonKeys);
