/** Something that is shown once, to be copied: a key, a link. */
import { html } from 'lit';
import { text } from '../text.ts';
import { askIn } from './dialog.ts';
import { icon } from './icons.ts';

/** Shows it until somebody says that it's kept. */
export async function showSecret(near: Element, title: string, said: string, secret: string): Promise<void> {
  const select = (event: Event) => (event.target as HTMLInputElement).select();
  await askIn(near, {
    title,
    body: html`<p>${said}</p><div class="svc-secret"><input class="svc-input" readonly aria-label=${title} .value=${secret} @focus=${select} />
      <button type="button" class="svc-button" @click=${() => void navigator.clipboard.writeText(secret)}>${icon('copy')}<span>${text('copy')}</span></button></div>`,
    confirm: text('done'),
    plain: true,
    wide: true,
    answer: () => true,
  });
}
