/**
 * Where a record stands in its workflow: its state, the ways on as buttons, why the others are closed, who has approved so far, and
 * what happened before.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import { hear } from '../client/live.ts';
import {
  MOVED_TOPIC,
  standingOf,
  takeOn,
  type Approval,
  type Choice,
  type Moved,
  type Standing,
  type Step,
} from '../client/workflow.ts';
import type { EntitySet } from '../core/model.ts';
import { Problem } from '../core/problem.ts';
import { icon } from '../parts/icons.ts';
import { define, leadFocus, Part } from '../parts/part.ts';
import { failureBar } from '../parts/states.ts';
import { dueTime, stateBadge, timeAgo } from '../parts/value.ts';
import { dateTime, text } from '../text.ts';
import { noticesNear } from './notices.ts';
import { whatCame, whyNot, withComment } from './transition.ts';

/** Records of a set may move in bursts; this one is looked at no more often than this. */
const FOLLOW_MS = 2_000;

export class SvcWorkflow extends Part {
  static override properties = {
    set: { attribute: false },
    key: { attribute: false },
    version: { attribute: false },
    standing: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };
  declare set: EntitySet;
  declare key: string;
  /** Another one: the record was changed. */
  declare version: unknown;
  declare standing: Standing | undefined;
  declare problem: Problem | undefined;
  declare isBusy: boolean;
  #following: ReturnType<typeof setTimeout> | undefined;
  #loading: AbortController | undefined;

  constructor() {
    super();
    this.isBusy = false;
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('key') || changes.has('set')) this.standing = undefined;
    if (changes.has('key') || changes.has('set') || changes.has('version')) void this.#load();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // A step that sets nothing is no change of the record; nobody hears of it otherwise.
    const soon = () => {
      this.#following ??= setTimeout(() => this.#follow(), FOLLOW_MS);
    };
    this.atEnd(hear(`${MOVED_TOPIC}:${this.set.name}`, { heard: soon, missed: soon }));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#following);
    this.#following = undefined;
    this.#loading?.abort();
  }

  #follow(): void {
    this.#following = undefined;
    // Whoever is about to take it on is told by what comes of that.
    if (!this.isBusy) void this.#load(true);
  }

  /** Where it stands now. `isQuiet` leaves what was said before, as it does what can't be read just now. */
  async #load(isQuiet = false): Promise<void> {
    this.#loading?.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    if (!isQuiet) this.problem = undefined;
    try {
      this.standing = await standingOf(this.set.name, this.key, signal);
    } catch (error) {
      if (!isQuiet && !isAborted(error)) this.problem = asProblem(error);
    }
  }

  /** Takes the record on; a comment is asked for where one is needed. */
  async #take(choice: Choice): Promise<void> {
    const version = this.standing?.version;
    if (version === undefined || this.isBusy) return;
    this.isBusy = true;
    try {
      const moved = choice.needsComment
        ? await withComment(this, choice, (comment) => this.#move(choice, { version, comment }))
        : await this.#move(choice, { version });
      if (!moved) return;
      if (moved instanceof Problem) throw moved;
      noticesNear(this)?.say({ text: whatCame(moved) });
      await this.#load();
      this.tell('record-moved', undefined);
    } catch (error) {
      const problem = asProblem(error);
      // Somebody was first: what is possible now is shown beside the reason.
      if (problem.status === 409) await this.#load();
      this.problem = problem;
    } finally {
      this.isBusy = false;
      await this.updateComplete;
      leadFocus(this, this.querySelector('h3'));
    }
  }

  #move(choice: Choice, request: { version: string; comment?: string }): Promise<Moved> {
    return takeOn(this.set.name, this.key, choice.name, request);
  }

  #approvals(approvals: readonly Approval[]): TemplateResult {
    return html`<ul class="svc-approvals">${approvals.map(
      ({ by, comment, time }) =>
        html`<li>${icon('check')}<span>${by.displayName} ${timeAgo(time)}${comment === null ? nothing : html`<q>${comment}</q>`}</span></li>`,
    )}</ul>`;
  }

  #open(choice: Choice): TemplateResult {
    return html`<button type="button" class="svc-button" aria-disabled=${this.isBusy} @click=${() => void this.#take(choice)}>${choice.title}</button>`;
  }

  #closed({ title, obstacle }: Choice): TemplateResult {
    return html`<li><span class="svc-soft">${icon('lock')}</span><span><b>${title}</b> <span class="svc-soft">${obstacle ? whyNot(obstacle) : nothing}</span></span></li>`;
  }

  /** By when it is to leave its state. */
  #due(due: string, isEscalated: boolean): TemplateResult {
    return html`<span class="svc-soft">${dueTime(due, html`${text('due')} `)}${isEscalated ? html` ${text('workflow-escalated')}` : nothing}</span>`;
  }

  /** What happens by itself, or why it doesn't. */
  #automatic({ title, time, obstacle }: NonNullable<Standing['automatic']>): TemplateResult {
    const when = { title, time: dateTime(time) };
    if (obstacle === null) return html`<p class="svc-soft">${text('workflow-automatic', when)}</p>`;
    return html`<p class="svc-soft">${text('workflow-automatic-not', { ...when, why: whyNot(obstacle) })}</p>`;
  }

  #step(step: Step): TemplateResult {
    return html`<li>
      <span>${stateBadge(step.from)} ${icon('forward')} ${stateBadge(step.to)}</span>
      <span class="svc-soft">${step.by.displayName} ${timeAgo(step.time)}</span>
      ${step.comment === null ? nothing : html`<q>${step.comment}</q>`}
      ${step.approvals.length > 0 ? this.#approvals(step.approvals) : nothing}
    </li>`;
  }

  override render(): TemplateResult {
    const { standing, problem } = this;
    const told = problem ? failureBar(problem, () => void this.#load()) : nothing;
    if (!standing) return html`${told}`;
    const open = standing.choices.filter(({ obstacle }) => obstacle === null);
    const closed = standing.choices.filter(({ obstacle }) => obstacle !== null);
    const awaited = standing.choices.filter(({ approvals }) => approvals.length > 0);
    return html`<section class="svc-workflow" aria-label=${text('workflow')}>
      <header>
        <h3 tabindex="-1"><span class="shell-sr">${text('workflow-state')}: </span>${stateBadge(standing.state)}</h3>
        ${standing.since === null ? nothing : html`<span class="svc-soft">${timeAgo(standing.since)}</span>`}
        ${standing.due === null ? nothing : this.#due(standing.due, standing.isEscalated)}
        <div class="svc-workflow-ways">${open.map((choice) => this.#open(choice))}</div>
      </header>
      ${told}
      ${awaited.map(
        (choice) =>
          html`<div><p>${text('workflow-awaits', { title: choice.title, have: choice.approvals.length, need: choice.approvalsNeeded })}</p>${this.#approvals(choice.approvals)}</div>`,
      )}
      ${closed.length > 0 ? html`<ul class="svc-workflow-closed">${closed.map((choice) => this.#closed(choice))}</ul>` : nothing}
      ${standing.automatic === null ? nothing : this.#automatic(standing.automatic)}
      ${
        standing.past.length > 0
          ? html`<details><summary>${text('workflow-past', { count: standing.past.length })}</summary><ol class="svc-workflow-past">${standing.past.map((step) => this.#step(step))}</ol></details>`
          : nothing
      }
    </section>`;
  }
}
define('svc-workflow', SvcWorkflow);
