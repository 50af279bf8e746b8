/** The shell's own line drawings, on a 24 pixel grid with a stroke of the text's colour. */

const GLYPHS = {
  start: 'M5 5h6v6H5zM13 5h6v6h-6zM5 13h6v6H5zM13 13h6v6h-6z',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20 20',
  pilot: 'M4 5h7v6H4zM13 5h7v9h-7zM4 13h7v6H4zM13 16h7v3h-7z',
  plus: 'M12 5v14M5 12h14',
  close: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  chevronLeft: 'M14.5 6 8.5 12l6 6',
  chevronRight: 'M9.5 6l6 6-6 6',
  chevronUp: 'M6 14.5l6-6 6 6',
  check: 'M5 12.5 10 17.5 19 7',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  settings:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM19 12a7 7 0 0 0-.1-1.2l2-1.6-2-3.4-2.4 1a7 7 0 0 0-2-1.2L14 3h-4l-.4 2.6a7 7 0 0 0-2 1.2l-2.5-1-2 3.4 2 1.6A7 7 0 0 0 5 12c0 .4 0 .8.1 1.2l-2 1.6 2 3.4 2.4-1a7 7 0 0 0 2 1.2L10 21h4l.4-2.6a7 7 0 0 0 2-1.2l2.5 1 2-3.4-2-1.6c.1-.4.1-.8.1-1.2z',
  docs: 'M6 4h9l4 4v12H6zM14 4v5h5M9 13h7M9 16.5h5',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
  shortcut: 'M7 4h10v16l-5-3.5L7 20z',
  duplicate: 'M9 9h10v10H9zM5 15V5h10',
  external: 'M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 11v5M13.5 11v5',
  move: 'M12 4v16M4 12h16M9.5 6.5 12 4l2.5 2.5M9.5 17.5 12 20l2.5-2.5M6.5 9.5 4 12l2.5 2.5M17.5 9.5 20 12l-2.5 2.5',
  resize: 'M14 5h5v5M10 19H5v-5M19 5l-6.5 6.5M5 19l6.5-6.5',
  folder:
    'M4 7.5A1.5 1.5 0 0 1 5.5 6H10l2 2.5h6.5A1.5 1.5 0 0 1 20 10v7.5a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 17.5z',
  pin: 'M9 4h6l-.8 6 3.3 3v1.5H6.5V13l3.3-3zM12 14.5V20',
  bell: 'M6 16.5V11a6 6 0 1 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4',
  home: 'M4 11.5 12 5l8 6.5M6.5 10v9h11v-9',
  webtop: 'M4 5h16v11H4zM9 20h6M12 16v4',
  open: 'M8 5l9 7-9 7z',
  retry: 'M19 12a7 7 0 1 1-2-5M19 4v4h-4',
  alert: 'M12 4 2.5 20h19zM12 10v5M12 17.5h.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01',
  palette:
    'M12 20.5a8.5 8.5 0 1 1 8.5-8.5c0 2.5-1.8 3.5-3.5 3.5h-2c-1.2 0-1.8 1-1.4 2 .5 1.5 0 3-1.6 3zM8 11h.01M11 7.5h.01M15.5 8.5h.01',
  image: 'M4 5h16v14H4zM4 16l4.5-4.5 3.5 3.5 3-3 5 4.5M15.5 9h.01',
  taskbar: 'M4 5h16v14H4zM4 15h16M7 17h.01M10 17h.01',
  language: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3.5 12h17M12 3c-5 5.5-5 12.5 0 18M12 3c5 5.5 5 12.5 0 18',
  keyboard: 'M3 7h18v10H3zM6.5 10.5h.01M10 10.5h.01M14 10.5h.01M17.5 10.5h.01M8 14h8',
  sparkle: 'M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8zM19 17v3M17.5 18.5h3',
  minimize: 'M6 13h12',
  maximize: 'M6 6h12v12H6z',
  restore: 'M6 9h9v9H6zM9 9V6h9v9h-3',
  snap: 'M4 5h16v14H4zM12 5v14',
} as const;

/** Names of the drawings. */
export type GlyphName = keyof typeof GLYPHS;

const NS = 'http://www.w3.org/2000/svg';

/** Draws one; it's decoration, the control around it carries the name. */
export function glyph(name: GlyphName): SVGSVGElement {
  const svg = document.createElementNS(NS, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'shell-glyph');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(NS, 'path');
  path.setAttribute('d', GLYPHS[name]);
  svg.appendChild(path);
  return svg;
}
