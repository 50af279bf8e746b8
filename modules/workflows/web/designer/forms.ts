/** The forms of a state and of a transition: all that the picture shows can be written here. */
import { html, nothing, text, type TemplateResult } from '@svc/web';
import type { Design } from './api.ts';
import type { By, Colour, Definition, Kind, State, Transition } from './definition.ts';

const KINDS: readonly Kind[] = ['initial', 'intermediate', 'final'];
const COLOURS: readonly Colour[] = ['grey', 'blue', 'green', 'yellow', 'red'];
const NAME = /^[a-z][A-Za-z0-9]{0,39}$/;

/** What the forms work with. */
export interface Forms {
  readonly prefix: string;
  readonly definition: Definition;
  readonly palette: Design['palette'];
  changeState(name: string, change: Partial<State>): void;
  changeTransition(name: string, change: Partial<Transition>): void;
}

function field(id: string, label: string, control: TemplateResult, note?: string): TemplateResult {
  return html`<div class="svc-field" data-wide>
    <label for=${id}>${label}</label>${control}
    ${note === undefined ? nothing : html`<p class="svc-note">${note}</p>`}
  </div>`;
}

function written(event: Event): string {
  return (event.target as HTMLInputElement).value.trim();
}

function line(id: string, value: string, change: (value: string) => void, list?: string): TemplateResult {
  return html`<input id=${id} class="svc-input" autocomplete="off" spellcheck="false" list=${list ?? nothing} .value=${value} @change=${(event: Event) => change(written(event))} />`;
}

/** A name is taken over when it is one, and no other has it; else the field says what was there. */
function name(id: string, value: string, taken: readonly string[], change: (value: string) => void): TemplateResult {
  return html`<input id=${id} class="svc-input" autocomplete="off" spellcheck="false" maxlength="40" .value=${value} @change=${(
    event: Event,
  ) => {
    const typed = written(event);
    if (typed === value) return;
    if (NAME.test(typed) && !taken.includes(typed)) change(typed);
    else (event.target as HTMLInputElement).value = value;
  }} />`;
}

function choice<T extends string>(
  id: string,
  values: readonly (readonly [T, string])[],
  value: T,
  change: (value: T) => void,
): TemplateResult {
  return html`<select id=${id} class="svc-input" @change=${(event: Event) => change((event.target as HTMLSelectElement).value as T)}>
    ${values.map(([one, title]) => html`<option value=${one} .selected=${one === value}>${title}</option>`)}
  </select>`;
}

function tick(label: string, value: boolean, change: (value: boolean) => void): TemplateResult {
  return html`<label class="svc-choice">
    <input type="checkbox" .checked=${value} @change=${(event: Event) => change((event.target as HTMLInputElement).checked)} />
    <span>${label}</span>
  </label>`;
}

/** The states, by what people call them. */
function statesOf(definition: Definition): readonly (readonly [string, string])[] {
  return definition.states.map(({ name: one, title }) => [one, title ?? one] as const);
}

export function stateForm(forms: Forms, state: State): TemplateResult {
  const { prefix, definition } = forms;
  const change = (part: Partial<State>) => forms.changeState(state.name, part);
  const taken = definition.states.map((one) => one.name);
  const locked = state.lock ? (state.lock.properties ?? ['*']) : [];
  return html`<div class="svc-form">
    ${field(
      `${prefix}-name`,
      text('designer-name'),
      name(`${prefix}-name`, state.name, taken, (value) => change({ name: value })),
      text('designer-name-note'),
    )}
    ${field(
      `${prefix}-title`,
      text('designer-title'),
      line(`${prefix}-title`, state.title ?? '', (value) =>
        change({ title: value === '' ? undefined : value } as Partial<State>),
      ),
    )}
    ${field(
      `${prefix}-kind`,
      text('designer-kind'),
      choice(
        `${prefix}-kind`,
        KINDS.map((kind) => [kind, text(`designer-kind-${kind}`)] as const),
        state.kind,
        (kind) => change({ kind }),
      ),
    )}
    ${field(
      `${prefix}-colour`,
      text('designer-colour'),
      choice(
        `${prefix}-colour`,
        COLOURS.map((colour) => [colour, text(`designer-colour-${colour}`)] as const),
        state.colour ?? 'grey',
        (colour) => change({ colour }),
      ),
    )}
    ${field(
      `${prefix}-lock`,
      text('designer-lock'),
      line(`${prefix}-lock`, locked.join(', '), (value) => {
        const properties = value.split(/[\s,]+/).filter((one) => one !== '');
        const lock = properties.includes('*') ? {} : { properties };
        change({
          lock:
            properties.length === 0
              ? undefined
              : { ...lock, ...(state.lock?.unless === undefined ? {} : { unless: state.lock.unless }) },
        } as Partial<State>);
      }),
      text('designer-lock-note'),
    )}
  </div>`;
}

