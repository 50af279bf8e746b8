/** How elements look, as a browser lays them out and paints them: read in the page. */
import type { Page } from 'playwright-core';
import { WITHIN, type Seen } from './looks-text.ts';

/** A part: what it's called, and where its elements are. */
export type Place = readonly [part: string, selector: string];

/** What is in sight within the places, with where it stands. */
export async function looksOf(page: Page, places: readonly Place[]): Promise<Seen[]> {
  await page.evaluate(readers, WITHIN);
  return page.evaluate((all) => {
    const { see } = globalThis as unknown as Readers;
    return all.flatMap(([part, selector]) => see(part, document.querySelector(selector)));
  }, places);
}

/** How one element looks, under a name of its own. */
export async function lookOf(page: Page, part: string, selector: string, state: string): Promise<Seen> {
  await page.evaluate(readers, WITHIN);
  return page.evaluate(
    ([part, selector, state]) => {
      const { nameOf, paint } = globalThis as unknown as Readers;
      const element = document.querySelector(selector);
      if (!element) throw new Error(`there is no ${selector}`);
      return { part, name: `${nameOf(element)}${state}`, facts: paint(element, getComputedStyle(element)) };
    },
    [part, selector, state] as const,
  );
}

interface Readers {
  see(part: string, root: Element | null): Seen[];
  nameOf(element: Element): string;
  paint(element: Element, style: CSSStyleDeclaration): Record<string, string>;
}

