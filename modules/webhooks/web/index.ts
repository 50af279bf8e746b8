/**
 * System → Webhooks: endpoints, the log of deliveries, and what can be told.
 *
 * One state (tab, what narrows the log, what is open) decides what is shown; the window keeps it. Lists are brought up to date
 * while somebody looks, so a delivery appears and changes without a key being pressed.
 */
import {
  confirmIn,
  CursorRows,
  define,
  failure,
  failureBar,
  html,
  icon,
  keepState,
  leadFocus,
  mayLeave,
  menuButton,
  noticesNear,
  nothing,
  Part,
  state,
  tabs,
  text,
  watch,
  type PropertyValues,
  type RenderContext,
  type Row,
  type RowPress,
  type TemplateResult,
} from '@svc/web';
import * as api from './api.ts';
import type { EventType, Limits } from './api.ts';
import { deliveryColumns, endpointColumns } from './columns.ts';
import './delivery.ts';
import './endpoint.ts';
import { foundBy, type Found, type WebhooksFind } from './find.ts';
import type { WebhooksEndpoint } from './endpoint.ts';
import { limitBars } from './limits.ts';
import { shortUrl } from './shown.ts';
import { NARROWING, narrowing, readView, WHOLE, writeView, type Narrowing, type View } from './view.ts';
import './types.ts';

const LOOK_MS = 2_000;
const LIMITS_MS = 15_000;
const PREFIX = 'webhooks';

export class WebhooksApp extends Part {
  static override properties = {
    view: { attribute: false },
    revision: { state: true },
    types: { state: true },
    limits: { state: true },
  };
  declare view: View;
  declare revision: number;
  declare types: readonly EventType[];
  declare limits: Limits | undefined;
  #endpoints = this.#listOf(api.endpointsPath);
  #deliveries: CursorRows | undefined;
  #asked = '';

  constructor() {
    super();
    this.view = readView(undefined);
    this.revision = 0;
    this.types = [];
  }

  #listOf(path: string): CursorRows {
    const rows = new CursorRows(path, () => {
      this.revision += 1;
    });
    return rows;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#endpoints.begin();
    // Suggestions only: without them names are typed.
    void api.eventTypes(false).then(
      (types) => {
        this.types = types;
      },
      () => undefined,
    );
    this.atEnd(
      watch(
        this,
        LOOK_MS,
        () => (this.view.tab === 'deliveries' ? this.#deliveries : this.#endpoints)?.refresh() ?? Promise.resolve(),
      ),
    );
    void this.#lookAtLimits();
    this.atEnd(watch(this, LIMITS_MS, () => this.#lookAtLimits()));
    this.atEnd(() => {
      this.#endpoints.stop();
      this.#deliveries?.stop();
    });
  }

  /** Without them nothing is said. */
  async #lookAtLimits(): Promise<void> {
    this.limits = await api.limits().catch(() => this.limits);
  }

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('view') || this.view.tab !== 'deliveries') return;
    const { view } = this;
    const path = api.deliveriesPath(narrowing((name) => view[name as keyof Narrowing]));
    if (path === this.#asked) return;
    this.#asked = path;
    this.#deliveries?.stop();
    this.#deliveries = this.#listOf(path);
    void this.#deliveries.begin();
  }

  go(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    this.tell('view', writeView(this.view));
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return this.querySelector<WebhooksEndpoint>('webhooks-endpoint')?.isDirty ?? false;
  }

  async follow(intent: unknown): Promise<void> {
    if (await mayLeave(this)) this.view = readView(intent);
    // Whoever stays has the address of where they are again.
    else this.tell('view', writeView(this.view));
  }

