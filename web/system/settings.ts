/** Settings that hold while the application runs: each with what it means, its value, and the way back to the default. */
import {
  asProblem,
  capitalised,
  currentLanguage,
  define,
  failure,
  find,
  html,
  icon,
  noticesNear,
  nothing,
  number,
  Part,
  send,
  state,
  text,
  freshId,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';

const ROOT = '/api/v1/settings';

interface Setting {
  name: string;
  description: string;
  scope: string;
  type: 'boolean' | 'integer' | 'text' | 'choice';
  value: unknown;
  default: unknown;
  isSet: boolean;
  minimum?: number | null;
  maximum?: number | null;
  maxLength?: number | null;
  options?: string[] | null;
}

class SettingsPage extends Part {
  static override properties = { settings: { state: true }, problem: { state: true }, wrong: { state: true } };
  declare settings: readonly Setting[] | undefined;
  declare problem: Problem | undefined;
  /** What the server said no to, by the setting's name. */
  declare wrong: ReadonlyMap<string, string>;
  readonly #prefix = freshId('settings');

  constructor() {
    super();
    this.wrong = new Map();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#load();
  }

  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      this.settings = (await send<{ items: Setting[] }>(ROOT)).body.items;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #change(setting: Setting, value: unknown): Promise<void> {
    const path = `${ROOT}/${encodeURIComponent(setting.name)}`;
    const before = setting.isSet ? setting.value : undefined;
    const put = (to: unknown) =>
      to === undefined ? send(path, { method: 'DELETE' }) : send(path, { method: 'PUT', body: { value: to } });
    const wrong = new Map(this.wrong);
    wrong.delete(setting.name);
    try {
      await put(value);
      await this.#load();
      noticesNear(this)?.say({
        text: text('settings-saved', { name: this.#name(setting) }),
        undo: async () => {
          await put(before);
          await this.#load();
        },
      });
    } catch (error) {
      const problem = asProblem(error);
      wrong.set(setting.name, capitalised(problem.fields[0]?.message ?? problem.message));
    }
    this.wrong = wrong;
  }

  #id({ name }: Setting): string {
    return `${this.#prefix}-${name.replaceAll('.', '-')}`;
  }

  /** In words, where a module has some: `setting-Chat-MaxAttachmentMb`. */
  #name({ name }: Setting): string {
    return find(`setting-${name.replaceAll('.', '-')}`) ?? name;
  }

  /** What it is about; the server's own words are English. */
  #description({ name, description }: Setting): string {
    const own = find(`setting-${name.replaceAll('.', '-')}`, 'description');
    return own ?? (currentLanguage() === 'en' ? capitalised(description) : '');
  }

  #control(setting: Setting): TemplateResult {
    const id = this.#id(setting);
    const described = `${id}-note`;
    const { type, value } = setting;
    if (type === 'boolean') {
      return html`<input id=${id} type="checkbox" class="svc-check" .checked=${value === true} aria-describedby=${described} @change=${(event: Event) => void this.#change(setting, (event.target as HTMLInputElement).checked)} />`;
    }
    if (type === 'choice') {
      return html`<select id=${id} class="svc-input" aria-describedby=${described} @change=${(event: Event) => void this.#change(setting, (event.target as HTMLSelectElement).value)}>
        ${(setting.options ?? []).map((option) => html`<option value=${option} .selected=${option === value}>${find(`setting-${setting.name.replaceAll('.', '-')}-${option}`) ?? option}</option>`)}
      </select>`;
    }
    return html`<input
      id=${id}
      class="svc-input"
      inputmode=${type === 'integer' ? 'numeric' : nothing}
      maxlength=${setting.maxLength ?? nothing}
      aria-describedby=${described}
      aria-invalid=${this.wrong.has(setting.name) ? 'true' : nothing}
      .value=${String(value ?? '')}
      @change=${(event: Event) => {
        const typed = (event.target as HTMLInputElement).value.trim();
        void this.#change(setting, type === 'integer' && /^-?\d+$/.test(typed) ? Number(typed) : typed);
      }}
    />`;
  }

  #bounds({ type, minimum, maximum }: Setting): string {
    if (type !== 'integer' || (minimum ?? maximum) === undefined || (minimum ?? maximum) === null) return '';
    const bound = (value: number | null | undefined) =>
      value === null || value === undefined ? '…' : number(value, 0);
    return text('settings-bounds', { minimum: bound(minimum), maximum: bound(maximum) });
  }

  #setting(setting: Setting): TemplateResult {
    const id = this.#id(setting);
    const wrong = this.wrong.get(setting.name);
    return html`<div class="svc-setting">
      <div>
        <label for=${id}>${this.#name(setting)}</label>
        <p id="${id}-note" class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ?? `${this.#description(setting)} ${this.#bounds(setting)}`}</p>
      </div>
      <div class="svc-setting-value">
        ${this.#control(setting)}
        ${
          setting.isSet
            ? html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('settings-default', { value: String(setting.default) })} title=${text('settings-default', { value: String(setting.default) })} @click=${() => void this.#change(setting, undefined)}>${icon('undo')}</button>`
            : nothing
        }
      </div>
    </div>`;
  }

  #list(): TemplateResult {
    if (this.problem) return failure(this.problem, () => void this.#load());
    if (!this.settings) return html`<div class="svc-skeleton" aria-busy="true"></div>`;
    if (this.settings.length === 0) return state('empty', text('settings-none'), text('settings-none-text'));
    const groups = Map.groupBy(this.settings, ({ name }) => name.split('.')[0] ?? '');
    return html`${[...groups].map(
      ([group, settings]) =>
        html`<section class="svc-settings"><h2>${find(`settings-${group}`) ?? group}</h2>${settings.map((one) => this.#setting(one))}</section>`,
    )}`;
  }

  override render(): TemplateResult {
    return html`<header class="svc-head"><h1>${text('settings-app')}</h1></header>
      <div class="svc-page">${this.#list()}</div>
      <svc-notices></svc-notices>`;
  }
}
define('system-settings', SettingsPage);

export default (_context: RenderContext) => document.createElement('system-settings');
