/** The wallpapers that ship, and the ink that reads on a wallpaper. */
import { INK, WHITE, contrast, luminance, parseColour, type Rgb } from './colour.ts';
import type { MessageKey } from './messages-en.ts';

/** A wallpaper that ships: gradients only, so it's sharp at any size and costs nothing to load. */
export interface BuiltInWallpaper {
  id: string;
  title: MessageKey;
  background: string;
  /** In a dark theme. */
  dark?: string;
}

/** Wallpapers that ship: gradients only, so they're sharp at any size and cost nothing to load. */
export const WALLPAPERS: readonly BuiltInWallpaper[] = [
  {
    id: 'fjord',
    title: 'wallpaper.fjord',
    background:
      'radial-gradient(120% 90% at 12% 8%, #5f88cf 0%, transparent 55%), radial-gradient(90% 80% at 88% 18%, #8271c4 0%, transparent 60%), radial-gradient(120% 110% at 70% 105%, #235fa3 0%, transparent 62%), radial-gradient(90% 90% at 8% 100%, #1f7f8e 0%, transparent 58%), linear-gradient(160deg, #527fc8, #3f69b0)',
    dark: 'radial-gradient(110% 90% at 12% 6%, #27406e 0%, transparent 55%), radial-gradient(90% 80% at 90% 14%, #3d2f6b 0%, transparent 60%), radial-gradient(120% 110% at 72% 108%, #14486f 0%, transparent 60%), radial-gradient(90% 90% at 6% 102%, #0f4d57 0%, transparent 58%), linear-gradient(160deg, #16233f, #0c1526)',
  },
  {
    id: 'dawn',
    title: 'wallpaper.dawn',
    background:
      'radial-gradient(100% 80% at 78% 88%, #c9733f 0%, transparent 60%), radial-gradient(90% 90% at 18% 100%, #c2506b 0%, transparent 60%), radial-gradient(120% 90% at 50% 0%, #4d56ad 0%, transparent 70%), linear-gradient(180deg, #5a5db4, #ad5c7c 70%, #c4754a)',
    dark: 'radial-gradient(100% 80% at 78% 92%, #8a4a34 0%, transparent 58%), radial-gradient(90% 90% at 18% 104%, #6d2a45 0%, transparent 60%), linear-gradient(180deg, #171a3d, #3b2149 60%, #5a2b3d)',
  },
  {
    id: 'meadow',
    title: 'wallpaper.meadow',
    background:
      'radial-gradient(110% 90% at 85% 10%, #e4f4c2 0%, transparent 55%), radial-gradient(120% 100% at 10% 95%, #74bfa3 0%, transparent 60%), radial-gradient(90% 80% at 90% 100%, #93c98f 0%, transparent 62%), linear-gradient(150deg, #b9e0bd, #86c3a5)',
    dark: 'radial-gradient(110% 90% at 85% 6%, #2c4a33 0%, transparent 55%), radial-gradient(120% 100% at 10% 98%, #0c4033 0%, transparent 60%), linear-gradient(150deg, #16332a, #0b1c18)',
  },
  {
    id: 'nebula',
    title: 'wallpaper.nebula',
    background:
      'radial-gradient(70% 70% at 22% 26%, #7b3fb8 0%, transparent 62%), radial-gradient(80% 70% at 80% 72%, #1f5fb0 0%, transparent 60%), radial-gradient(50% 50% at 66% 22%, #b1437f 0%, transparent 60%), linear-gradient(140deg, #1c1440, #0d1233)',
  },
  {
    id: 'dune',
    title: 'wallpaper.dune',
    background:
      'radial-gradient(120% 80% at 20% 0%, #f8e6cc 0%, transparent 60%), radial-gradient(140% 90% at 90% 105%, #d49a76 0%, transparent 60%), radial-gradient(100% 80% at 0% 100%, #dfb084 0%, transparent 62%), linear-gradient(170deg, #efd3ae, #d7a581)',
    dark: 'radial-gradient(120% 80% at 20% -5%, #54402c 0%, transparent 60%), radial-gradient(140% 90% at 90% 108%, #4a2317 0%, transparent 60%), linear-gradient(170deg, #2e2218, #1a110c)',
  },
  {
    id: 'slate',
    title: 'wallpaper.slate',
    background:
      'radial-gradient(100% 90% at 15% 0%, #6d7b90 0%, transparent 60%), radial-gradient(120% 100% at 95% 100%, #2c3442 0%, transparent 65%), linear-gradient(150deg, #566275, #384150)',
    dark: 'radial-gradient(100% 90% at 15% 0%, #2b323d 0%, transparent 60%), radial-gradient(120% 100% at 95% 100%, #0b0d11 0%, transparent 65%), linear-gradient(150deg, #1c2129, #101318)',
  },
  {
    id: 'paper',
    title: 'wallpaper.paper',
    background:
      'radial-gradient(90% 80% at 10% 10%, #ffffff 0%, transparent 60%), radial-gradient(90% 90% at 95% 90%, #dfe6f2 0%, transparent 60%), radial-gradient(60% 60% at 80% 10%, #f5e9e4 0%, transparent 60%), linear-gradient(160deg, #f4f6fa, #e6ebf3)',
  },
];

/** The colours that a CSS background names, each as often as it stands there. */
export function coloursOf(background: string): Rgb[] {
  const found = background.match(/#[0-9a-f]{3,8}\b|(?:rgb|hsl)a?\([^)]*\)/gi) ?? [];
  return found.map(parseColour).filter((colour) => colour !== undefined);
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