  async #show(open: string | undefined, tab = this.view.tab): Promise<void> {
    if (!(await mayLeave(this))) return;
    this.go({ open, tab });
    await this.updateComplete;
    if (open === 'new') return;
    leadFocus(this, this.querySelector<HTMLElement>(open === undefined ? 'svc-table' : '.svc-pane h2'));
  }

  async #tab(tab: string): Promise<void> {
    if (!(await mayLeave(this))) return;
    this.go({ tab: tab as View['tab'], open: undefined });
    // Another list is narrowed by endpoints that may be new.
    await this.#endpoints.refresh();
  }

  async #redeliverAll(): Promise<void> {
    const { subscriptionId, eventType, since, until } = this.view;
    const status = this.view.status || 'failed';
    const sure = await confirmIn(this, {
      title: text('webhooks-redeliver-all-title'),
      body: text('webhooks-redeliver-all-text', { status: text(`webhooks-status-${status}`) }),
      confirm: text('webhooks-redeliver-all'),
    });
    if (!sure) return;
    try {
      await api.redeliverAll({ subscriptionId, eventType, status, since, until });
      noticesNear(this)?.say({ text: text('webhooks-recovering') });
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  #select(
    name: 'subscriptionId' | 'status' | 'eventType',
    choices: readonly (readonly [string, string])[],
  ): TemplateResult {
    const label = text(`webhooks-by-${name}`);
    return html`<select class="svc-input svc-narrow" aria-label=${label} @change=${(event: Event) => this.go({ [name]: (event.target as HTMLSelectElement).value, open: undefined })}>
      <option value="" .selected=${this.view[name] === ''}>${label}</option>
      ${choices.map(([value, shown]) => html`<option value=${value} .selected=${this.view[name] === value}>${shown}</option>`)}
    </select>`;
  }

  /** Whether the list is of what many can't be sent again by: each is sent by itself then. */
  get #isFew(): boolean {
    const { eventId, entityId, statusCode } = this.view;
    return [eventId, entityId, statusCode].some((one) => one !== '');
  }

  #narrowing(): TemplateResult {
    const endpoints = Array.from({ length: this.#endpoints.loaded }, (_none, index) =>
      this.#endpoints.at(index),
    ).flatMap((row) => (row ? [[String(row.id), shortUrl(String(row.url))] as const] : []));
    return html`${this.#select('subscriptionId', endpoints)}
      ${this.#select(
        'eventType',
        this.types.map(({ name }) => [name, name] as const),
      )}
      ${this.#select(
        'status',
        api.STATUSES.map((one) => [one, text(`webhooks-status-${one}`)] as const),
      )}
      <webhooks-find .by=${this.view} .isNarrow=${this.view.open !== undefined} @find=${(event: CustomEvent<Found>) => this.go({ ...event.detail, open: undefined })}></webhooks-find>
      ${this.#isFew ? nothing : menuButton(text('more'), () => [{ label: text('webhooks-redeliver-all'), icon: 'retry', run: () => void this.#redeliverAll() }])}`;
  }

  #head(): TemplateResult {
    return html`<header class="svc-head">
        <h1>${text('webhooks-app')}</h1>
        <span class="svc-grow"></span>
        ${this.view.tab === 'deliveries' ? this.#narrowing() : nothing}
        ${
          this.view.tab === 'endpoints'
            ? html`<button type="button" class="svc-button svc-new" data-look="primary" @click=${() => void this.#show('new')}>${icon('plus')}<span>${text('webhooks-add')}</span></button>`
            : nothing
        }
      </header>
      ${
        this.view.tab === 'deliveries'
          ? foundBy(
              this.view,
              (part) => this.go({ ...part, open: undefined }),
              () => this.querySelector<WebhooksFind>('webhooks-find')?.open(),
            )
          : nothing
      }
      ${tabs(
        [
          { id: 'endpoints', title: text('webhooks-endpoints') },
          { id: 'deliveries', title: text('webhooks-deliveries') },
          { id: 'types', title: text('webhooks-types') },
        ],
        this.view.tab,
        (tab) => void this.#tab(tab),
        PREFIX,
        text('webhooks-app'),
      )}
      ${this.view.tab === 'endpoints' ? limitBars(this.limits) : nothing}`;
  }

  #table(rows: CursorRows, label: string, columns: ReturnType<typeof endpointColumns>): TemplateResult {
    return html`${rows.problem ? failureBar(rows.problem, () => void rows.refresh()) : nothing}<svc-table
      .columns=${columns}
      .rows=${rows}
      .revision=${this.revision}
      .label=${label}
      .opened=${this.view.open}
      .keyOf=${(row: Row) => String(row.id)}
      .titleOf=${(row: Row) => String(row.eventType ?? row.url)}
      @row-open=${(event: CustomEvent<RowPress>) => void this.#show(String(event.detail.row.id))}
    ></svc-table>`;
  }

  #list(): TemplateResult {
    if (this.view.tab === 'types') return html`<div class="svc-page"><webhooks-types></webhooks-types></div>`;
    const isLog = this.view.tab === 'deliveries';
    const rows = isLog ? this.#deliveries : this.#endpoints;
    if (rows?.problem && !rows.isLoaded) return failure(rows.problem, () => void rows.refresh());
    if (!rows?.isLoaded) return html`<div class="svc-skeleton" aria-busy="true"></div>`;
    if (rows.count > 0)
      return this.#table(
        rows,
        text(isLog ? 'webhooks-deliveries' : 'webhooks-endpoints'),
        isLog ? deliveryColumns() : endpointColumns(),
      );
    if (!isLog) {
      return state(
        'empty',
        text('webhooks-no-endpoints'),
        text('webhooks-no-endpoints-text'),
        html`<button type="button" class="svc-button" data-look="primary" @click=${() => void this.#show('new')}>${icon('plus')}<span>${text('webhooks-add')}</span></button>`,
      );
    }
    const isNarrowed = NARROWING.some((name) => this.view[name] !== '');
    return state(
      'search',
      text('webhooks-no-deliveries'),
      text('webhooks-no-deliveries-text'),
      isNarrowed
        ? html`<button type="button" class="svc-button" @click=${() => this.go(WHOLE)}>${text('no-hits-clear')}</button>`
        : nothing,
    );
  }

  #pane(): TemplateResult | typeof nothing {
    const { open, tab } = this.view;
    if (open === undefined || tab === 'types') return nothing;
    if (tab === 'deliveries') return html`<webhooks-delivery .deliveryId=${open}></webhooks-delivery>`;
    return html`<webhooks-endpoint .endpointId=${open === 'new' ? undefined : open} .types=${this.types}></webhooks-endpoint>`;
  }

  #deleted(): void {
    this.go({ open: undefined });
    void this.#endpoints.refresh();
    noticesNear(this)?.say({ text: text('webhooks-deleted') });
  }

  override render(): TemplateResult {
    return html`<div
        class="svc-split"
        ?data-pane=${this.view.open !== undefined && this.view.tab !== 'types'}
        @pane-close=${() => void this.#show(undefined)}
        @endpoint-created=${(event: CustomEvent<string>) => {
          void this.#endpoints.refresh();
          void this.#show(event.detail);
        }}
        @endpoint-changed=${() => void this.#endpoints.refresh()}
        @endpoint-deleted=${() => this.#deleted()}
        @endpoint-open=${(event: CustomEvent<string>) => void this.#show(event.detail, 'endpoints')}
        @delivery-open=${(event: CustomEvent<string>) => {
          void this.#show(event.detail, 'deliveries');
        }}
        @deliveries-by=${(event: CustomEvent<Partial<Narrowing>>) => this.go({ ...WHOLE, ...event.detail, tab: 'deliveries', open: undefined })}
      >
        <section class="svc-list" aria-label=${text('webhooks-app')}>
          ${this.#head()}
          <div class="svc-list-body" role="tabpanel" id="${PREFIX}-panel" aria-labelledby="${PREFIX}-tab-${this.view.tab}">${this.#list()}</div>
        </section>
        ${this.#pane()}
      </div>
      <svc-notices></svc-notices>`;
  }
}
define('webhooks-app', WebhooksApp);

export default function render(context: RenderContext): Node {
  const app = document.createElement('webhooks-app') as WebhooksApp;
  app.view = readView(context.intent);
  keepState(context, app, { follow: (state) => void app.follow(state) });
  context.onClose(() => mayLeave(app));
  return app;
}
