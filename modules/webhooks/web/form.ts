/** The fields of an endpoint, for making one and for changing one. */
import { capitalised, html, icon, nothing, text, type Problem, type TemplateResult } from '@svc/web';
import { credentials, CREDENTIALS } from './credentials.ts';
import type { EndpointInput } from './api.ts';
import './events.ts';
import { row, wrongOf, type FormState } from './field.ts';
import './pairs.ts';

/** A number, or what is none as it was written: that is the server's to refuse. */
function readWhole(typed: string): number {
  const read = Number(typed);
  return Number.isNaN(read) ? (typed as unknown as number) : read;
}

const NUMBERS = ['maxPerSecond', 'timeoutSeconds', 'expiresAfterSeconds'] as const;
const PAIRS = ['metadata', 'headers'] as const;
const FIELDS = [
  'url',
  'receiverKeyId',
  'description',
  'events',
  'filter',
  'includesChanges',
  'retryDelaysSeconds',
  ...NUMBERS,
  ...PAIRS,
  ...CREDENTIALS,
];

function input(form: FormState, name: 'url' | 'description', type: string): (describedBy: string) => TemplateResult {
  return (describedBy) => html`<input
    id="${form.prefix}-${name}"
    class="svc-input"
    type=${type}
    autocomplete="off"
    spellcheck="false"
    placeholder=${name === 'url' ? 'https://example.com/webhooks' : nothing}
    aria-describedby=${describedBy}
    aria-invalid=${form.problem?.of(name) ? 'true' : nothing}
    .value=${form.input[name] ?? ''}
    @input=${(event: Event) => form.change({ [name]: (event.target as HTMLInputElement).value })}
  />`;
}

const EXAMPLES = { filter: "price gt 100 and status eq 'open'", receiverKeyId: nothing } as const;

/** What is empty is none: a condition over an event's data, or the key that fetches. */
function optional(form: FormState, name: keyof typeof EXAMPLES): (describedBy: string) => TemplateResult {
  return (describedBy) => html`<input
    id="${form.prefix}-${name}"
    class="svc-input"
    autocomplete="off"
    spellcheck="false"
    placeholder=${EXAMPLES[name]}
    aria-describedby=${describedBy}
    aria-invalid=${form.problem?.of(name) ? 'true' : nothing}
    .value=${form.input[name] ?? ''}
    @input=${(event: Event) => {
      const typed = (event.target as HTMLInputElement).value;
      form.change({ [name]: typed.trim() === '' ? null : typed });
    }}
  />`;
}

/** Whether bodies are CloudEvents. */
function cloudEvents(form: FormState): TemplateResult {
  const change = (event: Event) =>
    form.change({ format: (event.target as HTMLInputElement).checked ? 'cloudEvents' : 'standard' });
  return html`<label class="svc-choice">
    <input type="checkbox" .checked=${form.input.format === 'cloudEvents'} @change=${change} />
    <span>${text('webhooks-field-format')}<small class="svc-note">${text('webhooks-note-format')}</small></span>
  </label>`;
}

function check(
  form: FormState,
  name: 'isActive' | 'includesChanges' | 'isThin' | 'isOrdered' | 'isAsymmetric',
): TemplateResult {
  return html`<label class="svc-choice">
    <input type="checkbox" .checked=${form.input[name] ?? false} @change=${(event: Event) => form.change({ [name]: (event.target as HTMLInputElement).checked })} />
    <span>${text(`webhooks-field-${name}`)}<small class="svc-note">${text(`webhooks-note-${name}`)}</small></span>
  </label>`;
}

function whole(form: FormState, name: (typeof NUMBERS)[number]): (describedBy: string) => TemplateResult {
  return (describedBy) => html`<input
    id="${form.prefix}-${name}"
    class="svc-input"
    inputmode="numeric"
    autocomplete="off"
    aria-describedby=${describedBy}
    aria-invalid=${form.problem?.of(name) ? 'true' : nothing}
    .value=${form.input[name] === null || form.input[name] === undefined ? '' : String(form.input[name])}
    @input=${(event: Event) => {
      const typed = (event.target as HTMLInputElement).value.trim();
      form.change({ [name]: typed === '' ? null : readWhole(typed) });
    }}
  />`;
}

/** What is written stays as it is: the numbers are read out of it. */
function delays(form: FormState): (describedBy: string) => TemplateResult {
  return (describedBy) => html`<input
    id="${form.prefix}-retryDelaysSeconds"
    class="svc-input"
    autocomplete="off"
    placeholder="30, 60, 3600"
    aria-describedby=${describedBy}
    aria-invalid=${wrongOf(form.problem, 'retryDelaysSeconds') ? 'true' : nothing}
    value=${(form.input.retryDelaysSeconds ?? []).join(', ')}
    @input=${(event: Event) => {
      const typed = (event.target as HTMLInputElement).value.split(/[\s,;]+/).filter((one) => one !== '');
      form.change({ retryDelaysSeconds: typed.length === 0 ? null : typed.map(readWhole) });
    }}
  />`;
}

