/** What belongs to a record: the first few of a related set, and the way to all of them. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import { hear } from '../client/live.ts';
import { few, type Page } from '../client/sets.ts';
import { isLive } from '../client/start.ts';
import { usualColumns } from '../core/list-state.ts';
import { propertyOf, type EntitySet, type Navigation, type Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import { recordPath, shownOptions } from '../core/query.ts';
import { icon } from '../parts/icons.ts';
import { define, freshId, Part } from '../parts/part.ts';
import { failureBar } from '../parts/states.ts';
import { cell, isNumeric, titleOf } from '../parts/value.ts';
import { memberName, number, text } from '../text.ts';
import { appIdOf, type SetHost } from './context.ts';

/** Changes come in bursts. */
const FOLLOW_MS = 500;
const SHOWN = 6;
const COLUMNS = 4;

export class SvcRelated extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    key: { attribute: false },
    navigation: { attribute: false },
    version: { attribute: false },
    page: { state: true },
    problem: { state: true },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare key: string;
  declare navigation: Navigation;
  /** Another version of the record: what belongs to it may be others. */
  declare version: unknown;
  declare page: Page | undefined;
  declare problem: Problem | undefined;
  #loading: AbortController | undefined;
  #following: ReturnType<typeof setTimeout> | undefined;
  readonly #id = freshId('related');

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('key') || changes.has('navigation') || changes.has('version')) void this.#load();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const { target } = this.navigation;
    if (!isLive(target)) return;
    const follow = () => {
      this.#following ??= setTimeout(() => {
        this.#following = undefined;
        void this.#load();
      }, FOLLOW_MS);
    };
    this.atEnd(hear(`set:${target}`, { heard: follow, missed: follow }));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading?.abort();
    clearTimeout(this.#following);
  }

  get #target(): EntitySet | undefined {
    return this.host.model.get(this.navigation.target);
  }

  /** What is worth seeing of each: not what leads back here. */
  #columns(target: EntitySet): Property[] {
    const back = target.navigations.find(({ name }) => name === this.navigation.partner)?.foreignKey;
    return usualColumns(target)
      .filter((name) => name !== back)
      .flatMap((name) => propertyOf(target, name) ?? [])
      .filter(({ name, kind }) => kind !== 'id' || name !== target.key)
      .slice(0, COLUMNS);
  }

  async #load(): Promise<void> {
    const target = this.#target;
    if (!target) return;
    this.#loading?.abort();
    this.#loading = new AbortController();
    this.problem = undefined;
    try {
      const columns = this.#columns(target);
      const options = { ...shownOptions(this.host.model, target, columns), $count: 'true' };
      const path = `${recordPath(this.set, this.key)}/${this.navigation.name}`;
      this.page = await few(path, options, SHOWN, this.#loading.signal);
    } catch (error) {
      if (!isAborted(error)) this.problem = asProblem(error);
    }
  }

  /** All of them, in the app of their set. */
  #all(target: EntitySet): void {
    const back = target.navigations.find(({ name }) => name === this.navigation.partner)?.foreignKey;
    this.host.open(appIdOf(target.name), back ? { f: [[back, 'is', this.key]] } : undefined);
  }

  #table(target: EntitySet, rows: readonly Row[]): TemplateResult {
    const columns = this.#columns(target);
    return html`<div class="svc-scroll" tabindex="0" role="group" aria-labelledby=${this.#id}>
      <table class="svc-small">
        <thead>
          <tr>${columns.map((one) => html`<th scope="col" ?data-numeric=${isNumeric(one)}>${memberName(target.name, one.name)}</th>`)}<th><span class="shell-sr">${text('open')}</span></th></tr>
        </thead>
        <tbody>
          ${rows.map((row) => {
            const open = () => this.host.open(appIdOf(target.name), { r: String(row[target.key]) });
            return html`<tr @click=${open}>
              ${columns.map((one) => html`<td ?data-numeric=${isNumeric(one)}>${cell(this.host.model, target, one, row)}</td>`)}
              <td><button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('open-named', { name: titleOf(this.host.model, target, row) })} @click=${(
                event: Event,
              ) => {
                event.stopPropagation();
                open();
              }}>${icon('forward')}</button></td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>`;
  }

  override render(): TemplateResult | typeof nothing {
    const target = this.#target;
    if (!target) return nothing;
    const { page, problem } = this;
    const total = page?.total ?? 0;
    return html`<section class="svc-related">
      <header>
        <h3 id=${this.#id}>${memberName(this.set.name, this.navigation.name)}</h3>
        ${page ? html`<span class="svc-soft">${number(total, 0)}</span>` : nothing}
        ${total > SHOWN ? html`<button type="button" class="svc-button" data-look="plain" @click=${() => this.#all(target)}>${text('related-all')}</button>` : nothing}
      </header>
      ${problem ? failureBar(problem, () => void this.#load()) : nothing}
      ${page ? (page.rows.length > 0 ? this.#table(target, page.rows) : html`<p class="svc-soft">${text('related-none')}</p>`) : nothing}
    </section>`;
  }
}
define('svc-related', SvcRelated);
