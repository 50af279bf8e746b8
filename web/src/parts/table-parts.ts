/** What a table is made of, and what it tells. */
import type { Row } from '../core/pages.ts';
import type { Shown } from './value.ts';

/** A column. */
export interface Column {
  readonly name: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly numeric: boolean;
  readonly sortable: boolean;
  /** The least width in pixels. */
  readonly width: number;
  /** Its share of what room is left. */
  readonly share: number;
  /** The width in pixels that somebody gave it, in place of both. */
  readonly fixed?: number | undefined;
  /** How it stands with the row, in a word or two: where rows are narrow it stands beside the title. */
  readonly isState?: boolean;
  /** What stands under the column. */
  readonly foot?: Shown | undefined;
  cell(row: Row): Shown;
  plain(row: Row): string;
}

/** Where rows come from. */
export interface Rows {
  readonly count: number;
  at(index: number): Row | undefined;
  /** These are in sight. */
  want(from: number, to: number): void;
}

/** A row and how it was pressed. */
export interface RowPress {
  readonly index: number;
  readonly row: Row;
  /** In a window of its own. */
  readonly apart: boolean;
}

/** A column that was made wider or narrower. */
export interface ColumnWidth {
  readonly name: string;
  readonly width: number;
}

/** A cell that somebody wants to write in. */
export interface CellPress {
  readonly row: Row;
  readonly name: string;
}

/** Rows as a spreadsheet takes them: a line each, tabs between. */
export function asSpreadsheet(columns: readonly Column[], rows: readonly Row[]): string {
  const clean = (value: string) => value.replaceAll(/[\t\r\n]+/g, ' ');
  const lines = rows.map((row) => columns.map((column) => clean(column.plain(row))).join('\t'));
  return [columns.map(({ title }) => clean(title)).join('\t'), ...lines].join('\n');
}

/** Follows the pointer that pulls a column's edge, and tells how wide it makes the column. */
export function pullEdge(event: PointerEvent, before: number, tell: (width: number) => void): void {
  const handle = event.currentTarget as HTMLElement;
  const began = event.clientX;
  const follow = (moved: PointerEvent) => tell(Math.round(before + moved.clientX - began));
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  handle.addEventListener('pointermove', follow);
  handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', follow), {
    once: true,
  });
}
