/** Wallpaper, colours, taskbar side, brand: what settings mean on screen. */
import { mix, textOn, toHex, withContrast, WHITE, type Rgb } from '../core/colour.ts';
import { WALLPAPERS, backgroundOf, coloursOf, inkFor, inkOf, isDarkInk, type WallpaperId } from '../core/wallpapers.ts';
import { effect, onDispose, signal } from '../core/signal.ts';
import { t } from '../i18n.ts';
import type { Wallpaper } from '../types.ts';
import type { Desk } from './desk.ts';
import { parseColour } from './colour.ts';
import { animate, h, listen } from './dom.ts';

/** Where text in the accent colour reads worst: on a notice, under the pointer. */
const LIGHT_SURFACE: Rgb = { r: 232, g: 234, b: 237 };
const DARK_SURFACE: Rgb = { r: 53, g: 55, b: 63 };
/** A picture is looked at in this many points each way. */
const INK_SAMPLES = 16;

/** A picture as background; an address can't break out of the quotes. */
function picture(url: string): string {
  return `center / cover no-repeat url("${url.replace(/["\\\n]/g, encodeURIComponent)}")`;
}

/** A wallpaper as shown. */
export interface ShownWallpaper {
  id: string;
  title: string;
  background: string;
  /** The ink that its maker wants; else it's found by the colours. */
  foreground: string | undefined;
  /** A picture's address: its ink is found by looking at it. */
  image: string | undefined;
}

/** All wallpapers: the product's own, the person's, those that ship. */
export function wallpapers(desk: Desk): ShownWallpaper[] {
  const brought = desk
    .setting('pictures')
    .map((one, index) => ({ ...one, title: t('picture.own', { number: index + 1 }) }));
  const own = [...(desk.runtime.options().wallpapers ?? []), ...brought].map((one: Wallpaper) => {
    const image = one.image && desk.runtime.iconUrl(one.image);
    const background = one.background ?? picture(image ?? '');
    return { id: one.id, title: one.title, background, foreground: one.foreground, image };
  });
  const shipped = (Object.keys(WALLPAPERS) as WallpaperId[]).map((id) => ({
    id,
    title: t(`wallpaper.${id}`),
    background: backgroundOf(id, desk.dark()),
    foreground: toHex(inkOf(id, desk.dark())),
    image: undefined,
  }));
  return [...own, ...shipped.filter((one) => !own.some((other) => other.id === one.id))];
}

/** The mean colour of a picture; none when its server doesn't let pages look at it. */
async function coloursOfPicture(url: string): Promise<Rgb[]> {
  const image = new Image();
  image.crossOrigin = 'anonymous';
  image.src = url;
  try {
    await image.decode();
    const canvas = h('canvas', { width: INK_SAMPLES, height: INK_SAMPLES });
    const context = canvas.getContext('2d');
    if (!context) return [];
    context.drawImage(image, 0, 0, INK_SAMPLES, INK_SAMPLES);
    const { data } = context.getImageData(0, 0, INK_SAMPLES, INK_SAMPLES);
    let [r, g, b] = [0, 0, 0];
    const pixels = data.length / 4;
    for (let at = 0; at < data.length; at += 4) {
      r += (data[at] ?? 0) / pixels;
      g += (data[at + 1] ?? 0) / pixels;
      b += (data[at + 2] ?? 0) / pixels;
    }
    return [{ r, g, b }];
  } catch {
    return [];
  }
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
  onDispose(listen(system, 'change', () => prefersDark.set(system.matches)));
  for (const query of [small, portrait]) onDispose(listen(query, 'change', measure));
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

/** Names, snow and folders on the wallpaper take its ink. */
function useInk(desk: Desk, written: string | undefined, ink: Rgb): void {
  desk.root.style.setProperty('--shell-on-wallpaper', written ?? toHex(ink));
  desk.root.toggleAttribute('data-light-wallpaper', isDarkInk(ink));
}

function paintWallpaper(desk: Desk, backdrop: HTMLElement): void {
  const all = wallpapers(desk);
  const wanted = desk.setting('wallpaper');
  const shown = all.find((one) => one.id === wanted) ?? all.find((one) => one.id === 'fjord') ?? all[0];
  if (!shown) return;
  desk.root.style.setProperty('--shell-wallpaper', shown.background);
  const own = shown.foreground && parseColour(shown.foreground);
  useInk(desk, shown.foreground, own || inkFor(coloursOf(shown.background, parseColour)));
  if (shown.image && !shown.foreground) {
    coloursOfPicture(shown.image).then((colours) => {
      if (desk.root.style.getPropertyValue('--shell-wallpaper') === shown.background)
        useInk(desk, undefined, inkFor(colours));
    });
  }
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
