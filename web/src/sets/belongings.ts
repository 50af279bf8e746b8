/** What belongs to a record: lines that are written together with it, and lists of their own. */
import { html, type TemplateResult } from 'lit';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { SetHost } from './context.ts';
import './lines.ts';
import './related.ts';

/** All that belongs to it; `written` is the record as it's written now, and `changed` is called when somebody writes in its lines. */
export function belongings(host: SetHost, set: EntitySet, row: Row, written: Row, changed: () => void): TemplateResult {
  const { lines = [] } = host.look(set.name);
  const version = row['@odata.etag'];
  const key = String(row[set.key]);
  const ways = set.navigations.filter(({ isCollection, target }) => isCollection && host.model.has(target));
  return html`${ways.map((navigation) => {
    const own = lines.find((one) => one.navigation === navigation.name);
    return own
      ? html`<svc-lines .host=${host} .set=${set} .key=${key} .lines=${own} .record=${written} .version=${version} @lines-changed=${changed}></svc-lines>`
      : html`<svc-related .host=${host} .set=${set} .key=${key} .navigation=${navigation} .version=${version}></svc-related>`;
  })}`;
}
