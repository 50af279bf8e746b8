/** The wallpapers that ship, and the ink that reads on a wallpaper. */
import { INK, WHITE, contrast, luminance, type Rgb } from './colour.ts';

/** Themes in which a wallpaper wants dark ink. */
type DarkInk = 'never' | 'light' | 'always';

/** Wallpapers that ship, whose looks are in `styles/wallpapers.css`. */
export const WALLPAPERS = {
  fjord: 'never',
  dawn: 'never',
  meadow: 'light',
  nebula: 'never',
  dune: 'light',
  slate: 'never',
  paper: 'always',
} as const satisfies Record<string, DarkInk>;

/** The id of a wallpaper that ships. */
export type WallpaperId = keyof typeof WALLPAPERS;

/** What a wallpaper that ships looks like, as a CSS background. */
export function backgroundOf(id: WallpaperId, dark: boolean): string {
  const name = `--shell-wallpaper-${id}`;
  return dark ? `var(${name}-dark, var(${name}))` : `var(${name})`;
}

/** The ink that reads on it. */
export function inkOf(id: WallpaperId, dark: boolean): Rgb {
  const wanted: DarkInk = WALLPAPERS[id];
  return wanted === 'always' || (wanted === 'light' && !dark) ? INK : WHITE;
}

/** The colours that a CSS background names, each as often as it stands there. */
export function coloursOf(background: string, parse: (text: string) => Rgb | undefined): Rgb[] {
  const found = background.match(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|hwb|ok|la|lc)\w*\([^)]*\)/gi) ?? [];
  return found.map(parse).filter((colour) => colour !== undefined);
}

/** White or dark, whichever reads better where it reads worst. */
export function inkFor(colours: readonly Rgb[]): Rgb {
  const worst = (ink: Rgb) => Math.min(...colours.map((colour) => contrast(ink, colour)));
  return colours.length > 0 && worst(INK) > worst(WHITE) ? INK : WHITE;
}

/** Whether an ink is a dark one, which wants a light halo. */
export function isDarkInk(ink: Rgb): boolean {
  return luminance(ink) < 0.18;
}
