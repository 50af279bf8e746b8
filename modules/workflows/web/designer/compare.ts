/**
 * Two versions of a workflow side by side, or one and what is being drawn: a picture of each, in which what differs stands out, and all
 * differences in words.
 */
import {
  asProblem,
  define,
  failureBar,
  html,
  nothing,
  Part,
  type Problem,
  type PropertyValues,
  text,
  type TemplateResult,
} from '@svc/web';
import * as api from './api.ts';
import type { Change, Design } from './api.ts';
import { changeList } from './changes.ts';
import type { Definition } from './definition.ts';
import { markOf, type Marks } from './graph.ts';

/** What is being drawn, beside the numbers of versions. */
const DRAWN = 'drawn';

type Side = 'left' | 'right';

interface Sides {
  readonly before: Definition;
  readonly after: Definition;
  readonly changes: readonly Change[];
}

export class WorkflowsCompare extends Part {
  static override properties = {
    design: { attribute: false },
    drawn: { attribute: false },
    left: { state: true },
    right: { state: true },
    sides: { state: true },
    problem: { state: true },
  };
  declare design: Design;
  /** What is being drawn, where it isn't the version in force. */
  declare drawn: Definition | undefined;
  /** Versions, or what is drawn, by the value of their choice. */
  declare left: string;
  declare right: string;
  declare sides: Sides | undefined;
  declare problem: Problem | undefined;
  #asked = 0;

  constructor() {
    super();
    this.left = '';
    this.right = '';
  }

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('design') && !changes.has('drawn')) return;
    const { version, versions } = this.design;
    const other = versions.find((one) => one.version !== version)?.version;
    this.left = String(this.drawn ? version : (other ?? version));
    this.right = this.drawn ? DRAWN : String(version);
    void this.#read();
  }

  #definition(value: string): Promise<Definition> {
    const { entityType, version, definition } = this.design;
    if (value === DRAWN && this.drawn) return Promise.resolve(this.drawn);
    return value === String(version) ? Promise.resolve(definition) : api.readVersion(entityType, Number(value));
  }

  async #read(): Promise<void> {
    this.#asked += 1;
    const mine = this.#asked;
    this.problem = undefined;
    try {
      const [before, after] = await Promise.all([this.#definition(this.left), this.#definition(this.right)]);
      const changes = await this.#changes(before, after);
      if (mine === this.#asked) this.sides = { before, after, changes };
    } catch (error) {
      if (mine === this.#asked) this.problem = asProblem(error);
    }
  }

  /** The server compares something with a version; the other way round where what is drawn stands before one. */
  async #changes(before: Definition, after: Definition): Promise<readonly Change[]> {
    const { entityType } = this.design;
    if (this.left !== DRAWN) return (await api.check(entityType, after, Number(this.left))).changes;
    if (this.right === DRAWN) return [];
    const { changes } = await api.check(entityType, before, Number(this.right));
    return changes.map((change) => (change.kind === 'changed' ? change : { ...change, kind: turned(change.kind) }));
  }

  #choice(side: Side): TemplateResult {
    const name = text(`designer-compare-${side}`);
    const choose = (event: Event) => {
      this[side] = (event.target as HTMLSelectElement).value;
      void this.#read();
    };
    const option = (value: string, title: string) =>
      html`<option value=${value} .selected=${this[side] === value}>${title}</option>`;
    return html`<select class="svc-input svc-narrow" aria-label=${name} @change=${choose}>
      ${this.design.versions.map(({ version }) => option(String(version), text('designer-version', { version })))}
      ${this.drawn ? option(DRAWN, text('designer-compare-drawn')) : nothing}
    </select>`;
  }

  #picture(side: Side, definition: Definition, marks: Marks): TemplateResult {
    return html`<section .style=${'flex:1 1 300px;min-width:0'} aria-label=${text(`designer-compare-${side}`)}>
      ${this.#choice(side)}
      <workflows-graph .set=${this.design.entityType} .definition=${definition} .marks=${marks} .label=${text(`designer-compare-${side}`)}></workflows-graph>
    </section>`;
  }

  override render(): TemplateResult {
    const { sides, problem } = this;
    const marks = (kind: Change['kind']): Marks =>
      new Map(
        sides?.changes
          .filter((change) => change.kind === kind || change.kind === 'changed')
          .map((change) => [markOf(change.isState ? 'state' : 'transition', change.name), change.kind]),
      );
    return html`<h2>${text('designer-compare')}</h2>
      ${problem ? failureBar(problem, () => void this.#read()) : nothing}
      ${
        sides
          ? html`<div role="status">${changeList(this.design.entityType, [sides.after, sides.before], sides.changes, text('designer-compare-same'))}</div>
            <div .style=${'display:flex;flex-wrap:wrap;gap:1rem'}>
              ${this.#picture('left', sides.before, marks('removed'))}
              ${this.#picture('right', sides.after, marks('added'))}
            </div>`
          : html`<div class="svc-skeleton" aria-busy="true"></div>`
      }`;
  }
}
define('workflows-compare', WorkflowsCompare);

function turned(kind: 'added' | 'removed'): Change['kind'] {
  return kind === 'added' ? 'removed' : 'added';
}
