/** Wallpaper, colours, taskbar side, brand: what settings mean on screen. */
import { mix, parseColour, textOn, toHex, withContrast, WHITE, type Rgb } from '../core/colour.ts';
import { effect, signal } from '../core/signal.ts';
import { t, type MessageKey } from '../i18n.ts';
import type { Wallpaper } from '../types.ts';
import type { Desk } from './desk.ts';
import { animate, h, listen } from './dom.ts';

const LIGHT_SURFACE: Rgb = { r: 250, g: 250, b: 252 };
const DARK_SURFACE: Rgb = { r: 32, g: 34, b: 41 };

interface BuiltInWallpaper extends Omit<Wallpaper, 'title'> {
  title: MessageKey;
  dark?: string;
}

/** Wallpapers that ship: gradients only, so they're sharp at any size and cost nothing to load. */
const WALLPAPERS: readonly BuiltInWallpaper[] = [
  {
    id: 'fjord',
    title: 'wallpaper.fjord',
    background:
      'radial-gradient(120% 90% at 12% 8%, #8db2ee 0%, transparent 55%), radial-gradient(90% 80% at 88% 18%, #a592de 0%, transparent 60%), radial-gradient(120% 110% at 70% 105%, #2f6fb5 0%, transparent 62%), radial-gradient(90% 90% at 8% 100%, #2b8c9b 0%, transparent 58%), linear-gradient(160deg, #6e98dd, #4f79bf)',
    dark: 'radial-gradient(110% 90% at 12% 6%, #27406e 0%, transparent 55%), radial-gradient(90% 80% at 90% 14%, #3d2f6b 0%, transparent 60%), radial-gradient(120% 110% at 72% 108%, #14486f 0%, transparent 60%), radial-gradient(90% 90% at 6% 102%, #0f4d57 0%, transparent 58%), linear-gradient(160deg, #16233f, #0c1526)',
  },
  {
    id: 'dawn',
    title: 'wallpaper.dawn',
    background:
      'radial-gradient(100% 80% at 78% 88%, #ffb27a 0%, transparent 60%), radial-gradient(90% 90% at 18% 100%, #f2788f 0%, transparent 60%), radial-gradient(120% 90% at 50% 0%, #5a63b8 0%, transparent 70%), linear-gradient(180deg, #6a6cc0, #d9829a 70%, #f4a97e)',
    dark: 'radial-gradient(100% 80% at 78% 92%, #8a4a34 0%, transparent 58%), radial-gradient(90% 90% at 18% 104%, #6d2a45 0%, transparent 60%), linear-gradient(180deg, #171a3d, #3b2149 60%, #5a2b3d)',
  },
  {
    id: 'meadow',
    title: 'wallpaper.meadow',
    background:
      'radial-gradient(110% 90% at 85% 10%, #d9efb0 0%, transparent 55%), radial-gradient(120% 100% at 10% 95%, #1f7a63 0%, transparent 60%), radial-gradient(90% 80% at 90% 100%, #4f9c52 0%, transparent 62%), linear-gradient(150deg, #9fd3a8, #4b9a7a)',
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
      'radial-gradient(120% 80% at 20% 0%, #f6dfc0 0%, transparent 60%), radial-gradient(140% 90% at 90% 105%, #a9603f 0%, transparent 60%), radial-gradient(100% 80% at 0% 100%, #c98a57 0%, transparent 62%), linear-gradient(170deg, #e9c79c, #bd7f58)',
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
    foreground: '#1c2430',
    background:
      'radial-gradient(90% 80% at 10% 10%, #ffffff 0%, transparent 60%), radial-gradient(90% 90% at 95% 90%, #dfe6f2 0%, transparent 60%), radial-gradient(60% 60% at 80% 10%, #f5e9e4 0%, transparent 60%), linear-gradient(160deg, #f4f6fa, #e6ebf3)',
  },
];

/** A picture as background; an address can't break out of the quotes. */
function picture(url: string): string {
  return `center / cover no-repeat url("${url.replace(/["\\\n]/g, encodeURIComponent)}")`;
}

/** A wallpaper as shown. */
export interface ShownWallpaper {
  id: string;
  title: string;
  background: string;
  foreground: string;
}

