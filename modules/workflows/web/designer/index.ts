/**
 * System → Workflows: what administrators draw. The picture and its forms change a draft, which the server looks at while one draws; it
 * is saved, tried with a record, compared with what holds, and published. Versions are kept: exported, brought back as a draft, and
 * records moved between them.
 */
import {
  askIn,
  asProblem,
  badge,
  confirmIn,
  define,
  failure,
  failureBar,
  html,
  icon,
  keepState,
  mayLeave,
  menuButton,
  noticesNear,
  nothing,
  Part,
  state,
  tabs,
  text,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import * as api from './api.ts';
import type { Change, Design, Summary } from './api.ts';
import { changeList } from './changes.ts';
import './compare.ts';
import type { Definition, DesignProblem } from './definition.ts';
import { aboutOf, addState, addTransition, changeState, changeTransition, has, remove, type Chosen } from './edits.ts';
import { stateForm, transitionForm, type Forms } from './forms.ts';
import './graph.ts';
import { titled, titleOf } from './titles.ts';
import { tryDialog, migrateDialog, runningList, versionsList } from './versions.ts';

/** So long nothing is typed before the server looks at it. */
const LOOK_MS = 400;
const PREFIX = 'designer';
/** So many steps are taken back. */
const MOST_BACK = 50;

type Tab = 'draw' | 'versions';

interface View {
  readonly set: string | undefined;
  readonly tab: Tab;
}

function readView(value: unknown): View {
  const { set, tab } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return {
    set: typeof set === 'string' && set !== '' ? set : undefined,
    tab: tab === 'versions' ? 'versions' : 'draw',
  };
}

export class WorkflowsDesigner extends Part {
  static override properties = {
    view: { attribute: false },
    sets: { state: true },
    design: { state: true },
    definition: { state: true },
    chosen: { state: true },
    problems: { state: true },
    warnings: { state: true },
    changes: { state: true },
    problem: { state: true },
    isBusy: { state: true },
    isSaved: { state: true },
  };
  declare view: View;
  declare sets: readonly Summary[] | undefined;
  declare design: Design | undefined;
  /** What is being drawn. */
  declare definition: Definition | undefined;
  declare chosen: Chosen | undefined;
  declare problems: readonly DesignProblem[];
  /** What works, but maybe not as it is meant. */
  declare warnings: readonly DesignProblem[];
  declare changes: readonly Change[];
  declare problem: Problem | undefined;
  declare isBusy: boolean;
  /** Whether what is drawn is what the server keeps. */
  declare isSaved: boolean;
  #back: Definition[] = [];
  #looking: ReturnType<typeof setTimeout> | undefined;
  #looked = 0;

  constructor() {
    super();
    this.view = readView(undefined);
    this.problems = [];
    this.warnings = [];
    this.changes = [];
    this.isBusy = false;
    this.isSaved = true;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    this.atEnd(() => clearTimeout(this.#looking));
    void this.#list();
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return !this.isSaved;
  }

  async follow(intent: unknown): Promise<void> {
    const view = readView(intent);
    const isOther = view.set !== this.view.set;
    if (isOther && !(await mayLeave(this))) {
      // Whoever stays has the address of where they are again.
      this.#go({});
      return;
    }
    this.view = view;
    if (isOther) void this.#read();
  }

  #go(change: Partial<View>): void {
    const isOther = change.set !== undefined && change.set !== this.view.set;
    this.view = { ...this.view, ...change };
    this.tell('view', {
      ...(this.view.set === undefined ? {} : { set: this.view.set }),
      ...(this.view.tab === 'draw' ? {} : { tab: this.view.tab }),
    });
    if (isOther) void this.#read();
  }

  async #choose(select: HTMLSelectElement): Promise<void> {
    const { value } = select;
    select.value = this.view.set ?? value;
    if (await mayLeave(this)) this.#go({ set: value });
  }

  async #list(): Promise<void> {
    this.problem = undefined;
    try {
      this.sets = await api.listDesigns();
      const [first] = this.sets;
      if (this.view.set === undefined && first) this.view = { ...this.view, set: first.entityType };
      await this.#read();
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #read(): Promise<void> {
    const { set } = this.view;
    if (set === undefined) return;
    this.problem = undefined;
    try {
      const design = await api.readDesign(set);
      this.design = design;
      this.definition = design.draft?.definition ?? design.definition;
      this.#back = [];
      this.isSaved = true;
      if (!has(this.definition, this.chosen)) this.chosen = undefined;
      // What is shown can be worked with before the server has looked at it.
      void this.#look();
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  get #revision(): number {
    return this.design?.draft?.revision ?? 0;
  }

  #edit(definition: Definition, chosen: Chosen | undefined = this.chosen): void {
    if (!this.definition) return;
    this.#back = [...this.#back.slice(1 - MOST_BACK), this.definition];
    this.definition = definition;
    this.chosen = has(definition, chosen) ? chosen : undefined;
    this.isSaved = false;
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => void this.#look(), LOOK_MS);
  }

  #undo(): void {
    const last = this.#back.pop();
    if (!last) return;
    const back = this.#back;
    this.#edit(last);
    this.#back = back;
  }

  /** Has the server look at what is drawn. */
  async #look(): Promise<void> {
    const { definition, design } = this;
    if (!definition || !design) return;
    this.#looked += 1;
    const mine = this.#looked;
    try {
      const { problems, warnings, changes } = await api.check(design.entityType, definition);
      if (mine !== this.#looked) return;
      this.problems = problems;
      this.warnings = warnings;
      this.changes = changes;
    } catch (error) {
      if (mine === this.#looked) this.problem = asProblem(error);
    }
  }

  async #do(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.problem = undefined;
    try {
      await work();
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.isBusy = false;
    }
  }

  async #save(): Promise<void> {
    const { design, definition } = this;
    if (!design || !definition) return;
    await api.saveDraft(design.entityType, this.#revision, definition);
    await this.#read();
    noticesNear(this)?.say({ text: text('designer-saved') });
  }

  async #publish(): Promise<void> {
    const { design } = this;
    if (!design) return;
    const running = await api.running(design.entityType);
    const note = await askIn<string>(this, {
      title: text('designer-publish'),
      wide: true,
      body: html`<p>${text('designer-publish-text', { title: design.title })}</p>
        ${runningList(running)}
        ${this.#changeList()}
        <div class="svc-field"><label for="designer-note">${text('designer-note')}</label>
        <textarea id="designer-note" class="svc-input" rows="2" maxlength="2000"></textarea></div>`,
      confirm: text('designer-publish'),
      answer: (dialog) => dialog.querySelector('textarea')?.value.trim() ?? '',
    });
    if (note === undefined) return;
    if (!this.isSaved || !design.draft) {
      await api.saveDraft(design.entityType, this.#revision, this.definition);
      this.design = await api.readDesign(design.entityType);
    }
    const { version } = await api.publish(design.entityType, this.#revision, note);
    await this.#read();
    noticesNear(this)?.say({ text: text('designer-published', { version }) });
  }

  async #drop(): Promise<void> {
    const { design } = this;
    if (!design) return;
    const isSure = await confirmIn(this, {
      title: text('designer-drop'),
      body: text('designer-drop-text'),
      confirm: text('designer-drop'),
      danger: true,
    });
    if (!isSure) return;
    if (design.draft) await api.dropDraft(design.entityType, design.draft.revision);
    await this.#read();
  }

  #export(): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(
      new Blob([`${JSON.stringify(this.definition, null, 2)}\n`], { type: 'application/json' }),
    );
    link.download = `${this.design?.entityType ?? 'workflow'}.workflow.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  }

  async #import(file: File | undefined): Promise<void> {
    const { design } = this;
    if (!file || !design) return;
    let read: unknown;
    try {
      read = JSON.parse(await file.text());
    } catch {
      noticesNear(this)?.say({ text: text('designer-no-json') });
      return;
    }
    // The server reads it first: what is none is told with what is wrong, and nothing is drawn.
    await api.saveDraft(design.entityType, this.#revision, read);
    await this.#read();
  }

  #forms(): Forms | undefined {
    const { definition, design } = this;
    if (!definition || !design) return undefined;
    return {
      prefix: `${PREFIX}-${this.chosen?.kind ?? 'none'}`,
      definition: titled(design.entityType, definition),
      palette: design.palette,
      changeState: (name, change) =>
        this.#edit(changeState(definition, name, change), { kind: 'state', name: change.name ?? name }),
      changeTransition: (name, change) =>
        this.#edit(changeTransition(definition, name, change), { kind: 'transition', name: change.name ?? name }),
    };
  }

  #changeList(): TemplateResult {
    const { design, definition } = this;
    if (!design || !definition) return html``;
    return changeList(design.entityType, [definition, design.definition], this.changes, text('designer-no-changes'));
  }

  #problemList(): TemplateResult {
    const { design, definition, problems, warnings } = this;
    if (!design || !definition) return html``;
    const called = (_whole: string, name: string) => {
      const isState = definition.states.some((one) => one.name === name);
      return `“${titleOf(design.entityType, isState ? 'state' : 'transition', name, definition)}”`;
    };
    const choose = (problem: DesignProblem) => {
      const about = aboutOf(definition, problem);
      if (about) this.chosen = about;
    };
    const list = (all: readonly DesignProblem[]) =>
      html`<ul>${all.map((problem) => html`<li><button type="button" class="svc-button" data-look="plain" .style=${'white-space:normal;text-align:start'} @click=${() => choose(problem)}>${problem.message.replaceAll(/`([^`]*)`/g, called)}</button></li>`)}</ul>`;
    return html`<section aria-label=${text('designer-problems')}>
      <h2><span role="status">${problems.length === 0 ? badge(text('designer-no-problems'), 'good') : badge(text('designer-problem-count', { count: problems.length }), 'bad')}</span></h2>
      ${problems.length === 0 ? nothing : list(problems)}
      ${warnings.length === 0 ? nothing : html`<h3>${badge(text('designer-warning-count', { count: warnings.length }), 'warn')}</h3>${list(warnings)}`}
    </section>`;
  }

  #parts({ states, transitions }: Definition): TemplateResult {
    const list = (kind: Chosen['kind'], all: readonly { name: string; title?: string }[]) =>
      html`<optgroup label=${text(kind === 'state' ? 'designer-states' : 'designer-transitions')}>${all.map(
        ({ name, title }) =>
          html`<option value="${kind}:${name}" .selected=${this.chosen?.kind === kind && this.chosen.name === name}>${title ?? name}</option>`,
      )}</optgroup>`;
    return html`<select class="svc-input" aria-label=${text('designer-part')} @change=${(event: Event) => {
      const [kind = '', name = ''] = (event.target as HTMLSelectElement).value.split(':');
      this.chosen = name === '' ? undefined : { kind: kind as Chosen['kind'], name };
    }}>
      <option value="" .selected=${!this.chosen}>${text('designer-part')}</option>
      ${list('state', states)}${list('transition', transitions)}
    </select>`;
  }

  #pane(definition: Definition): TemplateResult {
    const forms = this.#forms();
    const { chosen } = this;
    const chosenState =
      chosen?.kind === 'state' ? definition.states.find(({ name }) => name === chosen.name) : undefined;
    const way =
      chosen?.kind === 'transition' ? definition.transitions.find(({ name }) => name === chosen.name) : undefined;
    const first = definition.states[0]?.name;
    const from = chosenState?.name ?? first;
    return html`<aside class="svc-pane" aria-label=${text('designer-form')} .style=${'overflow:auto;max-height:100%'}>
      <div class="svc-pane-body">
        <div .style=${'display:flex;gap:.5rem;flex-wrap:wrap'}>
          ${forms ? this.#parts(forms.definition) : nothing}
          <button type="button" class="svc-button" @click=${() => {
            const added = addState(definition);
            this.#edit(added.definition, added.chosen);
          }}>${icon('plus')}<span>${text('designer-add-state')}</span></button>
          <button type="button" class="svc-button" ?disabled=${from === undefined} @click=${() => {
            if (from === undefined) return;
            const added = addTransition(definition, from, from);
            this.#edit(added.definition, added.chosen);
          }}>${icon('plus')}<span>${text('designer-add-transition')}</span></button>
        </div>
        ${forms && chosenState ? stateForm(forms, chosenState) : nothing}
        ${forms && way ? transitionForm(forms, way) : nothing}
        ${chosen && (chosenState || way) ? html`<button type="button" class="svc-button" data-look="danger" ?disabled=${(chosenState ?? way)?.kept === true} @click=${() => this.#edit(remove(definition, chosen), undefined)}>${text('designer-remove')}</button>` : nothing}
        ${this.#problemList()}
        <section aria-label=${text('designer-changes')}><h2>${text('designer-changes')}</h2>${this.#changeList()}</section>
      </div>
    </aside>`;
  }

  #draw(definition: Definition): TemplateResult {
    const wrong = new Set(this.problems.flatMap((problem) => aboutOf(definition, problem)?.name ?? []));
    return html`<div class="svc-split" .style=${'flex-wrap:wrap;overflow:auto'}>
      <section class="svc-list" .style=${'flex:1 1 320px;min-height:260px'} aria-label=${text('designer-picture')}>
        <div class="svc-list-body" .style=${'overflow:auto;padding:.5rem'}>
          <workflows-graph
            .set=${this.design?.entityType ?? ''}
            .definition=${definition}
            .chosen=${this.chosen}
            .wrong=${wrong}
            @choose=${(event: CustomEvent<Chosen>) => {
              this.chosen = event.detail;
            }}
            @connect=${(event: CustomEvent<{ from: string; to: string }>) => {
              const added = addTransition(definition, event.detail.from, event.detail.to);
              this.#edit(added.definition, added.chosen);
            }}
            @take-out=${(event: CustomEvent<Chosen>) => {
              const isKept = definition.states.find(({ name }) => name === event.detail.name)?.kept;
              if (!isKept) this.#edit(remove(definition, event.detail), undefined);
            }}
          ></workflows-graph>
        </div>
      </section>
      ${this.#pane(definition)}
    </div>`;
  }

  #versions(design: Design): TemplateResult {
    const isDrawn = design.draft !== null || !this.isSaved;
    return versionsList(design, isDrawn ? this.definition : undefined, {
      take: (version) =>
        void this.#do(async () => {
          const definition = await api.readVersion(design.entityType, version);
          this.#edit(definition, undefined);
          this.#go({ tab: 'draw' });
        }),
      move: () => void this.#do(() => migrateDialog(this, design)),
    });
  }

  #head(design: Design | undefined): TemplateResult {
    const sets = this.sets ?? [];
    const isDrawn = design?.draft !== null || !this.isSaved;
    return html`<header class="svc-head">
      <h1 tabindex="-1">${text('designer-app')}</h1>
      ${
        sets.length > 1
          ? html`<select class="svc-input svc-narrow" aria-label=${text('designer-set')} @change=${(event: Event) => void this.#choose(event.target as HTMLSelectElement)}>${sets.map(({ entityType, title }) => html`<option value=${entityType} .selected=${entityType === this.view.set}>${title}</option>`)}</select>`
          : html`<span>${design?.title ?? ''}</span>`
      }
      <span class="svc-soft" role="status">${design ? text(this.isSaved ? (design.draft ? 'designer-is-draft' : 'designer-is-version') : 'designer-is-unsaved', { version: design.version }) : ''}</span>
      <span class="svc-grow"></span>
      <button type="button" class="svc-button" aria-label=${text('designer-undo')} title=${text('designer-undo')} ?disabled=${this.#back.length === 0} @click=${() => this.#undo()}>${icon('undo')}</button>
      <button type="button" class="svc-button" ?disabled=${this.isBusy || this.isSaved} @click=${() => void this.#do(() => this.#save())}>${text('designer-save')}</button>
      <button type="button" class="svc-button" data-look="primary" ?disabled=${this.isBusy || !isDrawn || this.problems.length > 0} @click=${() => void this.#do(() => this.#publish())}>${text('designer-publish')}</button>
      ${
        design && this.definition
          ? menuButton(text('more'), () => [
              {
                label: text('designer-try'),
                run: () => void this.#do(() => tryDialog(this, design, this.definition ?? design.definition)),
              },
              { label: text('designer-export'), run: () => this.#export() },
              {
                label: text('designer-import'),
                run: () => this.querySelector<HTMLInputElement>('input[type=file]')?.click(),
              },
              { label: text('designer-drop'), run: () => void this.#do(() => this.#drop()) },
            ])
          : nothing
      }
      <input type="file" accept="application/json,.json" hidden aria-label=${text('designer-import')} @change=${(
        event: Event,
      ) => {
        const input = event.target as HTMLInputElement;
        const file = input.files?.[0];
        input.value = '';
        void this.#do(() => this.#import(file));
      }} />
    </header>`;
  }

  #body(): TemplateResult {
    const { design, definition } = this;
    if (this.sets?.length === 0) return state('empty', text('designer-none'), text('designer-none-text'));
    if (!design || !definition) {
      return this.problem
        ? failure(this.problem, () => void this.#list())
        : html`<div class="svc-skeleton" aria-busy="true"></div>`;
    }
    return html`${this.problem ? failureBar(this.problem, () => void this.#read()) : nothing}
      ${tabs(
        [
          { id: 'draw', title: text('designer-tab-draw') },
          { id: 'versions', title: text('designer-tab-versions') },
        ],
        this.view.tab,
        (id) => this.#go({ tab: id as Tab }),
        PREFIX,
        text('designer-app'),
      )}
      <div role="tabpanel" id="${PREFIX}-panel" aria-labelledby="${PREFIX}-tab-${this.view.tab}" .style=${'flex:1;min-height:0;display:flex;flex-direction:column'}>
        ${this.view.tab === 'draw' ? this.#draw(definition) : this.#versions(design)}
      </div>`;
  }

  override render(): TemplateResult {
    return html`${this.#head(this.design)}${this.#body()}<svc-notices></svc-notices>`;
  }
}
define('workflows-designer', WorkflowsDesigner);

export default function render(context: RenderContext): Node {
  const app = document.createElement('workflows-designer') as WorkflowsDesigner;
  app.view = readView(context.intent);
  keepState(context, app, { follow: (view) => void app.follow(view) });
  context.onClose(() => mayLeave(app));
  return app;
}
