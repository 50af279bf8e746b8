/**
 * Elements of the application's own in place of a part of a generated app (`SetLook::property_element`, `SetLook::record_element`):
 * the script that defines them is loaded when the part is shown for the first time.
 *
 * The element is given what it shows as properties, and tells what a person writes by the event `value-changed`; saving, conflicts
 * and undoing stay with the page around it. Where the script can't be had, the part is shown as it would be without.
 */
import { html, nothing, type TemplateResult } from 'lit';
import type { EntitySet, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Draft } from '../parts/draft.ts';
import { define, Part } from '../parts/part.ts';
import { memberName } from '../text.ts';
import type { Look, OwnElement } from './context.ts';

/** What an element gets in place of a property. */
export interface GivenValue {
  /** The property's name. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  readonly value: unknown;
  /** All of the record, as it's written now; what a new one has so far. */
  readonly record: Row;
  /** Whether this person may not change it. */
  readonly readOnly: boolean;
  /** What is wrong with it, in words. */
  readonly wrong: string | undefined;
}

/** What an element gets in place of the values of a record. */
export interface GivenRecord {
  readonly record: Row;
  /** The properties that this person may write. */
  readonly writable: readonly string[];
  /** What is wrong, by property. */
  readonly wrong: Readonly<Record<string, string>>;
}

/** What an element tells with `value-changed`. */
export interface Written {
  readonly name: string;
  readonly value: unknown;
}

const loading = new Map<string, Promise<unknown>>();

function load(script: string): Promise<unknown> {
  const known = loading.get(script);
  if (known) return known;
  const begun: Promise<unknown> = import(script);
  loading.set(script, begun);
  // Asked for again by the next one.
  begun.catch(() => loading.delete(script));
  return begun;
}

export class SvcOwn extends Part {
  static override properties = {
    own: { attribute: false },
    given: { attribute: false },
    instead: { attribute: false },
    state: { state: true },
  };
  declare own: OwnElement;
  declare given: GivenValue | GivenRecord;
  /** The part as it would be without. */
  declare instead: () => TemplateResult;
  declare state: 'loading' | 'there' | 'failed';
  #element: HTMLElement | undefined;

  constructor() {
    super();
    this.state = 'loading';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#begin();
  }

  async #begin(): Promise<void> {
    try {
      await load(this.own.script);
      if (!customElements.get(this.own.element)) {
        throw new Error(`\`${this.own.script}\` defines no element \`${this.own.element}\``);
      }
      this.#element ??= document.createElement(this.own.element);
      this.state = 'there';
    } catch (error) {
      reportError(error);
      this.state = 'failed';
    }
  }

  override render(): TemplateResult | typeof nothing {
    if (this.state === 'failed') return this.instead();
    if (!this.#element) return nothing;
    Object.assign(this.#element, this.given);
    return html`${this.#element}`;
  }
}
define('svc-own', SvcOwn);

/** The application's own element for a property. */
export function ownProperty({ elements = [] }: Look, { name }: Property): OwnElement | undefined {
  return elements.find((one) => one.property === name);
}

/** The application's own element for all values of a record. */
export function ownRecord({ elements = [] }: Look): OwnElement | undefined {
  return elements.find((one) => one.property === undefined);
}

/** The element in place of a property. */
export function showOwn(
  own: OwnElement,
  set: EntitySet,
  given: Omit<GivenValue, 'label'>,
  write: (written: Written) => void,
  instead: () => TemplateResult,
): TemplateResult {
  return html`<svc-own class="svc-own" .own=${own} .given=${{ ...given, label: memberName(set.name, given.name) }} .instead=${instead}
    @value-changed=${(event: CustomEvent<{ value: unknown }>) => write({ name: given.name, value: event.detail.value })}></svc-own>`;
}

/** The element in place of all values of a record. */
export function showOwnRecord(
  own: OwnElement,
  draft: Draft,
  writable: readonly string[],
  properties: readonly Property[],
  write: (written: Written) => void,
  instead: () => TemplateResult,
): TemplateResult {
  const wrong = Object.fromEntries(
    properties.flatMap((one) => {
      const said = draft.wrong(one);
      return said === undefined ? [] : [[one.name, said]];
    }),
  );
  return html`<svc-own class="svc-own" .own=${own} .given=${{ record: draft.values, writable, wrong }} .instead=${instead}
    @value-changed=${(event: CustomEvent<Written>) => write(event.detail)}></svc-own>`;
}
