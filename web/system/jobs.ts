/** Background jobs: what runs, what waits, what failed; ended or tried again by hand. */
import {
  badge,
  confirmIn,
  define,
  hear,
  html,
  icon,
  nothing,
  percent,
  send,
  text,
  timeAgo,
  type Column,
  type PropertyValues,
  type RenderContext,
  type Row,
  type TemplateResult,
  type Tone,
} from '@svc/web';
import { column, fact, fill, LogPage, stateColumn, type LogView } from './log.ts';
import { wordsAndName, wordsFor } from './names.ts';

const ROOT = '/api/v1/jobs';
const MANAGE = 'Jobs.Manage';
/** As many as one stream tells of. */
const MOST_HEARD = 16;
/** Steps of a job come in bursts. */
const GATHER_MS = 250;
const STATES = ['waiting', 'running', 'finished', 'dead', 'cancelled'] as const;
const TONES: Record<string, Tone> = { waiting: 'info', running: 'warn', finished: 'good', dead: 'bad' };

interface Job {
  id: string;
  kind: string;
  state: string;
  progress: number | null;
  message: string | null;
  attempts: number;
  maxAttempts: number;
  cancelRequested: boolean;
  createdAt: string;
  runAt: string;
  finishedAt: string | null;
  lastError: string | null;
}

const job = (row: Row) => row as unknown as Job;

function stateBadge({ state, cancelRequested }: Job): TemplateResult {
  return badge(
    text(cancelRequested && state === 'running' ? 'jobs-ending' : `jobs-state-${state}`),
    TONES[state] ?? 'none',
  );
}

function progress({ progress: done, state }: Job): TemplateResult | string {
  if (done === null) return state === 'finished' ? percent(1) : '–';
  return html`<progress max="100" .value=${done} aria-label=${text('jobs-progress')}></progress> ${percent(done / 100)}`;
}

class JobsPage extends LogPage {
  /** The jobs that one hears of, each with its undo. */
  readonly #heard = new Map<string, () => void>();
  #coming: ReturnType<typeof setTimeout> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.atEnd(() => {
      clearTimeout(this.#coming);
      this.#coming = undefined;
      this.#listen(new Set());
    });
  }

  override updated(changes: PropertyValues): void {
    super.updated(changes);
    this.#listen(new Set(this.isConnected ? this.#atWork() : []));
  }

  /** Those that are not over, as far as they are read: the newest, which stand first. */
  #atWork(): string[] {
    const found: string[] = [];
    for (let index = 0; index < (this.rows?.loaded ?? 0) && found.length < MOST_HEARD; index += 1) {
      const row = this.rows?.at(index);
      if (row && ['waiting', 'running'].includes(job(row).state)) found.push(job(row).id);
    }
    return found;
  }

  /** Hears of these jobs and no others: how far each is shows at once, not with the next look. */
  #listen(wanted: ReadonlySet<string>): void {
    for (const [id, stop] of this.#heard) {
      if (wanted.has(id)) continue;
      stop();
      this.#heard.delete(id);
    }
    const soon = () => {
      this.#coming ??= setTimeout(() => {
        this.#coming = undefined;
        void this.refresh();
      }, GATHER_MS);
    };
    for (const id of wanted) {
      if (!this.#heard.has(id)) this.#heard.set(id, hear(`job:${id}`, { heard: soon, missed: soon }));
    }
  }

  protected path({ by }: LogView): string {
    return `${ROOT}?${new URLSearchParams(by)}`;
  }

  protected heading(): string {
    return text('jobs-app');
  }

  protected nameOf(row: Row): string {
    return wordsFor('job', job(row).kind);
  }

  protected override tools(): TemplateResult {
    return this.narrow(
      'state',
      text('jobs-by-state'),
      STATES.map((one) => [one, text(`jobs-state-${one}`)] as const),
    );
  }

  protected none(): { title: string; text: string } {
    return { title: text('jobs-none'), text: text('jobs-none-text') };
  }

  protected columns(): Column[] {
    return [
      column(
        text('jobs-kind'),
        200,
        1.6,
        (row) => wordsAndName('job', job(row).kind),
        (row) => job(row).kind,
      ),
      stateColumn(
        text('jobs-state'),
        130,
        0.9,
        (row) => stateBadge(job(row)),
        (row) => job(row).state,
      ),
      column(
        text('jobs-progress'),
        150,
        1,
        (row) => progress(job(row)),
        (row) => String(job(row).progress ?? ''),
      ),
      column(
        text('jobs-created'),
        130,
        0.9,
        (row) => timeAgo(job(row).createdAt),
        (row) => job(row).createdAt,
      ),
      column(
        text('jobs-attempts'),
        92,
        0.6,
        (row) => text('jobs-of', { made: job(row).attempts, most: job(row).maxAttempts }),
        (row) => String(job(row).attempts),
        true,
      ),
    ];
  }

  protected actions(row: Row): TemplateResult | typeof nothing {
    const one = job(row);
    if (!this.can(MANAGE)) return nothing;
    const button = (label: string, sign: 'ban' | 'retry' | 'trash', run: () => void) =>
      html`<button type="button" class="svc-button" @click=${run}>${icon(sign)}<span>${label}</span></button>`;
    const path = `${ROOT}/${one.id}`;
    const act = (verb: string, said: string) => () =>
      void this.act(() => send(`${path}/${verb}`, { method: 'POST' }), said);
    return html`${one.state === 'waiting' || one.state === 'running' ? button(text('jobs-cancel'), 'ban', act('cancel', text('jobs-cancelled'))) : nothing}
      ${
        one.state === 'dead' || one.state === 'cancelled'
          ? html`${button(text('try-again'), 'retry', act('retry', text('jobs-retried')))}${button(text('delete'), 'trash', () => void this.#delete(one, path))}`
          : nothing
      }`;
  }

  async #delete(one: Job, path: string): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('jobs-delete-title', { kind: wordsFor('job', one.kind) }),
      body: text('jobs-delete-text'),
      confirm: text('delete'),
      danger: true,
    });
    if (sure) await this.act(() => send(path, { method: 'DELETE' }), text('jobs-deleted'));
  }

  protected body(row: Row): TemplateResult {
    const one = job(row);
    return html`${one.lastError ? html`<div class="svc-bar" data-tone="danger">${icon('alert')}<span>${one.lastError}</span></div>` : nothing}
      <dl class="svc-props">
        ${fact(text('jobs-state'), stateBadge(one))}
        ${fact(text('jobs-progress'), progress(one))}
        ${one.message ? fact(text('jobs-message'), one.message) : nothing}
        ${fact(text('jobs-attempts'), text('jobs-of', { made: one.attempts, most: one.maxAttempts }))}
        ${fact(text('jobs-created'), timeAgo(one.createdAt))}
        ${one.finishedAt ? fact(text('jobs-finished'), timeAgo(one.finishedAt)) : fact(text('jobs-runs'), timeAgo(one.runAt))}
        ${fact(text('jobs-kind'), html`<code>${one.kind}</code>`)}
        ${fact(text('jobs-id'), html`<code>${one.id}</code>`)}
      </dl>`;
  }
}
define('system-jobs', JobsPage);

export default (context: RenderContext) => fill(context, 'system-jobs');
