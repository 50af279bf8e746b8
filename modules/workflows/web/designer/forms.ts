/** The forms of a state and of a transition: all that the picture shows can be written here. */
import { html, text, type TemplateResult } from '@svc/web';
import type { Design } from './api.ts';
import type { Colour, Definition, Kind, State, Transition } from './definition.ts';
import { effectsForm } from './effects.ts';
import { choice, field, type Known, line, name, tick, titleField } from './fields.ts';
import { whoForm } from './groups.ts';
import { timesForm } from './times.ts';

const KINDS: readonly Kind[] = ['initial', 'intermediate', 'final'];
const COLOURS: readonly Colour[] = ['grey', 'blue', 'green', 'yellow', 'red'];

/** What the forms work with. */
export interface Forms {
  readonly prefix: string;
  /** With what all of it is called. */
  readonly definition: Definition;
  readonly palette: Design['palette'];
  changeState(name: string, change: Partial<State>): void;
  changeTransition(name: string, change: Partial<Transition>): void;
}

/** What can be chosen from while one writes. */
function lists(prefix: string, palette: Design['palette']): TemplateResult {
  return html`<datalist id="${prefix}-permissions">${palette.permissions.map((one) => html`<option value=${one}></option>`)}</datalist>
    <datalist id="${prefix}-properties">${palette.properties.map(({ name: one }) => html`<option value=${one}></option>`)}</datalist>`;
}

function knownOf({ prefix, palette }: Forms): Known {
  return { permissions: `${prefix}-permissions`, roles: palette.roles };
}

/** The states, by what people call them. */
function statesOf(definition: Definition): readonly (readonly [string, string])[] {
  return definition.states.map(({ name: one, title }) => [one, title ?? one] as const);
}

/** What one of them is called. */
function titleIn(all: readonly (State | Transition)[], { name: one }: State | Transition): string | undefined {
  return all.find(({ name: other }) => other === one)?.title;
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
      titleField(`${prefix}-title`, state.title, titleIn(definition.states, state), (title) =>
        change({ title } as Partial<State>),
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
    ${timesForm(prefix, definition, state, knownOf(forms), change)}
    ${lists(prefix, forms.palette)}
  </div>`;
}

export function transitionForm(forms: Forms, way: Transition): TemplateResult {
  const { prefix, definition, palette } = forms;
  const change = (part: Partial<Transition>) => forms.changeTransition(way.name, part);
  const taken = definition.transitions.map((one) => one.name);
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
      titleField(`${prefix}-title`, way.title, titleIn(definition.transitions, way), (title) =>
        change({ title } as Partial<Transition>),
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
    ${whoForm(prefix, way, knownOf(forms), change)}
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
    ${effectsForm(prefix, palette, way, knownOf(forms), change)}
    ${lists(prefix, palette)}
  </div>`;
}