/** Headers that nobody has written stay as they are. */
function kept(name: (typeof PAIRS)[number], written: Record<string, string>): Record<string, string> | undefined {
  return name === 'headers' && Object.keys(written).length === 0 ? undefined : written;
}

/** Names with values that go with it. */
function pairs(form: FormState, name: (typeof PAIRS)[number]): (describedBy: string) => TemplateResult {
  return (describedBy) => html`<webhooks-pairs
    .value=${form.input[name] ?? {}}
    .label=${text(`webhooks-field-${name}`)}
    .inputId=${`${form.prefix}-${name}`}
    .describedBy=${describedBy}
    .isSecret=${name === 'headers'}
    @pairs=${(event: CustomEvent<Record<string, string>>) => form.change({ [name]: kept(name, event.detail) })}
  ></webhooks-pairs>`;
}

function headersNote({ headerNames }: FormState): string {
  return headerNames.length === 0
    ? text('webhooks-note-headers')
    : text('webhooks-note-headers-kept', { names: headerNames.join(', ') });
}

/** What the server says about no field of this form. */
function rest(problem: Problem | undefined): string[] {
  if (!problem) return [];
  const others = problem.fields.filter(({ field }) => !FIELDS.includes(field.split(/[[.]/)[0] ?? ''));
  if (problem.fields.length === 0) return [problem.message];
  return others.map(({ field, message }) => `${field}: ${message}`);
}

/** Whether its receiver fetches what it is told; then it has no address. */
function polled(form: FormState): TemplateResult {
  const change = (event: Event) => {
    const isPolled = (event.target as HTMLInputElement).checked;
    form.change({ isPolled, url: isPolled ? undefined : '', receiverKeyId: null } as EndpointInput);
  };
  return html`<label class="svc-choice">
    <input type="checkbox" .checked=${form.input.isPolled ?? false} @change=${change} />
    <span>${text('webhooks-field-isPolled')}<small class="svc-note">${text('webhooks-note-isPolled')}</small></span>
  </label>`;
}

/** How requests are made. */
function requests(form: FormState): TemplateResult {
  return html`${NUMBERS.map((name) => row(form, name, whole(form, name), text(`webhooks-note-${name}`)))}
    ${row(form, 'retryDelaysSeconds', delays(form), text('webhooks-note-retryDelaysSeconds'))}
    ${row(form, 'headers', pairs(form, 'headers'), headersNote(form))}
    ${credentials(form)}`;
}

/** The form's fields. */
export function fields(form: FormState): TemplateResult {
  const events = (describedBy: string) => html`<webhooks-events
    .value=${form.input.events ?? []}
    .types=${form.types}
    .inputId=${`${form.prefix}-events`}
    .describedBy=${describedBy}
    @events=${(event: CustomEvent<string[]>) => form.change({ events: event.detail })}
  ></webhooks-events>`;
  const wrong = (name: string) => {
    const message = wrongOf(form.problem, name);
    return message ? html`<p class="svc-note" data-wrong role="alert">${capitalised(message)}</p>` : nothing;
  };
  const isPolled = form.input.isPolled ?? false;
  return html`<div class="svc-form">
    ${rest(form.problem).map((one) => html`<div class="svc-bar" data-tone="danger" role="alert">${icon('error')}<span>${capitalised(one)}</span></div>`)}
    ${isPolled ? nothing : row(form, 'url', input(form, 'url', 'url'), text('webhooks-note-url'))}
    ${form.isNew ? polled(form) : nothing}
    ${isPolled ? row(form, 'receiverKeyId', optional(form, 'receiverKeyId'), text('webhooks-note-receiverKeyId')) : nothing}
    ${row(form, 'description', input(form, 'description', 'text'))}
    ${row(form, 'events', events, text('webhooks-note-events'))}
    ${row(form, 'filter', optional(form, 'filter'), text('webhooks-note-filter'))}
    ${check(form, 'isActive')}
    <details class="svc-more" ?open=${[...NUMBERS, ...PAIRS, ...CREDENTIALS, 'includesChanges', 'retryDelaysSeconds'].some((name) => wrongOf(form.problem, name))}>
      <summary>${text('webhooks-more')}</summary>
      ${wrong('includesChanges')}${check(form, 'includesChanges')}${cloudEvents(form)}${check(form, 'isThin')}${check(form, 'isOrdered')}${check(form, 'isAsymmetric')}
      ${isPolled ? nothing : requests(form)}
      ${row(form, 'metadata', pairs(form, 'metadata'), text('webhooks-note-metadata'))}
    </details>
  </div>`;
}