/** Runs in the page, which then has what reads it. */
function readers(WITHIN: string): void {
  const page = globalThis as unknown as Readers & { probe?: HTMLElement };
  if (page.probe) return;
  const probe = document.createElement('i');
  document.body.append(probe);
  page.probe = probe;
  const plainColours = new Map<string, string>();

  /** A colour as its light in red, green and blue, whichever way a style says it. */
  const plainColour = (colour: string): string => {
    const known = plainColours.get(colour);
    if (known !== undefined) return known;
    probe.style.color = `color-mix(in srgb, ${colour}, ${colour})`;
    const [red = 0, green = 0, blue = 0, opaque = 1] = (
      getComputedStyle(probe).color.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []
    ).map(Number);
    const hex = [red, green, blue].map((light) =>
      Math.round(Math.min(1, Math.max(0, light)) * 255)
        .toString(16)
        .padStart(2, '0'),
    );
    const plain = opaque === 0 ? 'clear' : `#${hex.join('')}${opaque < 1 ? ` ${Math.round(opaque * 100)}%` : ''}`;
    plainColours.set(colour, plain);
    return plain;
  };
  const coloured = (value: string) =>
    value.replaceAll(/(?:rgba?|hsla?|lab|lch|oklab|oklch|color)\([^()]*\)/g, (colour) => plainColour(colour));

  const round = (pixels: number) => Math.round(pixels * 10) / 10;
  const pixels = (size: string) => (size.endsWith('px') ? String(round(Number.parseFloat(size))) : size);

  const classesOf = (element: Element) => [...element.classList].map((name) => `.${name}`).join('');
  const nameOf = (element: Element): string => {
    const { look, tone, open } = (element as HTMLElement).dataset;
    const states = ['aria-pressed', 'aria-selected', 'aria-invalid', 'aria-checked'].filter(
      (state) => element.getAttribute(state) === 'true',
    );
    const said = [look ?? tone ?? open, ...states, element.matches(':disabled') ? 'disabled' : undefined];
    return `${element.localName}${classesOf(element)}${said.map((one) => (one ? `[${one}]` : '')).join('')}`;
  };

  /** What children have from their parent: said where it is another. */
  const inherited: [string, string][] = [
    ['color', 'color'],
    ['accent', 'accent-color'],
    ['size', 'font-size'],
    ['weight', 'font-weight'],
    ['slant', 'font-style'],
    ['numbers', 'font-variant-numeric'],
    ['align', 'text-align'],
  ];
  /** What each element has of its own: said where it isn't as usual. */
  const own: [string, string, RegExp][] = [
    ['background', 'background-color', /^clear$/],
    ['picture', 'background-image', /^none$/],
    ['shadow', 'box-shadow', /^none$/],
    ['radius', 'border-radius', /^0px$/],
    ['opacity', 'opacity', /^1$/],
    ['line', 'text-decoration-line', /^none$/],
  ];

  const paint = (
    element: Element,
    style: CSSStyleDeclaration,
    around?: CSSStyleDeclaration,
  ): Record<string, string> => {
    const facts: Record<string, string> = {};
    const family = (one: CSSStyleDeclaration) => one.fontFamily.split(',')[0]?.replaceAll(/["']/g, '') ?? '';
    const isTicked = element.matches('[type=checkbox], [type=radio]');
    for (const [name, property] of inherited) {
      // What holds no words is drawn by the browser.
      if (isTicked && name !== 'accent') continue;
      const value = style.getPropertyValue(property);
      if (value !== around?.getPropertyValue(property)) facts[name] = coloured(value);
    }
    if (!isTicked && (!around || family(style) !== family(around))) facts.face = family(style);
    for (const [name, property, usual] of own) {
      const value = coloured(style.getPropertyValue(property));
      if (!usual.test(value) && !(isTicked && name === 'background')) facts[name] = value;
    }
    const edges = ['top', 'right', 'bottom', 'left'].map((side) => {
      const [width, line, colour] = ['width', 'style', 'color'].map((what) =>
        style.getPropertyValue(`border-${side}-${what}`),
      );
      return line === 'none' || width === '0px' ? '0' : `${width} ${line} ${plainColour(colour ?? '')}`;
    });
    const isEven = edges.every((edge) => edge === edges[0]);
    if (edges.some((edge) => edge !== '0')) facts.border = isEven ? String(edges[0]) : edges.join(', ');
    if (style.outlineStyle !== 'none') {
      facts.outline = `${style.outlineWidth} ${style.outlineStyle} ${plainColour(style.outlineColor)} ${style.outlineOffset}`;
    }
    if (element instanceof SVGElement) {
      for (const name of ['fill', 'stroke'] as const) {
        // Most are drawn in the colour of words.
        const isUsual = style[name] === 'none' || style[name] === style.color || style[name] === around?.[name];
        if (!isUsual) facts[name] = coloured(style[name]);
      }
    }
    return facts;
  };

  /** What a picture is made of, as a number that another one doesn't have. */
  const drawn = (picture: Element): string => {
    let sum = 0x811c9dc5;
    for (const letter of picture.innerHTML.replaceAll(/<!--.*?-->/g, '')) {
      sum = Math.imul(sum ^ letter.charCodeAt(0), 0x01000193) >>> 0;
    }
    return sum.toString(16).padStart(8, '0');
  };

  const see = (part: string, root: Element | null): Seen[] => {
    if (!root) return [];
    const found: Seen[] = [];
    const counts = new Map<string, number>();
    /** Names hold the way to the element. */
    const add = (around: string, name: string, facts: Record<string, string>): string => {
      const path = around ? `${around}${WITHIN}${name}` : name;
      const count = (counts.get(path) ?? 0) + 1;
      counts.set(path, count);
      const whole = count > 1 ? `${path} (${count})` : path;
      found.push({ part, name: whole, facts });
      return whole;
    };
    const addBeside = (element: Element, name: string) => {
      for (const side of ['::before', '::after', '::backdrop']) {
        const style = getComputedStyle(element, side);
        const isBackdrop = side === '::backdrop';
        const isThere = isBackdrop ? element.matches(':modal, :popover-open') : !/^(none|normal)$/.test(style.content);
        if (!isThere) continue;
        const size = isBackdrop ? {} : { at: `${pixels(style.width)}×${pixels(style.height)}`, says: style.content };
        add(name, side, { ...size, ...paint(element, style, getComputedStyle(element)) });
      }
    };
    const visit = (element: Element, around: Element | undefined, path: string, clip: DOMRect) => {
      if (!element.checkVisibility() || element.matches('.shell-sr, option, script, style')) return;
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      const isSeen = box.width > 0 && box.height > 0;
      if (
        isSeen &&
        (box.right <= clip.left || box.left >= clip.right || box.bottom <= clip.top || box.top >= clip.bottom)
      )
        return;
      const isPlainShape =
        element instanceof SVGElement && element.localName !== 'svg' && element.classList.length === 0;
      const isIcon = element.matches('svg.svc-icon');
      let name = path;
      if (isSeen && !isPlainShape) {
        const from = around?.getBoundingClientRect();
        const place = from ? `${round(box.left - from.left)},${round(box.top - from.top)} ` : '';
        name = add(path, nameOf(element), {
          at: `${place}${round(box.width)}×${round(box.height)}`,
          ...paint(element, style, around && getComputedStyle(around)),
          ...(isIcon ? { drawn: drawn(element) } : {}),
        });
        addBeside(element, name);
      }
      if (isIcon) return;
      const isClipping = isSeen && style.overflowX !== 'visible';
      for (const child of element.children)
        visit(child, name === path ? around : element, name, isClipping ? box : clip);
    };
    visit(root, undefined, '', new DOMRect(-1e6, -1e6, 2e6, 2e6));
    return found;
  };
  Object.assign(page, { see, nameOf, paint });
}
