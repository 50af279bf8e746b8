/** The bar of what is selected in a list: how many, and what can be done with all of them. */
import { html, nothing, type TemplateResult } from 'lit';
import { keysOf, MOST_KEYS } from '../client/sets.ts';
import type { EntitySet, Operation } from '../core/model.ts';
import type { Options } from '../core/query.ts';
import { icon } from '../parts/icons.ts';
import { define, Part } from '../parts/part.ts';
import { menuButton, type Entry } from '../parts/popover.ts';
import { memberName, text } from '../text.ts';
import { runActionMany } from './action.ts';
import { changeMany } from './bulk.ts';
import { actionsFor, may, type SetHost } from './context.ts';
import { noticesNear } from './notices.ts';
import { mayDelete, removeRecords } from './remove.ts';

/** What became of a selection. */
export interface SelectionWork {
  readonly done: readonly string[];
  /** These records aren't there any more. */
  readonly isGone: boolean;
}

export class SvcSelection extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    selected: { attribute: false },
    total: { attribute: false },
    all: { attribute: false },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare selected: ReadonlySet<string>;
  /** How many there are in the list. */
  declare total: number;
  /** What the list asks for. */
  declare all: Options;

  get #keys(): string[] {
    return [...this.selected];
  }

  #worked(done: readonly string[], isGone = false): void {
    this.tell<SelectionWork>('selection-worked', { done, isGone });
  }

  async #act(operation: Operation): Promise<void> {
    this.#worked(await runActionMany(this, this.host.model, this.set, this.#keys, operation));
  }

  async #change(): Promise<void> {
    this.#worked(await changeMany(this, this.host.model, this.set, this.#keys));
  }

  async #remove(): Promise<void> {
    this.#worked(await removeRecords(this, this.set, this.#keys), true);
  }

  /** All records of the list, also those that no page has shown. */
  async #selectAll(): Promise<void> {
    try {
      this.tell('selection', new Set(await keysOf(this.set, this.all)));
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  /** Actions of the set, for all that are selected. */
  #actions(): TemplateResult | typeof nothing {
    const actions = actionsFor(this.host, this.set);
    if (actions.length === 0) return nothing;
    const entries = () =>
      actions.map(
        (operation): Entry => ({
          label: memberName(this.set.name, operation.name),
          icon: 'play',
          run: () => void this.#act(operation),
        }),
      );
    return menuButton(text('bulk-actions'), entries, { icon: 'play', wordless: false, look: 'default' });
  }

  override render(): TemplateResult | typeof nothing {
    const count = this.selected.size;
    if (count === 0) return nothing;
    const most = Math.min(this.total, MOST_KEYS);
    return html`<div class="svc-selection" role="toolbar" aria-label=${text('selection')}>
      <span role="status">${text('selected', { count, total: this.total })}</span>
      ${
        count > 1 && count < most
          ? html`<button type="button" class="svc-button" data-look="plain" @click=${() => void this.#selectAll()}>${text('select-everything', { count: most })}</button>`
          : nothing
      }
      <button type="button" class="svc-button" @click=${() => this.tell('selection-copy', undefined)}>${icon('copy')}<span>${text('copy')}</span></button>
      ${
        may(this.host, this.set.update)
          ? html`<button type="button" class="svc-button" @click=${() => void this.#change()}>${icon('edit')}<span>${text('bulk-change-button')}</span></button>`
          : nothing
      }
      ${this.#actions()}
      ${
        mayDelete(this.host, this.set)
          ? html`<button type="button" class="svc-button" data-look="danger-plain" @click=${() => void this.#remove()}>${icon('trash')}<span>${text('delete')}</span></button>`
          : nothing
      }
      <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('select-none')} title=${text('select-none')} @click=${() => this.tell('selection', new Set())}>${icon('close')}</button>
    </div>`;
  }
}
define('svc-selection', SvcSelection);
