/**
 * Where a record stands in its workflow: its state, the ways on as buttons, why the others are closed, who has approved so far, and
 * what happened before.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import {
  standingOf,
  takeOn,
  type Approval,
  type Choice,
  type Moved,
  type Standing,
  type State,
  type Step,
} from '../client/workflow.ts';
import type { EntitySet } from '../core/model.ts';
import { Problem } from '../core/problem.ts';
import { askIn } from '../parts/dialog.ts';
import { icon } from '../parts/icons.ts';
import { define, freshId, Part } from '../parts/part.ts';
import { capitalised, failureBar } from '../parts/states.ts';
import { badge, timeAgo } from '../parts/value.ts';
import { find, text } from '../text.ts';
import { noticesNear } from './notices.ts';

/** The tones of badges by the colours of states. */
const TONES = { grey: 'none', blue: 'info', green: 'good', yellow: 'warn', red: 'bad' } as const;

/** The longest comment, in characters, as the server has it. */
const MOST_COMMENT = 2000;

/** A state as it is shown everywhere. */
export function stateBadge({ title, colour }: State): TemplateResult {
  return badge(title, TONES[colour]);
}

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
  #loading: AbortController | undefined;

  constructor() {
    super();
    this.isBusy = false;
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('key') || changes.has('set')) this.standing = undefined;
    if (changes.has('key') || changes.has('set') || changes.has('version')) void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading?.abort();
  }

  async #load(): Promise<void> {
    this.#loading?.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    this.problem = undefined;
    try {
      this.standing = await standingOf(this.set.name, this.key, signal);
    } catch (error) {
      if (!isAborted(error)) this.problem = asProblem(error);
    }
  }

  /** Takes the record on; a comment is asked for where one is needed. */
  async #take(choice: Choice): Promise<void> {
    const version = this.standing?.version;
    if (version === undefined || this.isBusy) return;
    this.isBusy = true;
    try {
      const moved = choice.needsComment
        ? await this.#withComment(choice, version)
        : await this.#move(choice, { version });
      if (!moved) return;
      if (moved instanceof Problem) throw moved;
      const { approvalsMissing: missing, state } = moved;
      const done =
        missing > 0 ? text('workflow-approved', { count: missing }) : text('workflow-moved', { state: state.title });
      noticesNear(this)?.say({ text: done });
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
      this.querySelector<HTMLElement>('h3')?.focus();
    }
  }

  #move(choice: Choice, request: { version: string; comment?: string }): Promise<Moved> {
    return takeOn(this.set.name, this.key, choice.name, request);
  }

  /** Asks for a comment first; nothing when the person left. */
  #withComment(choice: Choice, version: string): Promise<Moved | Problem | undefined> {
    const id = freshId('comment');
    return askIn<Moved | Problem>(this, {
      title: choice.title,
      body: html`<div class="svc-form"><div class="svc-field">
        <label for=${id}>${text('workflow-comment')}</label>
        <textarea id=${id} name="comment" class="svc-input" rows="3" maxlength=${MOST_COMMENT} required></textarea>
      </div></div>`,
      confirm: choice.title,
      answer: async (dialog) => {
        const input = dialog.querySelector('textarea');
        const comment = input?.value.trim() ?? '';
        if (comment === '') {
          input?.focus();
          return undefined;
        }
        return this.#move(choice, { version, comment }).catch(asProblem);
      },
    });
  }

  #approvals(approvals: readonly Approval[]): TemplateResult {
    return html`<ul class="svc-approvals">${approvals.map(
      ({ by, comment, time }) =>
        html`<li>${icon('check')}<span>${by.displayName} ${timeAgo(time)}${comment === null ? nothing : html`<q>${comment}</q>`}</span></li>`,
    )}</ul>`;
  }

  #open(choice: Choice): TemplateResult {
    return html`<button type="button" class="svc-button" ?disabled=${this.isBusy} @click=${() => void this.#take(choice)}>${choice.title}</button>`;
  }

  #closed({ title, obstacle }: Choice): TemplateResult {
    const why = find(`refused-${obstacle?.code.replaceAll(/[._]/g, '-')}`) ?? capitalised(obstacle?.detail ?? '');
    return html`<li><span class="svc-soft">${icon('lock')}</span><span><b>${title}</b> <span class="svc-soft">${why}</span></span></li>`;
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
        <div class="svc-workflow-ways">${open.map((choice) => this.#open(choice))}</div>
      </header>
      ${told}
      ${awaited.map(
        (choice) =>
          html`<div><p>${text('workflow-awaits', { title: choice.title, have: choice.approvals.length, need: choice.approvalsNeeded })}</p>${this.#approvals(choice.approvals)}</div>`,
      )}
      ${closed.length > 0 ? html`<ul class="svc-workflow-closed">${closed.map((choice) => this.#closed(choice))}</ul>` : nothing}
      ${
        standing.past.length > 0
          ? html`<details><summary>${text('workflow-past', { count: standing.past.length })}</summary><ol class="svc-workflow-past">${standing.past.map((step) => this.#step(step))}</ol></details>`
          : nothing
      }
    </section>`;
  }
}
define('svc-workflow', SvcWorkflow);
