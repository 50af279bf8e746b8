/** How the application does, at a glance: what it checks, what works beside requests, and the figures that somebody should know. */
import {
  asProblem,
  badge,
  define,
  failure,
  failureBar,
  find,
  html,
  number,
  nothing,
  openApp,
  Part,
  probe,
  readMetrics,
  relativeSeconds,
  sumOf,
  text,
  watch,
  type Problem,
  type RenderContext,
  type Sample,
  type TemplateResult,
} from '@svc/web';

const LOOK_MS = 5_000;

interface Check {
  name: string;
  status: string;
}

interface Worker {
  name: string;
  status: 'running' | 'failing' | 'ended';
  failures: number;
}

interface Health {
  readonly checks: readonly Check[];
  readonly workers: readonly Worker[];
  /** Nothing where they are closed to browsers. */
  readonly samples: readonly Sample[] | undefined;
}

async function look(): Promise<Health> {
  const [ready, workers, metrics] = await Promise.all([
    probe<{ checks?: Check[] }>('/health/ready'),
    probe<{ workers?: Worker[] }>('/health/workers'),
    probe<string>('/metrics'),
  ]);
  return {
    checks: ready.body?.checks ?? [],
    workers: workers.body?.workers ?? [],
    samples: metrics.status === 200 && typeof metrics.body === 'string' ? readMetrics(metrics.body) : undefined,
  };
}

/** What a check or a worker is called; one of an application's own as the server names it. */
function nameOf(kind: 'check' | 'work', name: string): string {
  return find(`health-${kind}-${name.replaceAll(' ', '-')}`) ?? name;
}

class HealthPage extends Part {
  static override properties = { health: { state: true }, problem: { state: true } };
  declare health: Health | undefined;
  declare problem: Problem | undefined;
  can: (permission: string) => boolean = () => false;

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#look();
    this.atEnd(watch(this, LOOK_MS, () => this.#look()));
  }

  async #look(): Promise<void> {
    try {
      this.health = await look();
      this.problem = undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #verdict({ checks, workers }: Health): TemplateResult {
    const bad = [
      ...checks.flatMap(({ name, status }) => (status === 'ok' ? [] : nameOf('check', name))),
      ...workers.flatMap(({ name, status }) => (status === 'failing' ? nameOf('work', name) : [])),
    ];
    return bad.length === 0
      ? html`<p class="svc-verdict" role="status">${badge(text('health-well'), 'good')}</p>`
      : html`<p class="svc-verdict" role="status">${badge(text('health-ill', { names: bad.join(', ') }), 'bad')}</p>`;
  }

  #figure(name: string, value: number | undefined, unit = '', open?: () => void): TemplateResult | typeof nothing {
    if (value === undefined) return nothing;
    const shown = `${number(value, 0)}${unit}`;
    return html`<div><dt>${name}</dt><dd>${open ? html`<button type="button" class="svc-figure" @click=${open}>${shown}</button>` : shown}</dd></div>`;
  }

  #figures(samples: readonly Sample[]): TemplateResult {
    const app = (id: string, permission: string, intent?: unknown) =>
      this.can(permission) ? () => void openApp(id, intent) : undefined;
    const requests = sumOf(samples, 'svc_http_request_duration_seconds_count');
    const seconds = sumOf(samples, 'svc_http_request_duration_seconds_sum');
    const failed = sumOf(samples, 'svc_http_requests_total', ({ status }) => status?.startsWith('5') ?? false);
    const due = sumOf(samples, 'svc_webhooks_oldest_due_seconds');
    return html`<dl class="svc-figures">
      ${this.#figure(text('health-dead-letters'), sumOf(samples, 'svc_outbox_dead') ?? 0, '', app('system.letters', 'Outbox.Manage'))}
      ${this.#figure(text('health-dead-jobs'), sumOf(samples, 'svc_jobs', ({ state }) => state === 'dead') ?? 0, '', app('system.jobs', 'Jobs.View', { by: { state: 'dead' } }))}
      ${this.#figure(text('health-waiting'), sumOf(samples, 'svc_outbox_ready') ?? 0)}
      ${due === undefined ? nothing : html`<div><dt>${text('health-oldest')}</dt><dd>${relativeSeconds(due)}</dd></div>`}
      ${this.#figure(text('health-requests'), requests)}
      ${this.#figure(text('health-failed'), failed ?? 0)}
      ${requests && seconds !== undefined ? this.#figure(text('health-time'), (1000 * seconds) / requests, ' ms') : nothing}
    </dl>`;
  }

  #workers(workers: readonly Worker[]): TemplateResult {
    const TONES = { running: 'good', failing: 'bad', ended: 'none' } as const;
    return html`<section><h2>${text('health-workers')}</h2><table class="svc-small">
      <thead><tr><th scope="col">${text('health-worker')}</th><th scope="col">${text('health-state')}</th><th scope="col" data-numeric>${text('health-failures')}</th></tr></thead>
      <tbody>${workers.map(({ name, status, failures }) => html`<tr><th scope="row">${nameOf('work', name)}</th><td>${badge(text(`health-worker-${status}`), TONES[status])}</td><td data-numeric>${number(failures, 0)}</td></tr>`)}</tbody>
    </table></section>`;
  }

  #checks(checks: readonly Check[]): TemplateResult {
    return html`<section><h2>${text('health-checks')}</h2><table class="svc-small">
      <thead><tr><th scope="col">${text('health-check')}</th><th scope="col">${text('health-state')}</th></tr></thead>
      <tbody>${checks.map(({ name, status }) => html`<tr><th scope="row">${nameOf('check', name)}</th><td>${status === 'ok' ? badge(text('health-ok'), 'good') : badge(text('health-not-ok'), 'bad')}</td></tr>`)}</tbody>
    </table></section>`;
  }

  #body(health: Health): TemplateResult {
    return html`${this.#verdict(health)}
      ${health.samples ? this.#figures(health.samples) : html`<p class="svc-soft">${text('health-no-figures')}</p>`}
      <div class="svc-side-by-side">${this.#checks(health.checks)}${this.#workers(health.workers)}</div>`;
  }

  override render(): TemplateResult {
    const { health, problem } = this;
    const again = () => void this.#look();
    return html`<header class="svc-head"><h1>${text('health-app')}</h1></header>
      <div class="svc-page">
        ${problem ? (health ? failureBar(problem, again) : failure(problem, again)) : nothing}
        ${health ? this.#body(health) : problem ? nothing : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>`;
  }
}
define('system-health', HealthPage);

export default (context: RenderContext) => {
  const page = document.createElement('system-health') as HealthPage;
  page.can = (permission) => context.can(permission);
  return page;
};
