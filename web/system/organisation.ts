/** The organisation: what it is called, and the programs that its people sign in through. */
import {
  askIn,
  asProblem,
  badge,
  capitalised,
  confirmIn,
  define,
  failure,
  freshId,
  html,
  icon,
  noticesNear,
  nothing,
  Part,
  send,
  showSecret,
  state,
  text,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';

const ORGANISATION = '/api/v1/identity/organisation';
const CLIENTS = '/api/v1/identity/clients';
/** What a program says in several lines, one address in each. */
const LISTS = ['redirectUris', 'origins', 'signedOutUris'] as const;

interface Client {
  id: string;
  name: string;
  isPublic: boolean;
  redirectUris: string[];
}

const linesOf = (typed: unknown) =>
  String(typed ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

class OrganisationPage extends Part {
  static override properties = {
    name: { state: true },
    clients: { state: true },
    problem: { state: true },
    wrong: { state: true },
  };
  declare name: string | undefined;
  declare clients: readonly Client[] | undefined;
  declare problem: Problem | undefined;
  /** Why the name was refused. */
  declare wrong: string | undefined;
  readonly #prefix = freshId('organisation');

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#load();
  }

  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      const [organisation, clients] = await Promise.all([
        send<{ name: string }>(ORGANISATION),
        send<{ items: Client[] }>(CLIENTS),
      ]);
      this.name = organisation.body.name;
      this.clients = clients.body.items;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #rename(name: string): Promise<void> {
    const before = this.name;
    const put = async (to: string | undefined) => {
      await send(ORGANISATION, { method: 'PUT', body: { name: to } });
      this.name = to;
    };
    if (name === before) return;
    try {
      await put(name);
      this.wrong = undefined;
      noticesNear(this)?.say({ text: text('organisation-renamed', { name }), undo: () => put(before) });
    } catch (error) {
      const problem = asProblem(error);
      this.wrong = capitalised(problem.fields[0]?.message ?? problem.message);
    }
  }

  #lines(name: (typeof LISTS)[number]): TemplateResult {
    const id = `${this.#prefix}-${name}`;
    return html`<div class="svc-field" data-wide><label for=${id}>${text(`organisation-${name}`)}</label>
      <textarea id=${id} name=${name} class="svc-input" rows="2" spellcheck="false" aria-describedby="${id}-note"></textarea>
      <p id="${id}-note" class="svc-note">${text(`organisation-${name}-text`)}</p></div>`;
  }

  async #register(): Promise<void> {
    const note = `${this.#prefix}-wrong`;
    const made = await askIn<Client & { secret: string | null }>(this, {
      title: text('organisation-register'),
      body: html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="${this.#prefix}-client">${text('organisation-program')}</label><input id="${this.#prefix}-client" name="name" class="svc-input" maxlength="200" autocomplete="off" aria-describedby=${note} /></div>
        ${this.#lines('redirectUris')}
        <label class="svc-choice"><input type="checkbox" name="isPublic" /><span>${text('organisation-public')}<small class="svc-note">${text('organisation-public-text')}</small></span></label>
        <details class="svc-more"><summary>${text('organisation-more')}</summary><div class="svc-form">${this.#lines('origins')}${this.#lines('signedOutUris')}</div></details>
        <p id=${note} class="svc-note" role="alert" data-wrong></p>
      </div>`,
      confirm: text('organisation-register-save'),
      wide: true,
      answer: async (dialog) => {
        const data = new FormData(dialog.querySelector('form') ?? undefined);
        const body = {
          name: String(data.get('name') ?? '').trim(),
          isPublic: data.has('isPublic'),
          ...Object.fromEntries(LISTS.map((name) => [name, linesOf(data.get(name))])),
        };
        try {
          return (await send<Client & { secret: string | null }>(CLIENTS, { method: 'POST', body })).body;
        } catch (error) {
          const problem = asProblem(error);
          const said = problem.fields.map(({ message }) => capitalised(message)).join('. ');
          dialog.querySelector(`#${note}`)?.replaceChildren(said || capitalised(problem.message));
          dialog.querySelector('input')?.focus();
          return undefined;
        }
      },
    });
    if (!made) return;
    await this.#load();
    noticesNear(this)?.say({ text: text('organisation-registered', { name: made.name }) });
    if (made.secret !== null) {
      await showSecret(
        this,
        text('organisation-secret'),
        text('organisation-secret-text', { id: made.id }),
        made.secret,
      );
    }
  }

  async #remove({ id, name }: Client): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('organisation-remove-title', { name }),
      body: text('organisation-remove-text'),
      confirm: text('organisation-remove'),
      danger: true,
    });
    if (!sure) return;
    try {
      await send(`${CLIENTS}/${id}`, { method: 'DELETE' });
      await this.#load();
      noticesNear(this)?.say({ text: text('organisation-removed', { name }) });
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  #programs(clients: readonly Client[]): TemplateResult {
    if (clients.length === 0) return state('empty', text('organisation-none'), text('organisation-none-text'));
    return html`<div class="svc-scroll" tabindex="0" role="group" aria-label=${text('organisation-programs')}><table class="svc-small">
      <thead><tr><th scope="col">${text('organisation-program')}</th><th scope="col">${text('organisation-id')}</th><th scope="col">${text('organisation-redirectUris')}</th><td></td></tr></thead>
      <tbody>${clients.map(
        (
          client,
        ) => html`<tr><th scope="row">${client.name} ${client.isPublic ? badge(text('organisation-is-public'), 'info') : nothing}</th>
          <td><code>${client.id}</code></td><td>${client.redirectUris.map((address) => html`<div><code>${address}</code></div>`)}</td>
          <td><button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('organisation-remove-named', { name: client.name })} title=${text('organisation-remove')} @click=${() => void this.#remove(client)}>${icon('trash')}</button></td></tr>`,
      )}</tbody></table></div>`;
  }

  #body(name: string, clients: readonly Client[]): TemplateResult {
    const id = `${this.#prefix}-name`;
    return html`<section class="svc-settings"><div class="svc-setting">
        <div><label for=${id}>${text('organisation-name')}</label><p id="${id}-note" class="svc-note" ?data-wrong=${this.wrong !== undefined}>${this.wrong ?? text('organisation-name-text')}</p></div>
        <div class="svc-setting-value"><input id=${id} class="svc-input" maxlength="200" autocomplete="off" aria-describedby="${id}-note" aria-invalid=${this.wrong === undefined ? nothing : 'true'} .value=${name} @change=${(event: Event) => void this.#rename((event.target as HTMLInputElement).value.trim())} /></div>
      </div></section>
      <section><header class="svc-row-of"><h2>${text('organisation-programs')}</h2><span class="svc-grow"></span>
          <button type="button" class="svc-button" @click=${() => void this.#register()}>${icon('plus')}<span>${text('organisation-register')}</span></button></header>
        <p class="svc-soft">${text('organisation-programs-text')}</p>
        ${this.#programs(clients)}</section>`;
  }

  override render(): TemplateResult {
    const { name, clients, problem } = this;
    return html`<header class="svc-head"><h1>${text('organisation-app')}</h1></header>
      <div class="svc-page">
        ${problem ? failure(problem, () => void this.#load()) : nothing}
        ${name !== undefined && clients ? this.#body(name, clients) : problem ? nothing : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>
      <svc-notices></svc-notices>`;
  }
}
define('system-organisation', OrganisationPage);

export default (_context: RenderContext) => document.createElement('system-organisation');
