/** Tiles: the picture of an app, shortcut or folder, wherever one is shown. */
import { toHex, WHITE } from '../core/colour.ts';
import type { Folder, Shortcut, WebtopItem } from '../core/profile.ts';
import { effect } from '../core/signal.ts';
import { t } from '../i18n.ts';
import type { AppDefinition } from '../types.ts';
import type { Desk } from './desk.ts';
import { h } from './dom.ts';
import { plateColour } from './window.ts';

/**
 * Draws an icon on its plate: glyphs of the icon folder on the accent, pictures on white. A `lazy` one is fetched when it comes into
 * sight; Firefox holds one that goes in that very moment, with all around it, until it tells of another lazy picture.
 */
export function plate(desk: Desk, icon: string, accent: string | undefined, loading?: 'lazy'): HTMLElement {
  const isFile = desk.runtime.isIconFile(icon);
  const element = h(
    'span.shell-plate',
    { 'data-picture': !isFile, part: 'plate' },
    h('img', { src: desk.runtime.iconUrl(icon), alt: '', draggable: 'false', loading }),
  );
  const colour = plateColour(accent) ?? (isFile ? undefined : WHITE);
  if (colour) element.style.setProperty('--shell-plate', toHex(colour));
  return element;
}

/** The plate of an app in a list that may be longer than what is in sight, with the shortcut's own looks. */
export function appPlate(desk: Desk, app: AppDefinition, shortcut?: Shortcut): HTMLElement {
  return plate(desk, shortcut?.icon ?? app.icon, shortcut?.accent ?? app.accent, 'lazy');
}

/** Up to four small icons on a sheet of glass. */
export function folderPlate(desk: Desk, folder: Folder): HTMLElement {
  const minis = [...folder.items]
    .sort((a, b) => a.cell - b.cell)
    .map((shortcut) => {
      const app = desk.usableApp(shortcut.appId);
      return app && appPlate(desk, app, shortcut);
    })
    .filter((mini) => mini !== undefined)
    .slice(0, 4);
  return h('span.shell-plate.shell-plate-folder', {}, minis);
}

/** A badge that follows `setBadge`; empty ones aren't shown. */
export function badge(desk: Desk, appIds: () => readonly string[]): HTMLElement {
  const element = h('span.shell-badge', { hidden: true, part: 'badge' });
  effect(() => {
    const badges = desk.runtime.badges();
    const texts = [...new Set(appIds())].map((id) => badges.get(id)).filter((text) => text !== undefined);
    const numbers = texts.map(Number);
    const text =
      texts.length > 1 && numbers.every((value) => Number.isFinite(value))
        ? String(numbers.reduce((sum, value) => sum + value, 0))
        : (texts[0] ?? '');
    element.hidden = text === '';
    element.textContent = text;
  });
  return element;
}

/** What an item is called. */
export function itemTitle(desk: Desk, item: WebtopItem): string {
  if (item.kind === 'folder') return item.title || t('folder.untitled');
  return item.title ?? desk.runtime.apps().get(item.appId)?.title ?? item.appId;
}
