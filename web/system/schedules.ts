/** What runs by the clock: when it came last, and when it comes next. */
import {
  asProblem,
  define,
  failure,
  failureBar,
  html,
  openApp,
  Part,
  send,
  state,
  text,
  timeAgo,
  watch,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import { wordsAndName } from './names.ts';

const LOOK_MS = 5_000;

interface Schedule {
  name: string;
  cron: string;
  timeZone: string;
  nextRunAt: string;
  lastRunAt: string | null;
}

class SchedulesPage extends Part {
  static override properties = { schedules: { state: true }, problem: { state: true } };
  declare schedules: readonly Schedule[] | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#look();
    this.atEnd(watch(this, LOOK_MS, () => this.#look()));
  }

  async #look(): Promise<void> {
    try {
      this.schedules = (await send<{ schedules: Schedule[] }>('/api/v1/jobs/schedules')).body.schedules;
      this.problem = undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #row({ name, cron, timeZone, nextRunAt, lastRunAt }: Schedule): TemplateResult {
    return html`<tr>
      <th scope="row">${wordsAndName('schedule', name)}</th>
      <td>${timeAgo(nextRunAt)}</td>
      <td>${lastRunAt === null ? text('schedules-never') : timeAgo(lastRunAt)}</td>
      <td><code>${cron}</code> <span class="svc-soft">${timeZone}</span></td>
    </tr>`;
  }

  #body(schedules: readonly Schedule[]): TemplateResult {
    if (schedules.length === 0) return state('empty', text('schedules-none'), text('schedules-none-text'));
    return html`<p class="svc-soft">${text('schedules-text')}
        <button type="button" class="svc-button" data-look="plain" @click=${() => void openApp('system.jobs')}>${text('jobs-app')}</button></p>
      <div class="svc-scroll" tabindex="0" role="group" aria-label=${text('schedules-app')}><table class="svc-small svc-schedules">
        <thead><tr>
          <th scope="col">${text('schedules-name')}</th><th scope="col">${text('schedules-next')}</th>
          <th scope="col">${text('schedules-last')}</th><th scope="col">${text('schedules-pattern')}</th>
        </tr></thead>
        <tbody>${schedules.map((one) => this.#row(one))}</tbody>
      </table></div>`;
  }

  override render(): TemplateResult {
    const { schedules, problem } = this;
    const again = () => void this.#look();
    return html`<header class="svc-head"><h1>${text('schedules-app')}</h1></header>
      <div class="svc-page">
        ${problem ? (schedules ? failureBar(problem, again) : failure(problem, again)) : ''}
        ${schedules ? this.#body(schedules) : problem ? '' : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>`;
  }
}
define('system-schedules', SchedulesPage);

export default (_context: RenderContext) => document.createElement('system-schedules');
