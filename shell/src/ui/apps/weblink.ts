/**
 * The Web link app turns a web page into an app: a form makes a shortcut that carries address, name, colour and icon; the
 * window shows the page. A page may forbid being embedded, which no script can find out, so the window always offers to
 * open it in the browser.
 */
import { t } from '../../i18n.ts';
import type { AppDefinition, RenderContext } from '../../types.ts';
import type { Desk } from '../desk.ts';
import { h, newId } from '../dom.ts';
import { glyph } from '../glyphs.ts';
import type { MenuEntry } from '../menu.ts';
import { fileButton, readPicture } from '../pictures.ts';
import type { ShellWindow } from '../window.ts';

/** The app's id. */
export const WEBLINK_ID = 'shell.weblink';

interface WebLink {
  name: string;
  url: string;
  color: string;
  /** A data URL, or absent for the site's favicon. */
  icon?: string;
}

const MAX_ICON = 64 * 1024;
const ICON_SIZE = 96;
const DEFAULT_COLOUR = '#3b6fe0';

/** Checks a web address; only pages of the web may be linked. */
function webAddress(text: string): URL | undefined {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  try {
    const url = new URL(/^[a-z][a-z\d+.-]*:/i.test(trimmed) ? trimmed : `https://${trimmed}`);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}

function readLink(value: unknown): WebLink | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, url, color, icon } = value as Record<string, unknown>;
  const address = typeof url === 'string' ? webAddress(url) : undefined;
  if (!address) return undefined;
  const link: WebLink = {
    name: typeof name === 'string' && name ? name : address.hostname,
    url: address.href,
    color: typeof color === 'string' && color ? color : DEFAULT_COLOUR,
  };
  if (typeof icon === 'string' && icon.startsWith('data:image/')) link.icon = icon;
  return link;
}

function iconOf(link: WebLink): string {
  return link.icon ?? new URL('/favicon.ico', link.url).href;
}

/** The address a window shows, for "open in browser". */
export function webLinkUrl(win: ShellWindow): string | undefined {
  return readLink(win.state ?? win.intent)?.url;
}

const editors = new WeakMap<HTMLElement, () => void>();

/** The extra entry of a web link's window menu. */
export function webLinkEntries(_desk: Desk, win: ShellWindow): MenuEntry[] {
  const edit = win.app.id === WEBLINK_ID ? editors.get(win.element) : undefined;
  return edit && webLinkUrl(win) ? [{ title: t('weblink.edit'), icon: 'edit', run: edit }] : [];
}

/** The definition. */
export function webLinkApp(desk: Desk): AppDefinition {
  return {
    id: WEBLINK_ID,
    title: t('weblink.title'),
    icon: 'weblink.svg',
    accent: '#2f7fc1',
    width: 980,
    height: 680,
    render: (context) => renderWebLink(desk, context),
  };
}

function renderWebLink(desk: Desk, context: RenderContext): void {
  const win = desk.windows.get(context.windowId);
  if (!win) return;
  const link = readLink(context.link?.state ?? context.intent) ?? readLink(context.intent);
  if (link) showPage(desk, win, context, link);
  else showForm(desk, win, context, undefined);
}

function showPage(desk: Desk, win: ShellWindow, context: RenderContext, link: WebLink): void {
  editors.set(win.element, () => showForm(desk, win, context, link));
  context.setAppearance({ title: link.name, accent: link.color, icon: iconOf(link) });
  useFallbackIcon(link, () => context.setAppearance({ icon: 'weblink.svg' }));
  context.setState(link, link.name);
  const frame = h('div.shell-weblink-frame');
  const bar = h(
    'div.shell-weblink-bar',
    {},
    h('span.shell-weblink-address', {}, new URL(link.url).host),
    h('button.shell-button', { onclick: () => window.open(link.url, '_blank', 'noopener') }, glyph('external'), () =>
      t('window.openOutside'),
    ),
  );
  context.host.replaceChildren(h('div.shell-weblink', {}, bar, frame));
  desk.windows.content.frame(win, link.url, sandboxFor(link.url), undefined, frame);
}

/** A linked page is a stranger, even one of the own origin. */
function sandboxFor(url: string): string | undefined {
  return new URL(url).origin === location.origin ? 'allow-scripts allow-forms allow-popups allow-downloads' : undefined;
}

