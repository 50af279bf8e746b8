/** What the fields of an endpoint have in common. */
import { capitalised, html, nothing, text, type Problem, type TemplateResult } from '@svc/web';
import type { EndpointInput, EventType } from './api.ts';

/** What stands in the form. */
export interface FormState {
  readonly prefix: string;
  readonly input: EndpointInput;
  readonly problem: Problem | undefined;
  readonly types: readonly EventType[];
  /** Whether it is being made. */
  readonly isNew: boolean;
  /** The names of the custom headers that it has; their values are told to nobody. */
  readonly headerNames: readonly string[];
  /** The digest of the certificate that it has. */
  readonly fingerprint: string | null;
  change(part: EndpointInput): void;
}

/** A field with its label, and what is said of it. */
export function row(
  form: FormState,
  name: string,
  control: (describedBy: string) => TemplateResult,
  note?: string,
): TemplateResult {
  const wrong = wrongOf(form.problem, name);
  return html`<div class="svc-field" data-wide>
    <label for="${form.prefix}-${name}">${text(`webhooks-field-${name.replace('.', '-')}`)}</label>
    ${control(`${form.prefix}-${name}-note`)}
    <p id="${form.prefix}-${name}-note" class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ? capitalised(wrong) : (note ?? nothing)}</p>
  </div>`;
}

/** What the server says of a list, or of the first of its parts that it refuses. */
export function wrongOf(problem: Problem | undefined, name: string): string | undefined {
  return (
    problem?.of(name) ??
    problem?.fields.find(({ field }) => /^[[.]/.test(field.slice(name.length)) && field.startsWith(name))?.message
  );
}
