/** What further narrows the log: an event, a record, the code of an answer, a span of time. */
import {
  dateTime,
  define,
  freshId,
  html,
  icon,
  nothing,
  Part,
  text,
  type PropertyValues,
  type SvcPopover,
  type TemplateResult,
} from '@svc/web';
import type { Narrowing } from './view.ts';

/** What is found by. */
export type Found = Pick<Narrowing, 'eventId' | 'entityType' | 'entityId' | 'statusCode' | 'since' | 'until'>;

/** An event's identifier. */
const ID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

export const NOTHING: Found = { eventId: '', entityType: '', entityId: '', statusCode: '', since: '', until: '' };

/** A time as a field for it has it: local, without a zone. */
function local(time: string): string {
  const at = new Date(time);
  if (time === '' || Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function absolute(typed: string): string {
  const at = new Date(typed);
  return typed === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

/** The first digits of an identifier, which is long. */
function short(id: string): string {
  return id.length > 12 ? `${id.slice(0, 8)}…` : id;
}

/** What each part in force says, and what is left without it. */
function inForce(by: Found): { readonly sentence: string; readonly without: Partial<Found> }[] {
  const parts: { sentence: string; without: Partial<Found> }[] = [];
  if (by.eventId)
    parts.push({ sentence: text('webhooks-found-event', { id: short(by.eventId) }), without: { eventId: '' } });
  if (by.entityType && by.entityId) {
    const sentence = text('webhooks-found-entity', { set: by.entityType, id: short(by.entityId) });
    parts.push({ sentence, without: { entityType: '', entityId: '' } });
  }
  if (by.statusCode)
    parts.push({ sentence: text('webhooks-found-code', { code: by.statusCode }), without: { statusCode: '' } });
  if (by.since)
    parts.push({ sentence: text('webhooks-found-since', { time: dateTime(by.since) }), without: { since: '' } });
  if (by.until)
    parts.push({ sentence: text('webhooks-found-until', { time: dateTime(by.until) }), without: { until: '' } });
  return parts;
}

/** What is in force, each with a way to edit it and to leave it out. */
export function foundBy(
  by: Found,
  change: (part: Partial<Found>) => void,
  edit: () => void,
): TemplateResult | typeof nothing {
  const parts = inForce(by);
  if (parts.length === 0) return nothing;
  return html`<div class="svc-chips" role="group" aria-label=${text('webhooks-find')}>
    ${parts.map(
      ({
        sentence,
        without,
      }) => html`<span class="svc-chip"><button type="button" class="svc-button" data-look="chip" @click=${edit}><span>${sentence}</span></button>
        <button type="button" class="svc-button" data-look="chip" data-wordless aria-label=${text('filter-remove', { sentence })} @click=${() => change(without)}>${icon('close')}</button></span>`,
    )}
  </div>`;
}

/** A button with a panel in which one writes what is looked for. */
export class WebhooksFind extends Part {
  static override properties = { by: { attribute: false }, isNarrow: { attribute: false }, draft: { state: true } };
  declare by: Found;
  /** Whether something stands beside the list. */
  declare isNarrow: boolean;
  /** What stands in the panel. */
  declare draft: Found;
  readonly #prefix = freshId('find');

  constructor() {
    super();
    this.by = NOTHING;
    this.isNarrow = false;
    this.draft = NOTHING;
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('by')) this.#forget();
  }

  open(): void {
    this.querySelector<SvcPopover>('svc-popover')?.open();
  }

  /** What was written and not looked for is gone with the panel. */
  #forget(): void {
    const { eventId, entityType, entityId, statusCode, since, until } = this.by;
    this.draft = { eventId, entityType, entityId, statusCode, since, until };
  }

  #find(event: Event, found: Found): void {
    event.preventDefault();
    this.querySelector<SvcPopover>('svc-popover')?.close();
    const written = Object.entries(found).map(([name, value]) => [name, value.trim()]);
    this.tell('find', Object.fromEntries(written));
  }

  #field(
    name: keyof Found,
    how: { type?: string; pattern?: string; with?: keyof Found; numeric?: boolean } = {},
  ): TemplateResult {
    const id = `${this.#prefix}-${name}`;
    const isTime = how.type !== undefined;
    const value = this.draft[name];
    const put = (typed: string) => {
      this.draft = { ...this.draft, [name]: isTime ? absolute(typed) : typed };
    };
    return html`<div class="svc-field"><label for=${id}>${text(`webhooks-find-${name}`)}</label>
      <input
        id=${id}
        class="svc-input"
        type=${how.type ?? 'text'}
        maxlength="200"
        autocomplete="off"
        spellcheck="false"
        inputmode=${how.numeric ? 'numeric' : nothing}
        pattern=${how.pattern ?? nothing}
        ?required=${how.with !== undefined && this.draft[how.with] !== ''}
        .value=${isTime ? local(value) : value}
        @input=${(event: Event) => put((event.target as HTMLInputElement).value)}
      /></div>`;
  }

  #form(): TemplateResult {
    return html`<form class="svc-filter-editor" @submit=${(event: Event) => this.#find(event, this.draft)}>
      ${this.#field('eventId', { pattern: ID })}
      ${this.#field('entityType', { with: 'entityId' })}
      ${this.#field('entityId', { with: 'entityType' })}
      ${this.#field('statusCode', { pattern: '[1-9][0-9]{2}', numeric: true })}
      ${this.#field('since', { type: 'datetime-local' })}
      ${this.#field('until', { type: 'datetime-local' })}
      <div class="svc-filter-values">
        <button type="submit" class="svc-button" data-look="primary">${text('webhooks-find')}</button>
        <button type="button" class="svc-button" data-look="plain" @click=${(event: Event) => this.#find(event, NOTHING)}>${text('webhooks-find-clear')}</button>
      </div>
    </form>`;
  }

  override render(): TemplateResult {
    return html`<svc-popover
      .label=${text('webhooks-find')}
      .icon=${'filter'}
      .content=${() => this.#form()}
      .align=${'end'}
      .wordless=${this.isNarrow}
      @popover-closed=${() => this.#forget()}
    ></svc-popover>`;
  }
}
define('webhooks-find', WebhooksFind);
