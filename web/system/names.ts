/** What jobs and schedules are called, which programs know by dotted names. */
import { find, html, nothing, type TemplateResult } from '@svc/web';

type Family = 'job' | 'schedule';

/** The words for it; the name itself where nobody has said any. */
export function wordsFor(family: Family, name: string): string {
  return find(`${family}-${name.replaceAll(/[._]/g, '-')}`) ?? name;
}

/** The words, and behind them the name, for whoever looks into a log. */
export function wordsAndName(family: Family, name: string): TemplateResult {
  const words = wordsFor(family, name);
  return html`${words}${words === name ? nothing : html` <code class="svc-soft">${name}</code>`}`;
}
