/** The own account: who one is here, and the way to password, second step, sessions and keys. */
import {
  asProblem,
  chooseDensity,
  define,
  DENSITIES,
  density,
  failure,
  html,
  icon,
  noticesNear,
  nothing,
  openApp,
  Part,
  send,
  text,
  type Density,
  type IconName,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import { fact } from './log.ts';

/** What the server says of the caller. */
interface Me {
  user: { displayName: string; email: string };
  organisation: { name: string };
  hasOtherOrganisations: boolean;
  roles: { name: string }[];
}

class AccountPage extends Part {
  static override properties = { me: { state: true }, problem: { state: true } };
  declare me: Me | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#load();
  }

  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      this.me = (await send<Me>('/api/v1/identity/me')).body;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #way(sign: IconName, title: string, said: string, target: string | (() => void)): TemplateResult {
    const inside = html`<span class="svc-way-sign">${icon(sign)}</span><span><strong>${title}</strong><span class="svc-soft">${said}</span></span>`;
    return typeof target === 'string'
      ? html`<a class="svc-way" href=${target} target="_blank" rel="noopener">${inside}${icon('open')}</a>`
      : html`<button type="button" class="svc-way" @click=${target}>${inside}${icon('forward')}</button>`;
  }

  async #choose(chosen: Density): Promise<void> {
    try {
      await chooseDensity(chosen);
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
    this.requestUpdate();
  }

  #density(): TemplateResult {
    const choice = (one: Density) =>
      html`<option value=${one} .selected=${one === density()}>${text(`account-density-${one}`)}</option>`;
    return html`<section class="svc-settings"><div class="svc-setting">
      <div><label for="account-density">${text('account-density')}</label><p id="account-density-note" class="svc-note">${text('account-density-text')}</p></div>
      <div class="svc-setting-value"><select id="account-density" class="svc-input" aria-describedby="account-density-note" @change=${(event: Event) => void this.#choose((event.target as HTMLSelectElement).value as Density)}>
        ${DENSITIES.map(choice)}
      </select></div>
    </div></section>`;
  }

  #body({ user, organisation, hasOtherOrganisations, roles }: Me): TemplateResult {
    return html`<dl class="svc-props">
        ${fact(text('account-name'), user.displayName)}
        ${fact(text('account-email'), user.email)}
        ${fact(text('account-organisation'), organisation.name)}
        ${fact(text('account-roles'), roles.map(({ name }) => name).join(', ') || '–')}
      </dl>
      ${this.#density()}
      <div class="svc-ways">
        ${this.#way('lock', text('account-password'), text('account-password-text'), '/account')}
        ${this.#way('show', text('account-sessions'), text('account-sessions-text'), '/account#sessions')}
        ${hasOtherOrganisations ? this.#way('users', text('account-change'), text('account-change-text'), '/account/organisation') : nothing}
        ${this.#way('key', text('keys-app'), text('account-keys-text'), () => void openApp('system.keys'))}
      </div>`;
  }

  override render(): TemplateResult {
    return html`<header class="svc-head"><h1>${text('account-app')}</h1></header>
      <div class="svc-page">
        ${this.problem ? failure(this.problem, () => void this.#load()) : nothing}
        ${this.me ? this.#body(this.me) : this.problem ? nothing : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>
      <svc-notices></svc-notices>`;
  }
}
define('system-account', AccountPage);

export default (_context: RenderContext) => document.createElement('system-account');