/** All wallpapers, the product's own first. */
export function wallpapers(desk: Desk): ShownWallpaper[] {
  const own = (desk.runtime.options().wallpapers ?? []).map((one) => ({
    id: one.id,
    title: one.title,
    background: one.background ?? picture(desk.runtime.iconUrl(one.image ?? '')),
    foreground: one.foreground ?? '#ffffff',
  }));
  const shipped = WALLPAPERS.map((one) => ({
    id: one.id,
    title: t(one.title),
    background: (desk.dark() && one.dark) || one.background || '',
    foreground: one.foreground ?? '#ffffff',
  }));
  return [...own, ...shipped.filter((one) => !own.some((other) => other.id === one.id))];
}

/** Keeps the root's look true to the settings. */
export function connectLook(desk: Desk): void {
  const { root, backdrop } = desk;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const prefersDark = signal(system.matches);
  const small = matchMedia('(max-width: 640px), (max-height: 460px) and (pointer: coarse)');
  const portrait = matchMedia('(orientation: portrait)');
  const measure = () => {
    desk.compact.set(small.matches);
    desk.upright.set(small.matches && portrait.matches);
  };
  measure();
  const ends = [
    listen(system, 'change', () => prefersDark.set(system.matches)),
    listen(small, 'change', measure),
    listen(portrait, 'change', measure),
  ];
  effect(() => {
    const theme = desk.setting('theme');
    const dark = theme === 'dark' || (theme === 'auto' && prefersDark());
    desk.dark.set(dark);
    root.dataset.theme = dark ? 'dark' : 'light';
  });
  effect(() => {
    root.toggleAttribute('data-compact', desk.compact());
    root.toggleAttribute('data-upright', desk.upright());
  });
  effect(() => {
    root.dataset.taskbar = desk.compact() ? 'bottom' : desk.setting('taskbarPosition');
    root.toggleAttribute('data-autohide', desk.setting('taskbarAutoHide') && !desk.compact());
  });
  effect(() => paintColours(root, desk.setting('systemColor')));
  const sheets = h('div.shell-wallpapers');
  backdrop.append(sheets);
  effect(() => paintWallpaper(desk, sheets));
  effect(() => () => {
    for (const end of ends) end();
  });
}

/** Derives readable colours from the one the person chose. */
function paintColours(root: HTMLElement, chosen: string): void {
  const colour = parseColour(chosen) ?? { r: 59, g: 111, b: 224 };
  const set = (name: string, value: Rgb) => root.style.setProperty(name, toHex(value));
  set('--shell-accent', colour);
  set('--shell-accent-text', textOn(colour));
  // Text and marks in the accent colour on either kind of surface.
  set('--shell-accent-on-light', withContrast(colour, LIGHT_SURFACE, 4.5));
  set('--shell-accent-on-dark', withContrast(colour, DARK_SURFACE, 4.5));
  // The plate behind white glyphs.
  const plate = withContrast(colour, WHITE, 3);
  set('--shell-system-plate', plate);
  set('--shell-system-plate-deep', mix(plate, { r: 0, g: 0, b: 0 }, 0.18));
}

function paintWallpaper(desk: Desk, backdrop: HTMLElement): void {
  const all = wallpapers(desk);
  const wanted = desk.setting('wallpaper');
  const shown = all.find((one) => one.id === wanted) ?? all.find((one) => one.id === 'fjord') ?? all[0];
  if (!shown) return;
  desk.root.style.setProperty('--shell-on-wallpaper', shown.foreground);
  desk.root.style.setProperty('--shell-wallpaper', shown.background);
  const foreground = parseColour(shown.foreground);
  desk.root.toggleAttribute('data-light-wallpaper', foreground !== undefined && textOn(foreground) === WHITE);
  const old = backdrop.lastElementChild;
  if (old instanceof HTMLElement && old.dataset.background === shown.background) return;
  const sheet = h('div.shell-wallpaper', { 'data-background': shown.background });
  sheet.style.background = shown.background;
  backdrop.append(sheet);
  const seen = old && !desk.root.hasAttribute('data-starting');
  animate(sheet, [{ opacity: 0 }, { opacity: 1 }], seen ? 400 : 0, 'linear').then(() => {
    while (backdrop.firstElementChild && backdrop.firstElementChild !== backdrop.lastElementChild)
      backdrop.firstElementChild.remove();
  });
}

/** The image bottom right. */
export function cornerLogo(desk: Desk): HTMLElement {
  const image = h('img.shell-corner', { alt: '', hidden: true, part: 'corner-logo', draggable: 'false' });
  effect(() => {
    const brand = desk.runtime.options().brand ?? {};
    const source = brand.cornerLogo === false ? undefined : (brand.cornerLogo ?? brand.logo);
    image.hidden = !source;
    if (source) image.src = desk.runtime.iconUrl(source);
  });
  return image;
}
