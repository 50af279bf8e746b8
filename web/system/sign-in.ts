/**
 * How people sign in: what is asked for here, and the issuers at which they have accounts. Both are configuration, which an operator
 * writes; this page says what holds, what an issuer has to be told, and how a further one is added.
 */
import {
  asProblem,
  badge,
  capitalised,
  currentLanguage,
  define,
  failure,
  html,
  icon,
  nothing,
  openApp,
  Part,
  send,
  state,
  text,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import { readTable } from './inline-table.ts';

const SECTION = 'Svc:Auth';
/** The issuer of `Svc:Auth:Authority`, in addresses. */
const FIRST = 'default';
const EXAMPLE = `[Svc.Auth.Issuers.partner]
Authority = "https://login.partner.example"
ClientId = "${location.hostname}"
ClientSecret = "…"
Title = "Partner"`;

interface Setting {
  readonly key: string;
  readonly value: string;
}

/** An issuer as the configuration has it: what stands behind its name, by the keys in small letters. */
interface Issuer {
  readonly name: string;
  readonly says: ReadonlyMap<string, string>;
}

/** Whether a setting says something: what has no value is written as `(none)`. */
function isSaid(value: string): boolean {
  return value !== '' && value !== '(none)';
}

/** The issuers that settings name; the one of `Authority` first. */
function issuersOf(settings: readonly Setting[]): Issuer[] {
  const under = (key: string) => settings.find((one) => one.key === `${SECTION}:${key}`)?.value ?? '';
  const first = settings.flatMap(({ key, value }) =>
    key.startsWith(`${SECTION}:`) ? [[key.slice(SECTION.length + 1), value] as const] : [],
  );
  const others = Object.entries(readTable(under('Issuers')) ?? {}).map(
    ([name, table]) => [name, typeof table === 'string' ? [] : Object.entries(table)] as const,
  );
  return [[FIRST, first] as const, ...others]
    .map(([name, found]) => {
      const says = found.flatMap(([key, value]) =>
        typeof value === 'string' && isSaid(value) ? [[key.toLowerCase(), value] as const] : [],
      );
      return { name, says: new Map(says) };
    })
    .filter(({ says }) => says.has('authority'));
}

/** The texts of a list, as the configuration shows it. */
function listOf(value: string | undefined): string {
  return (value ?? '').replaceAll(/[[\]"]/g, '').trim();
}

/** A time of the settings (`14.00:00:00`, `00:30:00`) in words. */
function inWords(value: string): string {
  const found = /^(?:(\d+)\.)?(\d+):(\d\d):(\d\d)/.exec(value);
  if (!found) return value;
  const [days = 0, hours = 0, minutes = 0] = found.slice(1).map((one) => Number(one ?? 0));
  const parts = [
    ['day', days],
    ['hour', hours],
    ['minute', minutes],
  ] as const;
  const said = parts
    .filter(([, count]) => count > 0)
    .map(([unit, count]) =>
      new Intl.NumberFormat(currentLanguage(), { style: 'unit', unit, unitDisplay: 'long' }).format(count),
    );
  return said.length > 0 ? said.join(' ') : value;
}

class SignInPage extends Part {
  static override properties = { settings: { state: true }, problem: { state: true } };
  declare settings: readonly Setting[] | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#load();
  }

  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      this.settings = (await send<{ settings: Setting[] }>('/api/v1/system/configuration')).body.settings;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #fact(name: string, value: TemplateResult | string): TemplateResult {
    return html`<div class="svc-prop"><dt>${name}</dt><dd><span class="svc-value">${value}</span></dd></div>`;
  }

  #address(path: string): TemplateResult {
    const address = location.origin + path;
    return html`<span class="svc-copied"><code>${address}</code><button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('copy')} title=${text('copy')} @click=${() => void navigator.clipboard.writeText(address)}>${icon('copy')}</button></span>`;
  }

  #issuer({ name, says }: Issuer): TemplateResult {
    const authority = says.get('authority') ?? '';
    const title = says.get('title') ?? (URL.canParse(authority) ? new URL(authority).host : name);
    const roles = listOf(says.get('roleclaims'));
    const audience = says.get('audience');
    const trusts = says.get('trustsaddresses') === 'true';
    return html`<section class="svc-issuer" aria-label=${title}>
      <header><h3>${title}</h3>${badge(text('sign-in-on'), 'good')}<span class="svc-grow"></span>
        <a class="svc-button" href="/account/external/${name}?return=${encodeURIComponent('/account/accounts')}" target="_blank" rel="noopener">${icon('open')}<span>${text('sign-in-try')}</span></a></header>
      <dl class="svc-props">
        ${this.#fact(text('sign-in-authority'), html`<code>${authority}</code>`)}
        ${this.#fact(text('sign-in-client'), html`<code>${says.get('clientid') ?? ''}</code>`)}
        ${this.#fact(text('sign-in-proof'), text(says.has('clientsecret') ? 'sign-in-proof-secret' : 'sign-in-proof-none'))}
        ${this.#fact(text('sign-in-roles'), roles === '' ? text('sign-in-roles-here') : text('sign-in-roles-there', { claims: roles }))}
        ${this.#fact(text('sign-in-addresses'), text(trusts ? 'sign-in-addresses-trusted' : 'sign-in-addresses-not'))}
        ${this.#fact(text('sign-in-api'), audience === undefined ? text('sign-in-api-none') : html`<code>${audience}</code>`)}
      </dl>
      <details class="svc-more"><summary>${text('sign-in-tell')}</summary>
        <dl class="svc-props" data-single>
          ${this.#fact(text('sign-in-callback'), this.#address(`/account/external/${name}/callback`))}
          ${this.#fact(text('sign-in-signed-out'), this.#address(`/account/external/${name}/signed-out`))}
          ${this.#fact(text('sign-in-logout'), this.#address(`/connect/external/${name}/logout`))}
        </dl>
      </details>
    </section>`;
  }

  #valueOf(settings: readonly Setting[], key: string): string {
    const value = settings.find((one) => one.key === `${SECTION}:${key}`)?.value ?? '';
    return isSaid(value) ? value : '–';
  }

  #body(settings: readonly Setting[]): TemplateResult {
    const issuers = issuersOf(settings);
    return html`<section class="svc-block"><h2>${text('sign-in-here')}</h2><p class="svc-soft">${text('sign-in-here-text')}</p>
        <dl class="svc-props">
          ${this.#fact(text('sign-in-password'), text('sign-in-password-text'))}
          ${this.#fact(text('sign-in-passkeys'), text('sign-in-passkeys-text'))}
          ${this.#fact(text('sign-in-idle'), inWords(this.#valueOf(settings, 'SessionIdleTime')))}
          ${this.#fact(text('sign-in-lifetime'), inWords(this.#valueOf(settings, 'SessionLifetime')))}
        </dl></section>
      <section class="svc-block"><h2>${text('sign-in-elsewhere')}</h2><p class="svc-soft">${text('sign-in-elsewhere-text')}</p>
        ${
          issuers.length === 0
            ? state('users', text('sign-in-no-issuers'), text('sign-in-no-issuers-text'))
            : issuers.map((one) => this.#issuer(one))
        }
        <details class="svc-more"><summary>${text('sign-in-add')}</summary>
          <p>${text('sign-in-add-text')}</p>
          <div class="svc-exchange"><pre tabindex="0" role="group" aria-label=${text('sign-in-add')}>${EXAMPLE}</pre></div>
        </details></section>
      <section class="svc-block"><h2>${text('sign-in-programs')}</h2><p class="svc-soft">${text('sign-in-programs-text')}</p>
        <p><button type="button" class="svc-button" @click=${() => void openApp('system.organisation')}>${text('sign-in-programs-open')}</button></p></section>`;
  }

  override render(): TemplateResult {
    return html`<header class="svc-head"><h1>${capitalised(text('sign-in-app'))}</h1></header>
      <div class="svc-page" tabindex="0">
        ${this.problem ? failure(this.problem, () => void this.#load()) : nothing}
        ${this.settings ? this.#body(this.settings) : this.problem ? nothing : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>`;
  }
}
define('system-sign-in', SignInPage);

export default (_context: RenderContext): Node => document.createElement('system-sign-in');
