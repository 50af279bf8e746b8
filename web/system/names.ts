/** What jobs, schedules and permissions are called, which programs know by dotted names. */
import { find, html, nothing, type TemplateResult } from '@svc/web';

type Family = 'job' | 'schedule';

/** The words for it; the name itself where nobody has said any. */
export function wordsFor(family: Family, name: string): string {
  return find(`${family}-${name.replaceAll(/[._]/g, '-')}`) ?? name;
}

/** What everybody does with sets, in the order in which one thinks of it. */
export const USUAL = ['View', 'Create', 'Update', 'Delete'];

/** What a permission lets one do; nothing where nobody has said it in words. */
export function permissionWords(name: string): string | undefined {
  const [, use = ''] = name.split('.');
  const usual = USUAL.includes(use) ? find(`permission-${use}`) : undefined;
  return find(`permission-${name.replaceAll('.', '-')}`) ?? usual;
}

/** The words, and behind them the name, for whoever looks into a log. */
export function wordsAndName(family: Family, name: string): TemplateResult {
  const words = wordsFor(family, name);
  return html`${words}${words === name ? nothing : html` <code class="svc-soft">${name}</code>`}`;
}
