/** An endpoint beside the list: how it does, what can be done, and its latest deliveries. */
import {
  asProblem,
  askIn,
  chart,
  confirmIn,
  dateTime,
  define,
  failure,
  failureBar,
  freshId,
  hour,
  html,
  icon,
  keepFocus,
  menuButton,
  noticesNear,
  nothing,
  number,
  Part,
  percent,
  relative,
  send,
  text,
  timeAgo,
  watch,
  type Entry,
  type Problem,
  type PropertyValues,
  type TemplateResult,
} from '@svc/web';
import * as api from './api.ts';
import type { Backfill, Delivery, Endpoint, EndpointInput, EventType, Health } from './api.ts';
import { askForSet, backfillBars } from './backfill.ts';
import { NO_CERTIFICATE } from './credentials.ts';
import { fields } from './form.ts';
import { showSecret } from './secret.ts';
import { copyButton, eventsText, isMoved, shortUrl, stateBadge, statusBadge } from './shown.ts';

const HOURS = 24;
const LATEST = 8;
const LOOK_MS = 2_000;

export class WebhooksEndpoint extends Part {
  static override properties = {
    endpointId: { attribute: false },
    types: { attribute: false },
    endpoint: { state: true },
    health: { state: true },
    latest: { state: true },
    backfills: { state: true },
    problem: { state: true },
    editing: { state: true },
    refused: { state: true },
  };
  /** None while one is made. */
  declare endpointId: string | undefined;
  declare types: readonly EventType[];
  declare endpoint: Endpoint | undefined;
  declare health: Health | undefined;
  declare latest: readonly Delivery[];
  declare backfills: readonly Backfill[];
  declare problem: Problem | undefined;
  /** What stands in the form, while it's open. */
  declare editing: EndpointInput | undefined;
  declare refused: Problem | undefined;
  readonly #prefix = freshId('endpoint');
  /** The look that is under way. */
  #looking: Promise<void> | undefined;
  #isDeleting = false;

  constructor() {
    super();
    this.types = [];
    this.latest = [];
    this.backfills = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.atEnd(watch(this, LOOK_MS, () => this.#look()));
  }

  override willUpdate(changes: PropertyValues): void {
    if (this.hasUpdated && !changes.has('endpointId')) return;
    this.refused = undefined;
    this.endpoint = undefined;
    this.#isDeleting = false;
    this.editing = this.endpointId === undefined ? { url: '', description: '', events: [], isActive: true } : undefined;
    if (this.endpointId !== undefined) void this.load();
  }

  override updated(changes: PropertyValues): void {
    if (changes.has('editing') && this.editing && !changes.get('editing')) {
      this.querySelector<HTMLElement>('.svc-form input')?.focus();
    }
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return this.editing !== undefined && JSON.stringify(this.editing) !== JSON.stringify(this.#begun());
  }

  async load(): Promise<void> {
    this.problem = undefined;
    try {
      await this.#read();
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #read(): Promise<void> {
    const id = this.endpointId;
    if (id === undefined) return;
    const [endpoint, health, deliveries, backfills] = await Promise.all([
      api.endpoint(id),
      api.health(id, HOURS),
      send<{ items: Delivery[] }>(`${api.deliveriesPath({ subscriptionId: id })}&take=${LATEST}`),
      api.backfills(id),
    ]);
    if (id !== this.endpointId) return;
    this.endpoint = endpoint;
    this.health = health;
    this.latest = deliveries.body.items;
    this.backfills = backfills;
  }

  /** What changes while somebody looks; a failure then is told by the next thing somebody does. */
  async #look(): Promise<void> {
    if (!this.endpoint || this.editing || this.#isDeleting) return;
    this.#looking = this.#read().catch(() => undefined);
    await this.#looking;
  }

  #begun(): EndpointInput {
    const { endpoint } = this;
    if (!endpoint) return { url: '', description: '', events: [], isActive: true };
    const { url, description, events, filter, format, isActive, includesChanges, isThin, isOrdered, maxPerSecond } =
      endpoint;
    const { timeoutSeconds, retryDelaysSeconds, expiresAfterSeconds } = endpoint;
    const { oauth2, clientCertificate } = endpoint;
    return {
      url,
      description,
      events,
      filter,
      format,
      isActive,
      includesChanges,
      isThin,
      isOrdered,
      isPolled: endpoint.isPolled,
      receiverKeyId: endpoint.receiverKeyId,
      maxPerSecond,
      timeoutSeconds,
      retryDelaysSeconds,
      expiresAfterSeconds,
      isAsymmetric: endpoint.publicKey !== null,
      metadata: endpoint.metadata,
      oauth2: oauth2 && { ...oauth2, clientSecret: '' },
      clientCertificate: clientCertificate && NO_CERTIFICATE,
    };
  }

  async #do(work: () => Promise<unknown>, said?: string): Promise<boolean> {
    try {
      await work();
      if (said) noticesNear(this)?.say({ text: said });
      await this.load();
      this.tell('endpoint-changed', undefined);
      await keepFocus(this);
      return true;
    } catch (error) {
      noticesNear(this)?.complain(error);
      return false;
    }
  }

  async #save(event: Event): Promise<void> {
    event.preventDefault();
    if (!this.editing) return;
    this.refused = undefined;
    try {
      if (this.endpointId === undefined) {
        const made = await api.createEndpoint(this.editing);
        await showSecret(this, made.secret, true);
        this.editing = undefined;
        this.tell('endpoint-created', made.id);
        return;
      }
      const before = this.#begun() as Record<string, unknown>;
      const changes = Object.fromEntries(
        Object.entries(this.editing).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
      );
      if (Object.keys(changes).length > 0) {
        const now = await api.changeEndpoint(this.endpointId, changes);
        // Another receiver doesn't know the secret that it is given.
        if (isMoved(String(before.url), now.url)) await showSecret(this, await api.secretOf(now.id), true);
        this.endpoint = now;
      }
      this.editing = undefined;
      noticesNear(this)?.say({ text: text('webhooks-saved') });
      await this.load();
      this.tell('endpoint-changed', undefined);
    } catch (error) {
      this.refused = asProblem(error);
      await this.updateComplete;
      this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    }
  }

  async #test(id: string): Promise<void> {
    await this.#do(() => api.sendTest(id), text('webhooks-test-sent'));
  }

