/** Shows a signing secret: once after it was made, and again when somebody asks for it. */
import { askIn, html, icon, text, type TemplateResult } from '@svc/web';

function field(secret: string, note: string): TemplateResult {
  const copy = async (event: Event) => {
    const button = event.currentTarget as HTMLElement;
    await navigator.clipboard.writeText(secret);
    button.querySelector('span')?.replaceChildren(text('webhooks-copied'));
  };
  return html`<p>${note}</p>
    <div class="svc-secret">
      <input class="svc-input" readonly aria-label=${text('webhooks-secret')} .value=${secret} @focus=${(event: Event) => (event.target as HTMLInputElement).select()} />
      <button type="button" class="svc-button" @click=${copy}>${icon('copy')}<span>${text('copy')}</span></button>
    </div>`;
}

/** Shows it until somebody says that it's kept. */
export async function showSecret(near: Element, secret: string, isNew: boolean): Promise<void> {
  await askIn(near, {
    title: text('webhooks-secret'),
    body: field(secret, text(isNew ? 'webhooks-secret-new' : 'webhooks-secret-again')),
    confirm: text('webhooks-secret-kept'),
    plain: true,
    wide: true,
    answer: () => true,
  });
}
