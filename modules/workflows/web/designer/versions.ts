/** The versions of a workflow, trying a definition with a record, and moving records from one version to another. */
import {
  askIn,
  asProblem,
  badge,
  capitalised,
  dateTime,
  failureBar,
  html,
  knownModel,
  nothing,
  noticesNear,
  number,
  render,
  sentence,
  type SvcReference,
  text,
  type Pick,
  type TemplateResult,
} from '@svc/web';
import * as api from './api.ts';
import type { Design, Move, Running, Tried, Version } from './api.ts';
import type { Definition } from './definition.ts';
import { titled, titleOf } from './titles.ts';

/** What the list of versions can have done. */
export interface VersionActs {
  take(version: number): void;
  move(): void;
}

function one(design: Design, version: Version, acts: VersionActs): TemplateResult {
  const { version: number, isDesigned, publishedBy, published, note } = version;
  return html`<li>
    <span><b>${text('designer-version', { version: number })}</b> ${number === design.version ? badge(text('designer-in-force'), 'good') : nothing}</span>
    <span class="svc-soft">${isDesigned ? text('designer-by', { name: publishedBy ?? '' }) : text('designer-declared')} · ${dateTime(published)}</span>
    ${note === null ? nothing : html`<q>${note}</q>`}
    <button type="button" class="svc-button" @click=${() => acts.take(number)}>${text('designer-take')}</button>
  </li>`;
}

/** All versions; two of them side by side, or one and what is drawn beside it. */
export function versionsList(design: Design, drawn: Definition | undefined, acts: VersionActs): TemplateResult {
  const canCompare = design.versions.length > 1 || drawn !== undefined;
  return html`<div class="svc-pane-body" .style=${'overflow:auto'}>
    <p><button type="button" class="svc-button" ?disabled=${design.versions.length < 2} @click=${() => acts.move()}>${text('designer-migrate')}</button></p>
    <ol class="svc-workflow-past">${design.versions.map((version) => one(design, version, acts))}</ol>
    ${canCompare ? html`<workflows-compare .design=${design} .drawn=${drawn}></workflows-compare>` : nothing}
  </div>`;
}

/** What somebody could do with a record under what is drawn. */
export async function tryDialog(near: Element, design: Design, definition: Definition): Promise<void> {
  const { entityType } = design;
  const set = knownModel().get(entityType);
  if (!set) return;
  const said = document.createElement('div');
  let picked: Pick | undefined;
  let chosen = '';
  const show = (tried: Tried) => {
    render(
      html`<p>${text('designer-try-state', { state: titleOf(entityType, 'state', tried.state, definition, design.definition) })}</p>
        <ul>${tried.choices.map(
          ({ name, to, obstacle }) =>
            html`<li><b>${titleOf(entityType, 'transition', name, definition)}</b> → ${titleOf(entityType, 'state', to, definition)} ${obstacle === null ? badge(text('designer-possible'), 'good') : html`<span class="svc-soft">${capitalised(obstacle.detail)}</span>`}</li>`,
        )}</ul>`,
      said,
    );
  };
  await askIn<true>(near, {
    title: text('designer-try'),
    wide: true,
    body: html`<div class="svc-form">
        <div class="svc-field" data-wide>
          <label for="designer-try-record">${text('designer-try-record')}</label>
          <svc-reference .set=${set} .inputId=${'designer-try-record'} @pick=${(event: CustomEvent<Pick>) => {
            picked = event.detail;
            (event.currentTarget as SvcReference).value = picked.key;
            (event.currentTarget as SvcReference).shown = picked.title;
          }}></svc-reference>
        </div>
        <div class="svc-field" data-wide>
          <label for="designer-try-in">${text('designer-try-in')}</label>
          <select id="designer-try-in" class="svc-input" @change=${(event: Event) => {
            chosen = (event.target as HTMLSelectElement).value;
          }}>
            <option value="">${text('designer-try-own')}</option>
            ${titled(entityType, definition).states.map(({ name, title }) => html`<option value=${name}>${title ?? name}</option>`)}
          </select>
        </div>
      </div>${said}`,
    confirm: text('designer-try'),
    answer: async () => {
      if (!picked?.key) return undefined;
      try {
        show(await api.tryOut(entityType, definition, picked.key, chosen));
      } catch (error) {
        render(failureBar(asProblem(error)), said);
      }
      return undefined;
    },
  });
}

