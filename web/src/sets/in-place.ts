/** Writing in the cells of a list: one cell at a time, saved when it is left, as in a spreadsheet. */
import { html, type TemplateResult } from 'lit';
import { asProblem } from '../client/request.ts';
import { change, read } from '../client/sets.ts';
import type { EntitySet, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { shownOptions } from '../core/query.ts';
import { Draft } from '../parts/draft.ts';
import { editor, type Place } from '../parts/field.ts';
import { freshId, type Part } from '../parts/part.ts';
import type { SvcTable } from '../parts/table.ts';
import { referenceTitle } from '../parts/value.ts';
import { memberName, text } from '../text.ts';
import type { SetHost } from './context.ts';
import { noticesNear } from './notices.ts';

/** The list that is written in. */
interface Owner extends Part {
  readonly host: SetHost;
  readonly set: EntitySet;
}

/** The cell that is open. */
interface Open {
  readonly key: string;
  readonly row: Row;
  readonly property: Property;
  readonly draft: Draft;
  /** Leaving it while it is being saved saves it once. */
  isSaving: boolean;
}

export class InPlace {
  readonly #owner: Owner;
  readonly #prefix = freshId('cell');
  #open: Open | undefined;
  /** Counts up whenever a cell is shown otherwise. */
  shown = 0;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  /** Opens a cell. */
  async begin(row: Row, property: Property): Promise<void> {
    const { host, set } = this.#owner;
    if (this.#open && !(await this.#save())) return;
    const draft = new Draft(row);
    const title = referenceTitle(host.model, set, property, row);
    if (title !== undefined) draft.titles.set(property.name, title);
    this.#open = { key: String(row[set.key]), row, property, draft, isSaving: false };
    await this.#show();
    const input = this.#owner.querySelector<HTMLElement>(`[id="${this.#prefix}-${property.name}"]`);
    input?.focus();
    if (input instanceof HTMLInputElement) input.select();
  }

  /** Gives up what isn't saved. */
  leave(): void {
    this.#open = undefined;
    void this.#show();
  }

  /** The editor, where the cell is the open one. */
  editor(row: Row, property: Property): TemplateResult | undefined {
    const { host, set } = this.#owner;
    const open = this.#open;
    if (!open || open.property !== property || open.key !== String(row[set.key])) return undefined;
    const place: Place = {
      model: host.model,
      set,
      draft: open.draft,
      prefix: this.#prefix,
      required: ({ nullable }) => !nullable,
      changed: () => void this.#show(),
    };
    const id = `${this.#prefix}-${property.name}`;
    return html`<span class="svc-cell-editor" @keydown=${(event: KeyboardEvent) => void this.#keyed(event)} @focusout=${(event: FocusEvent) => void this.#left(event)}>
      <label class="shell-sr" for=${id}>${memberName(set.name, property.name)}</label>${editor(place, property)}
      <span class="shell-sr" id="${id}-note" role="status">${open.draft.wrong(property) ?? ''}</span>
    </span>`;
  }

  async #show(): Promise<void> {
    this.shown += 1;
    this.#owner.requestUpdate();
    await this.#owner.updateComplete;
    await this.#table?.updateComplete;
  }

  get #table(): SvcTable | null {
    return this.#owner.querySelector('svc-table');
  }

  async #keyed(event: KeyboardEvent): Promise<void> {
    if (event.defaultPrevented || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') this.leave();
    else if (!(await this.#save())) return;
    this.#table?.focus();
  }

  /** The focus went elsewhere than within the cell. */
  async #left(event: FocusEvent): Promise<void> {
    const cell = event.currentTarget as HTMLElement;
    if (event.relatedTarget instanceof Node && cell.contains(event.relatedTarget)) return;
    if (!this.#owner.isConnected || !cell.isConnected) return;
    await this.#save();
  }

  /** Saves the open cell; says whether it is closed now. */
  async #save(): Promise<boolean> {
    const open = this.#open;
    if (!open) return true;
    if (open.isSaving) return false;
    const { property, draft, row, key } = open;
    const { host, set } = this.#owner;
    if (draft.wrong(property)) {
      noticesNear(this.#owner)?.complain(undefined, draft.wrong(property) ?? '');
      return false;
    }
    const values = draft.changes;
    if (Object.keys(values).length === 0) {
      this.leave();
      return true;
    }
    open.isSaving = true;
    const put = async (what: Row, etag: unknown) => {
      await change(set, key, what, etag);
      const now = await read(
        set,
        key,
        shownOptions(
          host.model,
          set,
          set.properties.filter(({ kind }) => kind !== 'binary'),
        ),
      );
      this.#owner.dispatchEvent(new CustomEvent('record-read', { detail: now }));
      return now;
    };
    try {
      const now = await put(values, row['@odata.etag']);
      if (this.#open === open) this.leave();
      noticesNear(this.#owner)?.say({
        text: text('record-saved', { count: 1, name: memberName(set.name, property.name) }),
        undo: async () => {
          await put({ [property.name]: row[property.name] }, now['@odata.etag']);
        },
      });
      return true;
    } catch (error) {
      await this.#refused(open, error);
      return false;
    } finally {
      open.isSaving = false;
    }
  }

  /** What was written stays in the cell; whatever the server says stands at the foot. */
  async #refused(open: Open, error: unknown): Promise<void> {
    const problem = asProblem(error);
    const notices = noticesNear(this.#owner);
    if (problem.isConflict) {
      this.leave();
      this.#owner.dispatchEvent(new CustomEvent('records-changed'));
      notices?.complain(problem, text('write-conflict'));
      return;
    }
    open.draft.refuse(problem, [open.property.name]);
    notices?.complain(problem, open.draft.wrong(open.property));
    await this.#show();
  }
}
