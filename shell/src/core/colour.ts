/** Colours as numbers, and contrast that keeps itself (WCAG 2.2). */

/** Red, green and blue from 0 to 255. */
export interface Rgb {
  r: number;
  g: number;
  b: number;
}

/** White. */
export const WHITE: Rgb = { r: 255, g: 255, b: 255 };
/** The dark ink used on light colours. */
export const INK: Rgb = { r: 16, g: 20, b: 28 };

/** Reads `#rrggbb`, with which browsers answer too when they're asked for a colour; anything else is `undefined`. */
export function fromHex(text: string): Rgb | undefined {
  const [, r, g, b] =
    /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text)?.map((part) => Number.parseInt(part, 16)) ?? [];
  return r === undefined || g === undefined || b === undefined ? undefined : { r, g, b };
}

/** Writes `#rrggbb`. */
export function toHex({ r, g, b }: Rgb): string {
  return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** Relative luminance from 0 to 1. */
export function luminance({ r, g, b }: Rgb): number {
  const linear = (part: number) => {
    const c = part / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Contrast ratio from 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [la, lb] = [luminance(a), luminance(b)];
  return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
}

/** A mixture; `share` of `b` from 0 to 1. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (x: number, y: number) => x + (y - x) * share;
  return { r: part(a.r, b.r), g: part(a.g, b.g), b: part(a.b, b.b) };
}

/** What reads on a colour with at least 4.5:1: white while it does, then dark ink, then black (one of them always does). */
export function textOn(background: Rgb): Rgb {
  if (contrast(WHITE, background) >= 4.5) return WHITE;
  return contrast(INK, background) >= 4.5 ? INK : { r: 0, g: 0, b: 0 };
}

/** The colour nearest to `colour` that has at least `ratio` against `background`. */
export function withContrast(colour: Rgb, background: Rgb, ratio: number): Rgb {
  const rounded = (value: Rgb): Rgb => ({ r: Math.round(value.r), g: Math.round(value.g), b: Math.round(value.b) });
  const towards = luminance(background) > 0.18 ? { r: 0, g: 0, b: 0 } : WHITE;
  for (let share = 0; share <= 1; share += 0.02) {
    const mixed = rounded(mix(colour, towards, share));
    if (contrast(mixed, background) >= ratio) return mixed;
  }
  return towards;
}
