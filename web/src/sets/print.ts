/** A list on paper: all of its rows, not only those in sight, as a plain table that the browser breaks into pages. */
import { html, nothing, render } from 'lit';
import { listFrom, listNext, type Page } from '../client/sets.ts';
import type { EntitySet, Model, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { shownOptions, type Options } from '../core/query.ts';
import { cellText, isNumeric } from '../parts/value.ts';
import { dateTime, memberName, number, setName, text } from '../text.ts';
import { noticesNear } from './notices.ts';

/** Rows on paper, at most. */
const MOST_ROWS = 2_000;

/** What is printed. */
export interface Printing {
  readonly near: Element;
  readonly model: Model;
  readonly set: EntitySet;
  /** What decides which records these are, and in which order. */
  readonly options: Options;
  readonly columns: readonly Property[];
}

async function everything({ model, set, options, columns }: Printing): Promise<{ rows: Row[]; total: number }> {
  const first = await listFrom(set, { ...options, ...shownOptions(model, set, columns) }, 0, true);
  const rows = [...first.rows];
  let { next } = first;
  while (next !== undefined && rows.length < MOST_ROWS) {
    const page: Page = await listNext(next);
    rows.push(...page.rows);
    next = page.next;
  }
  return { rows: rows.slice(0, MOST_ROWS), total: first.total ?? rows.length };
}

/** Puts the list on paper, and takes it away when the browser has printed it, or was told not to. */
export async function printList(printing: Printing): Promise<void> {
  const { near, model, set, columns } = printing;
  try {
    const { rows, total } = await everything(printing);
    const paper = document.createElement('section');
    paper.className = 'svc-paper';
    const counted = rows.length < total ? text('print-part', { shown: rows.length, total }) : number(total, 0);
    render(
      html`<h1>${setName(set.name)}</h1>
        <p>${counted} · ${dateTime(new Date())}</p>
        <table>
          <thead><tr>${columns.map((one) => html`<th scope="col" ?data-numeric=${isNumeric(one)}>${memberName(set.name, one.name)}</th>`)}</tr></thead>
          <tbody>${rows.map((row) => html`<tr>${columns.map((one) => html`<td ?data-numeric=${isNumeric(one)}>${cellText(model, set, one, row) || nothing}</td>`)}</tr>`)}</tbody>
        </table>`,
      paper,
    );
    document.body.append(paper);
    addEventListener('afterprint', () => paper.remove(), { once: true });
    print();
  } catch (error) {
    noticesNear(near)?.complain(error);
  }
}
