/** First steps: from a key to the first request, the first endpoint, and where to read on. */
import {
  applicationName,
  define,
  hasReference,
  html,
  icon,
  knownModel,
  noticesNear,
  nothing,
  openApp,
  Part,
  text,
  type IconName,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';

class FirstSteps extends Part {
  can: (permission: string) => boolean = () => false;

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
  }

  async #copy(code: string): Promise<void> {
    await navigator.clipboard.writeText(code);
    noticesNear(this)?.say({ text: text('first-copied') });
  }

  #code(code: string): TemplateResult {
    return html`<div class="svc-code"><pre tabindex="0">${code}</pre>
      <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('copy')} title=${text('copy')} @click=${() => void this.#copy(code)}>${icon('copy')}</button></div>`;
  }

  #step(title: string, said: string, rest: TemplateResult | typeof nothing = nothing): TemplateResult {
    return html`<li><h2>${title}</h2><p>${said}</p>${rest}</li>`;
  }

  #open(sign: IconName, label: string, app: string, intent?: unknown): TemplateResult {
    return html`<button type="button" class="svc-button" @click=${() => void openApp(app, intent)}>${icon(sign)}<span>${label}</span></button>`;
  }

  #link(label: string, address: string): TemplateResult {
    return html`<a class="svc-button" href=${address} target="_blank" rel="noopener">${icon('open')}<span>${label}</span></a>`;
  }

  override render(): TemplateResult {
    const [set] = [...knownModel().values()].filter(({ searchable }) => searchable);
    const address = `${location.origin}/odata/v1/${set?.name ?? '$metadata'}?$top=3`;
    return html`<header class="svc-head"><h1>${text('first-app')}</h1></header>
      <div class="svc-page">
        <p class="svc-lead">${text('first-lead', { application: applicationName() })}</p>
        <ol class="svc-steps">
          ${this.#step(text('first-key'), text('first-key-text'), this.#open('key', text('keys-app'), 'system.keys'))}
          ${this.#step(text('first-ask'), text('first-ask-text'), this.#code(`curl -H 'Authorization: Bearer svck_…' '${address}'`))}
          ${this.can('Webhooks.Manage') ? this.#step(text('first-endpoint'), text('first-endpoint-text'), this.#open('send', text('first-endpoint-button'), 'webhooks', { open: 'new' })) : nothing}
          ${this.can('Identity.Manage') ? this.#step(text('first-people'), text('first-people-text'), this.#open('plus', text('people-app'), 'system.people')) : nothing}
          ${hasReference() ? this.#step(text('first-docs'), text('first-docs-text'), html`<div class="svc-row-of">${this.#link(text('first-docs-button'), '/docs')}${this.#link('OpenAPI', '/openapi/v1.json')}</div>`) : nothing}
        </ol>
      </div>
      <svc-notices></svc-notices>`;
  }
}
define('system-first-steps', FirstSteps);

export default (context: RenderContext) => {
  const page = document.createElement('system-first-steps') as FirstSteps;
  page.can = (permission) => context.can(permission);
  return page;
};