/** What stays as it is when another version is published: how many records, by version and state. */
export function runningList(running: readonly Running[]): TemplateResult {
  if (running.length === 0) return html`<p class="svc-soft">${text('designer-running-none')}</p>`;
  const versions = [...new Set(running.map(({ version }) => version))];
  return html`<ul aria-label=${text('designer-running')}>${versions.map((version) => {
    const of = running.filter((one) => one.version === version);
    const states = of.map(({ state, records }) => `${state.title} ${number(records, 0)}`).join(', ');
    const count = of.reduce((sum, { records }) => sum + records, 0);
    return html`<li>${text('designer-running-version', { version, count, states })}</li>`;
  })}</ul>`;
}

/** Moves records of a version to the one in force, once it was shown how many there are. */
export async function migrateDialog(near: Element, design: Design): Promise<void> {
  const { entityType, version: to } = design;
  const others = design.versions.filter(({ version }) => version !== to);
  const states: Record<string, string> = {};
  const body = document.createElement('div');
  let from = others[0]?.version;
  let moves: readonly Move[] = [];
  const draw = () => {
    render(
      html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="designer-migrate-from">${text('designer-migrate-from')}</label>
          <select id="designer-migrate-from" class="svc-input" @change=${(event: Event) => {
            from = Number((event.target as HTMLSelectElement).value);
            for (const state of Object.keys(states)) delete states[state];
            void ask();
          }}>${others.map(({ version }) => html`<option value=${version} .selected=${version === from}>${text('designer-version', { version })}</option>`)}</select>
        </div>
        ${moves.length === 0 ? html`<p class="svc-soft" data-wide>${text('designer-migrate-none')}</p>` : nothing}
        ${moves.map(
          (move) => html`<div class="svc-field" data-wide>
            <label for="designer-move-${move.from}">${text('designer-migrate-state', { state: titleOf(entityType, 'state', move.from, design.definition), count: move.records })}</label>
            <select id="designer-move-${move.from}" class="svc-input" @change=${(event: Event) => {
              states[move.from] = (event.target as HTMLSelectElement).value;
              void ask();
            }}>
              <option value="" disabled .selected=${move.to === null}></option>
              ${titled(entityType, design.definition).states.map(({ name, title }) => html`<option value=${name} .selected=${name === move.to}>${title ?? name}</option>`)}
            </select>
          </div>`,
        )}
      </div>`,
      body,
    );
  };
  const preview = async () => {
    if (from === undefined) return;
    try {
      moves = (await api.migrate(entityType, { from, to, states, isPreview: true })).states;
      draw();
    } catch (error) {
      render(failureBar(asProblem(error)), body);
    }
  };
  // One after the other, so that the last one stays.
  let asked = Promise.resolve();
  const ask = () => {
    asked = asked.then(preview);
    return asked;
  };
  await ask();
  const moved = await askIn<true>(near, {
    title: text('designer-migrate'),
    wide: true,
    body: html`<p>${text('designer-migrate-text', { version: to })}</p>${body}`,
    confirm: text('designer-migrate'),
    answer: async () => {
      // Whoever is quick presses before it is told what comes of the last choice.
      await asked;
      if (from === undefined || moves.some((move) => move.to === null)) return undefined;
      try {
        await api.migrate(entityType, { from, to, states, isPreview: false });
        return true;
      } catch (error) {
        noticesNear(near)?.complain(asProblem(error), sentence(asProblem(error)));
        return undefined;
      }
    },
  });
  if (moved) noticesNear(near)?.say({ text: text('designer-migrating') });
}
