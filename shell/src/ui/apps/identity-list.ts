/** A list of any length: only the rows in sight are in the document, the others are counted. */
import { effect, signal, untracked } from '../../core/signal.ts';
import { h } from '../dom.ts';

/** What a row shows. */
export interface Row {
  id: string;
  title: string;
  subtitle: string;
  /** Shown weaker. */
  faint?: boolean | undefined;
}

/** Height of a row; `styles/identity.css` has it, too. */
const ROW = 52;
const BEYOND = 6;

/** How a list is used. */
export interface RowListOptions {
  /** Beginning of the rows' ids in the document. */
  id: string;
  label: () => string;
  rows: () => readonly Row[];
  selected: () => string | undefined;
  select(id: string): void;
}

/** Makes a listbox; arrows, Home, End and Page keys walk, Enter or a click selects. */
export function rowList({ id, label, rows, selected, select }: RowListOptions): HTMLElement {
  const at = signal(-1);
  const inner = h('div.shell-rows-inner', { role: 'presentation' });
  const list: HTMLElement = h(
    'div.shell-rows',
    {
      role: 'listbox',
      tabindex: 0,
      'aria-label': label,
      'aria-activedescendant': () => (rows()[at()] ? `${id}-${at()}` : undefined),
      onfocus: () => at.peek() < 0 && move(Math.max(0, rowOf(selected()))),
      onscroll: () => draw(),
      onkeydown: (event: KeyboardEvent) => key(event),
      onclick: ({ target }: MouseEvent) => {
        const row = (target as Element).closest<HTMLElement>('[data-at]');
        if (row) choose(Number(row.dataset.at));
      },
    },
    inner,
  );
  const rowOf = (wanted: string | undefined) => rows().findIndex((row) => row.id === wanted);
  const page = () => Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
  const move = (to: number) => {
    const next = Math.min(Math.max(to, 0), rows().length - 1);
    at.set(next);
    const [top, bottom, before] = [next * ROW, (next + 1) * ROW, list.scrollTop];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    if (list.scrollTop !== before) draw();
    // A press gives the focus first: the row under the pointer must still be there when it's lifted.
    for (const row of inner.children) row.toggleAttribute('data-active', row.id === `${id}-${next}`);
  };
  const choose = (index: number) => {
    const row = rows()[index];
    if (!row) return;
    move(index);
    select(row.id);
  };
  const key = (event: KeyboardEvent) => {
    const here = at.peek();
    const to = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      PageDown: here + page(),
      PageUp: here - page(),
      Home: 0,
      End: rows().length - 1,
    }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (to !== undefined) move(to);
    else if (event.key === 'Enter' || event.key === ' ') choose(here);
    else return;
    event.preventDefault();
  };
  const draw = () =>
    untracked(() => {
      const all = rows();
      const from = Math.max(0, Math.floor(list.scrollTop / ROW) - BEYOND);
      const to = Math.min(all.length, Math.ceil((list.scrollTop + (list.clientHeight || 600)) / ROW) + BEYOND);
      inner.style.height = `${all.length * ROW}px`;
      inner.replaceChildren(
        ...all.slice(from, to).map((row, offset) => {
          const index = from + offset;
          const element = h(
            'div.shell-row',
            {
              role: 'option',
              id: `${id}-${index}`,
              'data-at': index,
              'data-active': index === at.peek(),
              'data-faint': row.faint,
              'aria-selected': String(row.id === selected()),
              'aria-setsize': all.length,
              'aria-posinset': index + 1,
            },
            h('span.shell-row-title', {}, row.title),
            h('span.shell-row-subtitle', {}, row.subtitle),
          );
          element.style.transform = `translateY(${index * ROW}px)`;
          return element;
        }),
      );
    });
  let known: readonly Row[] | undefined;
  effect(() => {
    const all = rows();
    const chosen = selected();
    untracked(() => {
      if (all !== known) at.set(all.findIndex((row) => row.id === chosen));
      known = all;
      draw();
    });
  });
  const observer = new ResizeObserver(() => draw());
  observer.observe(list);
  effect(() => () => observer.disconnect());
  return list;
}