  /** Sends an event as it may be, of a type that one chooses. */
  async #example(id: string): Promise<void> {
    let types: readonly api.EventType[];
    try {
      types = (await api.eventTypes(true)).filter(({ example }) => example !== undefined);
    } catch (error) {
      noticesNear(this)?.complain(error);
      return;
    }
    const shown = (name?: string) => JSON.stringify(types.find((one) => one.name === name)?.example, undefined, 2);
    const show = (event: Event) => {
      const select = event.target as HTMLSelectElement;
      const preview = select.closest('form')?.querySelector('pre');
      if (preview) preview.textContent = shown(select.value);
    };
    const chosen = await askIn<string>(this, {
      title: text('webhooks-example-send'),
      wide: true,
      body: html`<div class="svc-field"><label for="${this.#prefix}-type">${text('webhooks-event')}</label>
        <select id="${this.#prefix}-type" class="svc-input" @change=${show}>
          ${types.map(({ name }) => html`<option>${name}</option>`)}
        </select></div>
        <pre tabindex="0" role="group" aria-label=${text('webhooks-example')}>${shown(types[0]?.name)}</pre>`,
      confirm: text('webhooks-example-send'),
      answer: (dialog) => dialog.querySelector('select')?.value,
    });
    if (chosen) await this.#do(() => api.sendTest(id, chosen), text('webhooks-test-sent'));
  }

  async #showSecret(id: string): Promise<void> {
    await this.#do(async () => showSecret(this, await api.secretOf(id), false));
  }

  async #rotate(id: string): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('webhooks-rotate-title'),
      body: text('webhooks-rotate-text'),
      confirm: text('webhooks-rotate'),
    });
    if (sure) await this.#do(async () => showSecret(this, (await api.rotateSecret(id)).secret, true));
  }

  /** The public key is no secret: it stands among the facts, where the receiver's keeper copies it. */
  async #rotateKeyPair(id: string): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('webhooks-rotate-keys-title'),
      body: text('webhooks-rotate-keys-text'),
      confirm: text('webhooks-rotate-keys'),
    });
    if (sure) await this.#do(() => api.rotateKeyPair(id), text('webhooks-keys-rotated'));
  }

  async #recover(endpoint: Endpoint): Promise<void> {
    const since = new Date(endpoint.disabledAt ?? Date.now() - 86_400_000);
    const local = new Date(since.getTime() - since.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    const done = await askIn<string>(this, {
      title: text('webhooks-recover'),
      body: html`<p>${text('webhooks-recover-text')}</p>
        <div class="svc-field"><label for="${this.#prefix}-since">${text('webhooks-recover-since')}</label>
        <input id="${this.#prefix}-since" class="svc-input" type="datetime-local" required .value=${local} /></div>`,
      confirm: text('webhooks-recover'),
      answer: async (dialog) => {
        const time = new Date(dialog.querySelector('input')?.value ?? '');
        return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
      },
    });
    if (done) await this.#do(() => api.recover(endpoint.id, done), text('webhooks-recovering'));
  }

  /** Tells all records of a set. */
  async #backfill(endpoint: Endpoint): Promise<void> {
    const set = await askForSet(this, this.#prefix, this.types);
    if (set) await this.#do(() => api.backfill(endpoint.id, set), text('webhooks-backfill-begun'));
  }

  async #switch(endpoint: Endpoint): Promise<void> {
    await this.#do(
      () => api.changeEndpoint(endpoint.id, { isActive: !endpoint.isActive }),
      text(endpoint.isActive ? 'webhooks-switched-off' : 'webhooks-switched-on'),
    );
  }

  /** Whoever saves an endpoint is its owner. */
  async #takeOver(endpoint: Endpoint): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('webhooks-take-over-title'),
      body: text('webhooks-take-over-text'),
      confirm: text('webhooks-take-over'),
    });
    if (sure) await this.#do(() => api.changeEndpoint(endpoint.id, {}), text('webhooks-taken-over'));
  }

  /** What waits is sent no more. */
  async #cancelWaiting(endpoint: Endpoint): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('webhooks-cancel-all-title'),
      body: text('webhooks-cancel-all-text'),
      confirm: text('webhooks-cancel-all'),
      danger: true,
    });
    if (sure) await this.#do(() => api.cancelWaiting(endpoint.id), text('webhooks-cancelling'));
  }

  async #delete(endpoint: Endpoint): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('webhooks-delete-title', { url: shortUrl(endpoint.url) }),
      body: text('webhooks-delete-text'),
      confirm: text('delete'),
      danger: true,
    });
    if (!sure) return;
    // Nobody looks at what goes meanwhile.
    this.#isDeleting = true;
    await this.#looking;
    try {
      await api.deleteEndpoint(endpoint.id);
      this.tell('endpoint-deleted', endpoint.id);
    } catch (error) {
      this.#isDeleting = false;
      noticesNear(this)?.complain(error);
    }
  }

  #actions(endpoint: Endpoint): TemplateResult {
    const entries = (): Entry[] => [
      { label: text('webhooks-edit'), icon: 'edit', run: () => this.#edit() },
      { label: text('webhooks-example-send'), icon: 'send', run: () => void this.#example(endpoint.id) },
      { label: text('webhooks-rotate'), icon: 'refresh', run: () => void this.#rotate(endpoint.id) },
      ...(endpoint.publicKey === null
        ? []
        : [
            {
              label: text('webhooks-rotate-keys'),
              icon: 'refresh',
              run: () => void this.#rotateKeyPair(endpoint.id),
            } satisfies Entry,
          ]),
      { label: text('webhooks-recover'), icon: 'retry', run: () => void this.#recover(endpoint) },
      { label: text('webhooks-backfill'), icon: 'send', run: () => void this.#backfill(endpoint) },
      {
        label: text(endpoint.isActive ? 'webhooks-switch-off' : 'webhooks-switch-on'),
        icon: endpoint.isActive ? 'ban' : 'play',
        run: () => void this.#switch(endpoint),
      },
      { label: text('webhooks-cancel-all'), icon: 'close', run: () => void this.#cancelWaiting(endpoint) },
      { label: text('delete'), icon: 'trash', danger: true, run: () => void this.#delete(endpoint) },
    ];
    return html`<button type="button" class="svc-button" @click=${() => void this.#test(endpoint.id)}>${icon('send')}<span>${text('webhooks-test')}</span></button>
      <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('webhooks-secret-show')} title=${text('webhooks-secret-show')} @click=${() => void this.#showSecret(endpoint.id)}>${icon('key')}</button>
      ${menuButton(text('more'), entries)}`;
  }

  #edit(): void {
    this.editing = this.#begun();
  }

  #notice(endpoint: Endpoint): TemplateResult | typeof nothing {
    if (!endpoint.isActive) {
      const since = endpoint.disabledAt ? relative(endpoint.disabledAt) : '';
      return html`<div class="svc-bar" data-tone="warn">${icon('ban')}<span>${text('webhooks-off-since', { since, reason: endpoint.disabledReason ?? '' })}</span>
        <button type="button" class="svc-button" @click=${() => void this.#switch(endpoint)}>${text('webhooks-switch-on')}</button></div>`;
    }
    if (endpoint.owner.standing !== 'here') {
      const { displayName: name, standing } = endpoint.owner;
      return html`<div class="svc-bar" data-tone="danger">${icon('alert')}<span>${text(`webhooks-owner-${standing}`, { name })}</span>
        <button type="button" class="svc-button" @click=${() => void this.#takeOver(endpoint)}>${text('webhooks-take-over')}</button></div>`;
    }
    if (endpoint.consecutiveFailures > 0) {
      return html`<div class="svc-bar" data-tone="danger">${icon('alert')}<span>${text('webhooks-failing-text', { count: endpoint.consecutiveFailures, error: endpoint.lastError ?? '' })}</span></div>`;
    }
    return nothing;
  }

  /** Every hour of the day, also those in which nothing was sent. */
  #chart(health: Health): TemplateResult {
    const now = new Date();
    now.setMinutes(0, 0, 0);
    const found = new Map(health.hours.map((one) => [new Date(one.from).getTime(), one]));
    const bars = Array.from({ length: HOURS }, (_none, index) => {
      const from = now.getTime() - (HOURS - 1 - index) * 3_600_000;
      const span = found.get(from);
      return { label: hour(new Date(from)), parts: [span?.delivered ?? 0, span?.waiting ?? 0, span?.failed ?? 0] };
    });
    const names = [text('webhooks-status-delivered'), text('webhooks-waiting'), text('webhooks-status-failed')];
    return chart(text('webhooks-last-day'), bars, names, ['good', 'warn', 'bad']);
  }

  #figures(health: Health): TemplateResult {
    const ms = (value: number | null) => (value === null ? '–' : text('webhooks-ms', { ms: number(value, 0) }));
    const figure = (name: string, value: TemplateResult | string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
    return html`<dl class="svc-figures">
      ${figure(text('webhooks-success'), health.successRate === null ? '–' : percent(health.successRate))}
      ${figure(text('webhooks-half'), ms(health.p50Ms))}
      ${figure(text('webhooks-most'), ms(health.p95Ms))}
      ${figure(text('webhooks-backlog'), number(health.backlog, 0))}
    </dl>`;
  }

  #latestTable(): TemplateResult {
    if (this.latest.length === 0) return html`<p class="svc-soft">${text('webhooks-none-yet')}</p>`;
    return html`<div class="svc-scroll" tabindex="0" role="group" aria-label=${text('webhooks-latest')}><table class="svc-small">
      <thead><tr><th scope="col">${text('webhooks-time')}</th><th scope="col">${text('webhooks-event')}</th><th scope="col">${text('webhooks-status')}</th><th><span class="shell-sr">${text('open')}</span></th></tr></thead>
      <tbody>${this.latest.map((one) => {
        const open = () => this.tell('delivery-open', one.id);
        return html`<tr @click=${open}><td>${timeAgo(one.time)}</td><td>${one.eventType}</td><td>${statusBadge(one)}</td>
          <td><button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('open-named', { name: one.eventType })} @click=${(
            event: Event,
          ) => {
            event.stopPropagation();
            open();
          }}>${icon('forward')}</button></td></tr>`;
      })}</tbody></table></div>`;
  }

  #body(endpoint: Endpoint): TemplateResult {
    const fact = (name: string, value: TemplateResult | string) =>
      html`<div class="svc-prop"><dt>${name}</dt><dd><span class="svc-value">${value}</span></dd></div>`;
    const replaced = (id: string, until: string | null) =>
      until
        ? html`<div class="svc-bar" data-tone="warn">${icon('key')}<span>${text(id, { until: dateTime(until) })}</span></div>`
        : nothing;
    const cancel = (backfill: Backfill) =>
      void this.#do(() => api.cancelBackfill(endpoint.id, backfill.id), text('webhooks-backfill-cancelled'));
    return html`${this.#notice(endpoint)}${backfillBars(this.backfills, cancel)}
      ${replaced('webhooks-old-secret', endpoint.previousSecretExpiresAt)}
      ${replaced('webhooks-old-keys', endpoint.previousKeyPairExpiresAt)}
      ${this.health ? html`${this.#figures(this.health)}${this.#chart(this.health)}` : nothing}
      <section class="svc-related"><header><h3>${text('webhooks-latest')}</h3>
        <button type="button" class="svc-button" data-look="plain" @click=${() => this.tell('deliveries-by', { subscriptionId: endpoint.id })}>${text('related-all')}</button></header>
        ${this.#latestTable()}</section>
      <dl class="svc-props">
        ${fact(text('webhooks-field-url'), html`<code>${endpoint.url}</code>`)}
        ${endpoint.receiverKeyId ? fact(text('webhooks-field-receiverKeyId'), html`<code>${endpoint.receiverKeyId}</code>`) : nothing}
        ${fact(text('webhooks-field-events'), eventsText(endpoint.events))}
        ${endpoint.filter ? fact(text('webhooks-field-filter'), html`<code>${endpoint.filter}</code>`) : nothing}
        ${Object.entries(endpoint.metadata).map(([name, value]) => fact(name, value))}
        ${endpoint.publicKey ? fact(text('webhooks-public-key'), html`<code>${endpoint.publicKey}</code>${copyButton(endpoint.publicKey)}`) : nothing}
        ${endpoint.headerNames.length > 0 ? fact(text('webhooks-headers'), endpoint.headerNames.join(', ')) : nothing}
        ${endpoint.oauth2 ? fact(text('webhooks-token'), text('webhooks-token-from', { url: endpoint.oauth2.tokenUrl, client: endpoint.oauth2.clientId })) : nothing}
        ${endpoint.clientCertificate ? fact(text('webhooks-certificate'), html`<code>${endpoint.clientCertificate.fingerprint ?? '–'}</code>`) : nothing}
        ${fact(text('webhooks-owner'), endpoint.owner.displayName)}
        ${fact(text('common-createdAt'), timeAgo(endpoint.createdAt))}
      </dl>`;
  }

  #form(editing: EndpointInput): TemplateResult {
    const close = () => {
      if (this.endpointId === undefined) this.tell('pane-close', undefined);
      else this.editing = undefined;
    };
    return html`<form class="svc-pane-form" novalidate @submit=${this.#save}>
      <div class="svc-pane-body">${fields({
        prefix: this.#prefix,
        input: editing,
        problem: this.refused,
        types: this.types,
        isNew: this.endpointId === undefined,
        headerNames: this.endpoint?.headerNames ?? [],
        fingerprint: this.endpoint?.clientCertificate?.fingerprint ?? null,
        change: (part) => {
          this.editing = { ...editing, ...part };
        },
      })}</div>
      <footer class="svc-pane-foot">
        <button type="button" class="svc-button" @click=${close}>${text('cancel')}</button>
        <button type="submit" class="svc-button" data-look="primary">${text(this.endpointId === undefined ? 'webhooks-add-save' : 'save')}</button>
      </footer>
    </form>`;
  }

  override render(): TemplateResult {
    const { endpoint, editing } = this;
    const title =
      this.endpointId === undefined
        ? text('webhooks-add')
        : endpoint
          ? endpoint.description || shortUrl(endpoint.url)
          : text('loading');
    return html`<section class="svc-pane" aria-label=${title}>
      <header class="svc-pane-head">
        <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('close')} title=${text('close')} @click=${() => this.tell('pane-close', undefined)}>${icon('close')}</button>
        <div class="svc-pane-title">${this.endpointId === undefined ? nothing : html`<span class="svc-soft">${text('webhooks-endpoint')}</span>`}<h2 tabindex="-1">${title}</h2></div>
        ${endpoint && !editing ? html`${stateBadge(endpoint)}<div class="svc-pane-actions">${this.#actions(endpoint)}</div>` : nothing}
      </header>
      ${
        editing
          ? this.#form(editing)
          : html`<div class="svc-pane-body">
            ${this.problem && endpoint ? failureBar(this.problem, () => void this.load()) : nothing}
            ${endpoint ? this.#body(endpoint) : this.problem ? failure(this.problem, () => void this.load()) : html`<div class="svc-skeleton" aria-busy="true"></div>`}
          </div>`
      }
    </section>`;
  }
}
define('webhooks-endpoint', WebhooksEndpoint);
