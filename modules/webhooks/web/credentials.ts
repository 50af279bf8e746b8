/**
 * What an endpoint shows its receiver besides signatures: a token of OAuth 2, a certificate. Secrets are only written: an answer
 * tells what else there is, and whoever changes something of it writes them again.
 */
import { capitalised, html, nothing, text, type TemplateResult } from '@svc/web';
import type { CertificateInput, OAuth2Input } from './api.ts';
import { row, type FormState } from './field.ts';

export const CREDENTIALS = ['oauth2', 'clientCertificate'] as const;

const TEXTS = ['tokenUrl', 'clientId', 'clientSecret', 'scope', 'audience'] as const;
const PEMS = ['certificate', 'privateKey'] as const;

const NO_OAUTH2: OAuth2Input = { tokenUrl: '', clientId: '', clientSecret: '', scope: null, audience: null };
export const NO_CERTIFICATE: CertificateInput = { certificate: '', privateKey: '' };

/** Whether there is one, and what stands below where there is. */
function part(
  form: FormState,
  name: (typeof CREDENTIALS)[number],
  begun: OAuth2Input | CertificateInput,
  rows: () => readonly TemplateResult[],
): TemplateResult {
  const isThere = Boolean(form.input[name]);
  const wrong = form.problem?.of(name);
  const change = (event: Event) => form.change({ [name]: (event.target as HTMLInputElement).checked ? begun : null });
  return html`<label class="svc-choice">
      <input type="checkbox" .checked=${isThere} @change=${change} />
      <span>${text(`webhooks-field-${name}`)}<small class="svc-note">${text(`webhooks-note-${name}`)}</small></span>
    </label>
    ${wrong ? html`<p class="svc-note" data-wrong role="alert">${capitalised(wrong)}</p>` : nothing}
    ${isThere ? rows() : nothing}`;
}

function oauth2Row(form: FormState, oauth2: OAuth2Input, name: (typeof TEXTS)[number]): TemplateResult {
  const isOptional = name === 'scope' || name === 'audience';
  const write = (event: Event) => {
    const typed = (event.target as HTMLInputElement).value;
    form.change({ oauth2: { ...oauth2, [name]: isOptional && typed === '' ? null : typed } });
  };
  const control = (describedBy: string) => html`<input
    id="${form.prefix}-oauth2.${name}"
    class="svc-input"
    type=${name === 'clientSecret' ? 'password' : 'text'}
    autocomplete=${name === 'clientSecret' ? 'new-password' : 'off'}
    spellcheck="false"
    placeholder=${name === 'tokenUrl' ? 'https://login.example.com/token' : nothing}
    aria-describedby=${describedBy}
    aria-invalid=${form.problem?.of(`oauth2.${name}`) ? 'true' : nothing}
    .value=${oauth2[name] ?? ''}
    @input=${write}
  />`;
  const note =
    name === 'clientSecret' ? text('webhooks-note-secret') : isOptional ? text('webhooks-note-optional') : undefined;
  return row(form, `oauth2.${name}`, control, note);
}

function pemRow(form: FormState, pems: CertificateInput, name: (typeof PEMS)[number]): TemplateResult {
  const write = (event: Event) =>
    form.change({ clientCertificate: { ...pems, [name]: (event.target as HTMLTextAreaElement).value } });
  const control = (describedBy: string) => html`<textarea
    id="${form.prefix}-clientCertificate.${name}"
    class="svc-input"
    rows="4"
    autocomplete="off"
    spellcheck="false"
    placeholder=${`-----BEGIN ${name === 'certificate' ? 'CERTIFICATE' : 'PRIVATE KEY'}-----`}
    aria-describedby=${describedBy}
    aria-invalid=${form.problem?.of(`clientCertificate.${name}`) ? 'true' : nothing}
    .value=${pems[name]}
    @input=${write}
  ></textarea>`;
  const kept = form.fingerprint
    ? text('webhooks-note-certificate-kept', { fingerprint: form.fingerprint })
    : text('webhooks-note-certificate');
  return row(form, `clientCertificate.${name}`, control, name === 'certificate' ? kept : text('webhooks-note-secret'));
}

/** The fields of both. */
export function credentials(form: FormState): TemplateResult {
  const { oauth2, clientCertificate } = form.input;
  return html`${part(form, 'oauth2', NO_OAUTH2, () => TEXTS.map((name) => oauth2Row(form, oauth2 ?? NO_OAUTH2, name)))}
    ${part(form, 'clientCertificate', NO_CERTIFICATE, () =>
      PEMS.map((name) => pemRow(form, clientCertificate ?? NO_CERTIFICATE, name)),
    )}`;
}
