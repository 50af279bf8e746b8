/** What the designer's forms are made of. */
import { html, icon, nothing, text, type TemplateResult } from '@svc/web';
import { isSameRole, lineOf, rolesOf, withLine, withoutRole, withRole } from './by.ts';
import type { By } from './definition.ts';

const NAME = /^[a-z][A-Za-z0-9]{0,39}$/;

export function field(id: string, label: string, control: TemplateResult, note?: string): TemplateResult {
  return html`<div class="svc-field" data-wide>
    <label for=${id}>${label}</label>${control}
    ${note === undefined ? nothing : html`<p class="svc-note">${note}</p>`}
  </div>`;
}

export function written(event: Event): string {
  return (event.target as HTMLInputElement).value.trim();
}

export function line(
  id: string,
  value: string,
  change: (value: string) => void,
  list?: string,
  label?: string,
): TemplateResult {
  return html`<input id=${id} class="svc-input" aria-label=${label ?? nothing} autocomplete="off" spellcheck="false" list=${list ?? nothing} .value=${value} @change=${(event: Event) => change(written(event))} />`;
}

/** What people call a thing; what it is called where nothing was drawn stands there in grey. */
export function titleField(
  id: string,
  drawn: string | undefined,
  called: string | undefined,
  change: (title: string | undefined) => void,
): TemplateResult {
  return html`<input id=${id} class="svc-input" autocomplete="off" spellcheck="false" placeholder=${called ?? nothing} .value=${drawn ?? ''} @change=${(event: Event) => change(written(event) || undefined)} />`;
}

/** A name is taken over when it is one, and no other has it; else the field says what was there. */
export function name(
  id: string,
  value: string,
  taken: readonly string[],
  change: (value: string) => void,
): TemplateResult {
  return html`<input id=${id} class="svc-input" autocomplete="off" spellcheck="false" maxlength="40" .value=${value} @change=${(
    event: Event,
  ) => {
    const typed = written(event);
    if (typed === value) return;
    if (NAME.test(typed) && !taken.includes(typed)) change(typed);
    else (event.target as HTMLInputElement).value = value;
  }} />`;
}

/** A whole number from a least to a greatest. */
export function count(
  id: string,
  value: number,
  [least, most]: readonly [number, number],
  change: (value: number) => void,
  label?: string,
): TemplateResult {
  return html`<input id=${id} class="svc-input" aria-label=${label ?? nothing} type="number" min=${least} max=${most} .value=${String(value)} @change=${(
    event: Event,
  ) => change(Math.min(most, Math.max(least, Math.round(Number(written(event))) || least)))} />`;
}

export function choice<T extends string>(
  id: string,
  values: readonly (readonly [T, string])[],
  value: T,
  change: (value: T) => void,
  label?: string,
): TemplateResult {
  return html`<select id=${id} class="svc-input" aria-label=${label ?? nothing} @change=${(event: Event) => change((event.target as HTMLSelectElement).value as T)}>
    ${values.map(([one, title]) => html`<option value=${one} .selected=${one === value}>${title}</option>`)}
  </select>`;
}

export function tick(label: string, value: boolean, change: (value: boolean) => void): TemplateResult {
  return html`<label class="svc-choice">
    <input type="checkbox" .checked=${value} @change=${(event: Event) => change((event.target as HTMLInputElement).checked)} />
    <span>${label}</span>
  </label>`;
}

/** Some of a few, each with a tick; undefined for none of them. */
export function some(
  legend: string,
  all: readonly string[],
  chosen: readonly string[],
  change: (chosen: readonly string[] | undefined) => void,
): TemplateResult {
  if (all.length === 0) return html``;
  return html`<fieldset class="svc-field" data-wide><legend>${legend}</legend>${all.map((one) =>
    tick(one, chosen.includes(one), (isOn) => {
      const others = chosen.filter((other) => other !== one);
      const next = isOn ? [...others, one] : others;
      change(next.length === 0 ? undefined : next);
    }),
  )}</fieldset>`;
}

/** Whom one chooses from. */
export interface Known {
  /** The id of the list of permissions. */
  readonly permissions: string;
  /** The roles; null where nobody tells them, and their names are written. */
  readonly roles: readonly string[] | null;
}

/** The roles among those who may do something. */
function rolesField(
  id: string,
  label: string,
  by: readonly By[],
  roles: readonly string[] | null,
  change: (by: By[]) => void,
): TemplateResult {
  const chosen = rolesOf(by);
  const more = text('designer-role-more');
  const add = (event: Event) => {
    const name = written(event);
    (event.target as HTMLInputElement | HTMLSelectElement).value = '';
    if (name !== '') change(withRole(by, name));
  };
  const others = (roles ?? []).filter((role) => !chosen.some((one) => isSameRole(one, role)));
  return html`<fieldset class="svc-field" data-wide>
    <legend>${text('designer-roles', { label })}</legend>
    ${chosen.map(
      (name) => html`<div .style=${'display:flex;gap:.5rem;align-items:center'}>
        <span .style=${'flex:1 1 6rem'}>${name}</span>
        <button type="button" class="svc-button" data-look="plain" aria-label=${text('designer-role-not', { name })} @click=${() => change(withoutRole(by, name))}>${icon('close')}</button>
      </div>`,
    )}
    ${
      roles === null
        ? html`<input id=${id} class="svc-input" aria-label=${more} placeholder=${more} autocomplete="off" maxlength="200" @change=${add} />`
        : html`<select id=${id} class="svc-input" aria-label=${more} @change=${add}>
            <option value="">${more}</option>
            ${others.map((role) => html`<option value=${role}>${role}</option>`)}
          </select>`
    }
  </fieldset>`;
}

/** Who: in a line, and by their roles. */
export function people(
  id: string,
  label: string,
  by: readonly By[],
  known: Known,
  change: (by: By[]) => void,
): TemplateResult {
  return html`${field(
    id,
    label,
    line(id, lineOf(by), (value) => change(withLine(by, value)), known.permissions),
    text('designer-by-note'),
  )}
  ${rolesField(`${id}-role`, label, by, known.roles, change)}`;
}