function useFallbackIcon(link: WebLink, fallback: () => void): void {
  if (link.icon) return;
  const probe = new Image();
  probe.onerror = fallback;
  probe.src = iconOf(link);
}

interface Fields {
  name: HTMLInputElement;
  url: HTMLInputElement;
  color: HTMLInputElement;
  icon: HTMLInputElement;
  error: HTMLElement;
}

function makeFields(old: WebLink | undefined): Fields {
  return {
    url: h('input.shell-input', {
      name: 'url',
      type: 'text',
      inputmode: 'url',
      value: old?.url ?? '',
      placeholder: 'https://',
      required: true,
      autocomplete: 'url',
    }),
    name: h('input.shell-input', { name: 'name', value: old?.name ?? '', maxlength: 60, autocomplete: 'off' }),
    color: h('input.shell-colour', { name: 'color', type: 'color', value: old?.color ?? DEFAULT_COLOUR }),
    icon: h('input', { name: 'icon', type: 'file', accept: 'image/*', title: '', 'aria-label': t('weblink.icon') }),
    error: h('p.shell-error', { role: 'alert', id: newId('shell-error') }),
  };
}

function iconRow(input: HTMLInputElement): HTMLElement {
  const chosen = h('span.shell-file-name');
  input.addEventListener('change', () => {
    chosen.textContent = input.files?.[0]?.name ?? '';
  });
  return h(
    'div.shell-form-row',
    {},
    h('span', { 'aria-hidden': 'true' }, t('weblink.icon')),
    fileButton(input, t('picture.choose'), chosen),
    h('span.shell-hint', {}, t('weblink.iconHint')),
  );
}

function showForm(desk: Desk, win: ShellWindow, context: RenderContext, old: WebLink | undefined): void {
  const fields = makeFields(old);
  const row = (label: string, input: HTMLElement, hint?: string) =>
    h('label.shell-form-row', {}, h('span', {}, label), input, hint && h('span.shell-hint', {}, hint));
  const form = h(
    'form.shell-form',
    {
      novalidate: true,
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        submit(desk, win, context, fields, old);
      },
    },
    h('h3.shell-settings-title', {}, old ? t('weblink.edit') : t('weblink.new')),
    row(t('weblink.address'), fields.url),
    row(t('word.name'), fields.name),
    row(t('weblink.colour'), fields.color),
    iconRow(fields.icon),
    h(
      'div.shell-dialog-buttons',
      {},
      old && h('button.shell-button', { onclick: () => showPage(desk, win, context, old) }, t('word.cancel')),
      h('button.shell-button', { type: 'submit', 'data-primary': true }, t('word.save')),
    ),
  );
  context.host.replaceChildren(h('div.shell-weblink-form', {}, form));
  queueMicrotask(() => fields.url.focus());
}

async function submit(
  desk: Desk,
  win: ShellWindow,
  context: RenderContext,
  fields: Fields,
  old: WebLink | undefined,
): Promise<void> {
  const fail = (text: string, field: HTMLInputElement) => {
    // Below its field, where the eyes and the focus are.
    field.closest('.shell-form-row')?.after(fields.error);
    fields.error.textContent = text;
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', fields.error.id);
    field.focus();
    fields.error.scrollIntoView({ block: 'nearest' });
  };
  fields.error.remove();
  for (const field of [fields.url, fields.icon]) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
  const url = webAddress(fields.url.value);
  if (!url) {
    fail(t('weblink.badAddress'), fields.url);
    return;
  }
  const link: WebLink = { name: fields.name.value.trim() || url.hostname, url: url.href, color: fields.color.value };
  const file = fields.icon.files?.[0];
  try {
    const icon = file
      ? await readPicture(file, ICON_SIZE, 'image/png', MAX_ICON)
      : old?.url === url.href
        ? old.icon
        : undefined;
    if (icon) link.icon = icon;
  } catch {
    fail(t('picture.bad'), fields.icon);
    return;
  }
  const looks = { title: link.name, accent: link.color, icon: iconOf(link), state: link };
  if (win.link && desk.shortcut(win.link)) desk.changeShortcut(win.link, looks);
  else win.link = desk.addShortcut(WEBLINK_ID, looks)?.id;
  useFallbackIcon(link, () => win.link && desk.changeShortcut(win.link, { icon: 'weblink.svg' }));
  desk.windows.changed();
  showPage(desk, win, context, link);
}
