/** The API keys of somebody, in the pane of that person: each can be revoked, and a program is given new ones. */
import {
  asProblem,
  askIn,
  capitalised,
  confirmIn,
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
import { everyPage } from './listing.ts';

const ROOT = '/api/v1/identity/api-keys';

interface Key {
  id: string;
  name: string;
  prefix: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

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
  declare keys: readonly Key[] | undefined;
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
      const keys = await everyPage<Key>(`${ROOT}?userId=${person}`);
      if (person !== this.person) return;
      this.keys = keys.filter(({ revokedAt }) => revokedAt === null);
    } catch (error) {
      if (person === this.person) this.problem = asProblem(error);
    }
  }

  async #make(): Promise<void> {
    const made = await askIn<string>(this, {
      title: text('keys-new'),
      body: html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="person-key-name">${text('keys-name')}</label><input id="person-key-name" name="name" class="svc-input" maxlength="200" autocomplete="off" aria-describedby="person-key-note" /></div>
        <div class="svc-field" data-wide><label for="person-key-end">${text('keys-end')}<span class="svc-soft"> ${text('field-optional')}</span></label><input id="person-key-end" name="end" class="svc-input" type="date" /></div>
        <p id="person-key-note" class="svc-note" role="alert" data-wrong></p>
      </div>`,
      confirm: text('keys-make'),
      answer: async (dialog) => {
        const data = new FormData(dialog.querySelector('form') ?? undefined);
        const end = String(data.get('end') ?? '');
        const body = {
          name: String(data.get('name') ?? '').trim(),
          userId: this.person,
          ...(end ? { expiresAt: new Date(`${end}T00:00`).toISOString() } : {}),
        };
        try {
          return (await send<{ key: string }>(ROOT, { method: 'POST', body })).body.key;
        } catch (error) {
          const problem = asProblem(error);
          dialog
            .querySelector('#person-key-note')
            ?.replaceChildren(capitalised(problem.fields[0]?.message ?? problem.message));
          dialog.querySelector('input')?.focus();
          return undefined;
        }
      },
    });
    if (made === undefined) return;
    await this.#load();
    await showSecret(this, text('people-key-made'), text('keys-once'), made);
  }

  async #revoke({ id, name }: Key): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('keys-revoke-title', { name }),
      body: text('keys-revoke-text'),
      confirm: text('keys-revoke'),
      danger: true,
    });
    if (!sure) return;
    try {
      await send(`${ROOT}/${id}`, { method: 'DELETE' });
      noticesNear(this)?.say({ text: text('keys-revoked-said') });
      await this.#load();
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  #list(keys: readonly Key[]): TemplateResult {
    const used = ({ lastUsedAt }: Key) => (lastUsedAt ? timeAgo(lastUsedAt) : text('keys-never'));
    const end = ({ expiresAt }: Key) => (expiresAt ? date(expiresAt) : text('keys-no-end'));
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