/** How somebody is written in a line. */
export function byText(by: By): string {
  if (by === 'creator') return '@creator';
  return 'permission' in by ? by.permission : `@${by.person}`;
}

/** Reads who is written in a line. */
export function readBy(typed: string): By[] {
  return typed
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .map((one): By => {
      if (one === '@creator') return 'creator';
      return one.startsWith('@') ? { person: one.slice(1) } : { permission: one };
    });
}

export function transitionForm(forms: Forms, way: Transition): TemplateResult {
  const { prefix, definition, palette } = forms;
  const change = (part: Partial<Transition>) => forms.changeTransition(way.name, part);
  const flag = (value: boolean) => (value ? true : undefined);
  const taken = definition.transitions.map((one) => one.name);
  const hasGroups = (way.groups ?? []).length > 0;
  return html`<div class="svc-form">
    ${field(
      `${prefix}-name`,
      text('designer-name'),
      name(`${prefix}-name`, way.name, taken, (value) => change({ name: value })),
      text('designer-name-note'),
    )}
    ${field(
      `${prefix}-title`,
      text('designer-title'),
      line(`${prefix}-title`, way.title ?? '', (value) =>
        change({ title: value === '' ? undefined : value } as Partial<Transition>),
      ),
    )}
    <fieldset class="svc-field" data-wide>
      <legend>${text('designer-from')}</legend>
      ${statesOf(definition).map(([state, title]) =>
        tick(title, way.from.includes(state), (isOn) =>
          change({ from: isOn ? [...way.from, state] : way.from.filter((one) => one !== state) }),
        ),
      )}
    </fieldset>
    ${field(
      `${prefix}-to`,
      text('designer-to'),
      choice(`${prefix}-to`, statesOf(definition), way.to, (to) => change({ to })),
    )}
    ${
      hasGroups
        ? html`<p class="svc-note" data-wide>${text('designer-has-groups')}</p>`
        : html`${field(
            `${prefix}-by`,
            text('designer-who'),
            line(
              `${prefix}-by`,
              way.by.map(byText).join(', '),
              (value) => change({ by: readBy(value) }),
              `${prefix}-permissions`,
            ),
            text('designer-by-note'),
          )}
        ${field(`${prefix}-approvals`, text('designer-approvals'), html`<input id="${prefix}-approvals" class="svc-input" type="number" min="1" max="20" .value=${String(way.approvals ?? 1)} @change=${(event: Event) => change({ approvals: Math.max(1, Math.round(Number(written(event))) || 1) })} />`)}`
    }
    ${field(
      `${prefix}-condition`,
      text('designer-condition'),
      line(
        `${prefix}-condition`,
        way.condition ?? '',
        (value) => change({ condition: value === '' ? undefined : value } as Partial<Transition>),
        `${prefix}-properties`,
      ),
      text('designer-condition-note'),
    )}
    ${tick(text('designer-not-by-creator'), way.notByCreator ?? false, (value) => change({ notByCreator: value }))}
    ${tick(text('designer-not-by-last'), way.notByLast ?? false, (value) => change({ notByLast: value }))}
    ${tick(text('designer-needs-comment'), way.needsComment ?? false, (value) => change({ needsComment: value }))}
    ${tick(text('designer-optional'), way.optional ?? false, (value) => change({ optional: value }))}
    ${
      palette.actions.length === 0
        ? nothing
        : html`<fieldset class="svc-field" data-wide><legend>${text('designer-calls')}</legend>${palette.actions.map(
            (action) =>
              tick(action, way.calls?.includes(action) ?? false, (isOn) => {
                const calls = (way.calls ?? []).filter((one) => one !== action);
                const all = isOn ? [...calls, action] : calls;
                change({ calls: flag(all.length > 0) && all } as Partial<Transition>);
              }),
          )}</fieldset>`
    }
    <datalist id="${prefix}-permissions">${palette.permissions.map((one) => html`<option value=${one}></option>`)}</datalist>
    <datalist id="${prefix}-properties">${palette.properties.map(({ name: one }) => html`<option value=${one}></option>`)}</datalist>
  </div>`;
}
