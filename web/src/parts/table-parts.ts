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
  /** Buttons: where rows are narrow they stand below the rest. They are no stops of the Tab key; Enter leads into them. */
  readonly isActs?: boolean;
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

/** What a key does within the buttons of a cell: the next one, out of them, or nothing. */
export function keyInActs(event: KeyboardEvent, leave: () => void): void {
  const cell = (event.target as Element).closest('.svc-acts');
  const buttons = [...(cell?.querySelectorAll<HTMLElement>(':scope > button, :scope > svc-popover > button') ?? [])];
  const at = buttons.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  // A key that is held down walks, and does nothing again and again.
  if (event.repeat && (event.key === 'Enter' || event.key === ' ')) event.preventDefault();
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  } else if (['Escape', 'ArrowUp', 'ArrowDown'].includes(event.key)) {
    event.preventDefault();
    event.stopPropagation();
    leave();
  }
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
