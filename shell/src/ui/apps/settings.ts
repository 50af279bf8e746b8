/** The Settings app. */
import { PICTURE_LENGTH, SIDES, THEMES, fitting, type OwnPicture } from '../../core/profile.ts';
import { EFFECTS } from '../../core/validate.ts';
import { effect, scope } from '../../core/signal.ts';
import { keyLabel, localeName, locales, locale, t, type MessageKey } from '../../i18n.ts';
import type { AppDefinition, RenderContext } from '../../types.ts';
import { VERSION } from '../../version.ts';
import { isLocal } from '../../stores.ts';
import type { Desk } from '../desk.ts';
import { h, newId, walkTabs, type Child } from '../dom.ts';
import { glyph, type GlyphName } from '../glyphs.ts';
import { SHORTCUTS } from '../keys.ts';
import { wallpapers } from '../look.ts';
import { fileButton, readPicture } from '../pictures.ts';

/** A page of Settings; search finds it by title and words. */
export interface Section {
  id: string;
  title: MessageKey;
  words: MessageKey;
  icon: GlyphName;
}

/** The pages. */
export const SECTIONS: readonly Section[] = [
  { id: 'appearance', title: 'settings.appearance', words: 'settings.appearanceWords', icon: 'palette' },
  { id: 'taskbar', title: 'settings.taskbar', words: 'settings.taskbarWords', icon: 'taskbar' },
  { id: 'language', title: 'settings.language', words: 'settings.languageWords', icon: 'language' },
  { id: 'keyboard', title: 'settings.keyboard', words: 'settings.keyboardWords', icon: 'keyboard' },
  { id: 'about', title: 'settings.about', words: 'settings.aboutWords', icon: 'info' },
];

const COLOURS = ['#3b6fe0', '#0f8a8a', '#2e8b57', '#b7791f', '#d1495b', '#a23fb0', '#6b5bd2', '#4a5568'];

/** The longest side of an own wallpaper. */
const PICTURE_PX = 1920;

/** The definition. */
export function settingsApp(desk: Desk): AppDefinition {
  return {
    id: 'shell.settings',
    title: t('settings.title'),
    icon: 'settings.svg',
    accent: '#5b6472',
    width: 820,
    height: 580,
    singleInstance: true,
    render: (context) => renderSettings(desk, context),
  };
}

function sectionOf(intent: unknown): string | undefined {
  const wanted = (intent as { section?: unknown } | undefined)?.section;
  return SECTIONS.find((section) => section.id === wanted)?.id;
}

function renderSettings(desk: Desk, context: RenderContext): void {
  const [, dispose] = scope(() => {
    const pages = new Map<string, HTMLElement>();
    const tabs = new Map<string, HTMLElement>();
    const select = (id: string, focus = false) => {
      for (const section of SECTIONS) {
        const on = section.id === id;
        tabs.get(section.id)?.setAttribute('aria-selected', String(on));
        tabs.get(section.id)?.setAttribute('tabindex', on ? '0' : '-1');
        const page = pages.get(section.id);
        if (page) page.hidden = !on;
      }
      if (focus) tabs.get(id)?.focus();
      context.setState({ section: id });
    };
    const list = h('div.shell-tabs', {
      role: 'tablist',
      'aria-orientation': 'vertical',
      'aria-label': () => t('settings.title'),
      onkeydown: (event: KeyboardEvent) => walkTabs(event),
    });
    const main = h('div.shell-settings-main');
    for (const section of SECTIONS) {
      const [tabId, pageId] = [`${context.windowId}-tab-${section.id}`, `${context.windowId}-page-${section.id}`];
      const tab = h(
        'button.shell-tab',
        {
          role: 'tab',
          id: tabId,
          'data-section': section.id,
          'aria-controls': pageId,
          onclick: () => select(section.id),
        },
        glyph(section.icon),
        h('span', {}, () => t(section.title)),
      );
      const page = h(
        'section.shell-settings-page',
        { role: 'tabpanel', id: pageId, 'aria-labelledby': tabId, tabindex: 0 },
        h('h3.shell-settings-title', {}, () => t(section.title)),
        pageContent(desk, section.id),
      );
      tabs.set(section.id, tab);
      pages.set(section.id, page);
      list.append(tab);
      main.append(page);
    }
    context.host.append(h('div.shell-settings', {}, list, main));
    select(sectionOf(context.intent) ?? 'appearance');
    context.onIntent((intent) => {
      const id = sectionOf(intent);
      if (id) select(id, true);
    });
    effect(() => context.setTitle(t('settings.title')));
  });
  context.onClose(dispose);
}

function pageContent(desk: Desk, id: string): Child {
  if (id === 'appearance') return appearance(desk);
  if (id === 'taskbar') return taskbar(desk);
  if (id === 'language') return language(desk);
  return id === 'keyboard' ? keyboard() : about(desk);
}

/** A group of radio buttons drawn as a row of choices; each setting has a group of its own. */
function choices<T extends string>(
  setting: string,
  label: () => string,
  values: () => readonly { value: T; title: string; preview?: (element: HTMLElement) => void }[],
  current: () => T,
  choose: (value: T) => void,
  kind = setting,
): HTMLElement {
  // A page has one window of settings; browsers keep a record of every name that a group ever had.
  const name = `shell-choice-${setting}`;
  const row = h('div.shell-choices', { 'data-kind': kind });
  effect(() => {
    const focused = (document.activeElement as HTMLInputElement | null)?.name === name;
    row.replaceChildren(
      ...values().map(({ value, title, preview }) => {
        const face = h('span.shell-choice-face', { 'aria-hidden': 'true' });
        preview?.(face);
        const input = h('input', {
          type: 'radio',
          name,
          value,
          checked: value === current(),
          onchange: () => choose(value),
        });
        return h('label.shell-choice', { title }, input, face, h('span.shell-choice-title', {}, title));
      }),
    );
    if (focused) row.querySelector<HTMLInputElement>('input:checked')?.focus();
  });
  return h('fieldset.shell-field', {}, h('legend', {}, label), row);
}

function appearance(desk: Desk): Child[] {
  const theme = choices(
    'theme',
    () => t('settings.theme'),
    () =>
      THEMES.map((value) => ({
        value,
        title: t(`theme.${value}`),
        preview: (face: HTMLElement) => {
          face.dataset.theme = value;
        },
      })),
    () => desk.setting('theme'),
    (value) => desk.choose({ theme: value }),
  );
  const wallpaper = choices(
    'wallpaper',
    () => t('settings.wallpaper'),
    () =>
      wallpapers(desk).map((one) => ({
        value: one.id,
        title: one.title,
        preview: (face: HTMLElement) => {
          face.style.background = one.background;
        },
      })),
    () => desk.setting('wallpaper'),
    (value) => desk.choose({ wallpaper: value }),
  );
  wallpaper.append(ownPictures(desk));
  const colour = choices(
    'colour',
    () => t('settings.colour'),
    () =>
      COLOURS.map((value, index) => ({
        value,
        title: t('settings.colourNumber', { number: index + 1 }),
        preview: (face: HTMLElement) => {
          face.style.background = value;
        },
      })),
    () => desk.setting('systemColor'),
    (value) => desk.choose({ systemColor: value }),
  );
  const own: HTMLInputElement = h('input.shell-colour', {
    type: 'color',
    'aria-label': () => t('settings.ownColour'),
    title: () => t('settings.ownColour'),
    value: () => desk.setting('systemColor'),
    oninput: () => desk.choose({ systemColor: own.value }),
  });
  colour.append(
    h(
      'label.shell-own-colour',
      {},
      own,
      h('span', {}, () => t('settings.ownColour')),
    ),
  );
  const effects = choices(
    'effect',
    () => t('settings.effect'),
    () => EFFECTS.map((value) => ({ value: value as string, title: t(`effect.${value}`) })),
    () => desk.setting('effect'),
    (value) => desk.choose({ effect: value }),
    'text',
  );
  return [theme, wallpaper, colour, effects, h('p.shell-hint', {}, () => t('settings.effectHint'))];
}

/** Adds a picture to the wallpapers, and removes the chosen one. */
function ownPictures(desk: Desk): HTMLElement {
  const use = (picture: OwnPicture) => {
    const { profileStore } = desk.runtime.options.peek();
    // A server's profile must fit into what a page may send while it goes.
    const full = profileStore && !isLocal(profileStore) ? 1 : undefined;
    desk.choose({ wallpaper: picture.id, pictures: fitting([picture, ...desk.setting('pictures')], full) });
  };
  const chosen = () => desk.setting('pictures').findIndex((one) => one.id === desk.setting('wallpaper'));
  const file: HTMLInputElement = h('input', {
    type: 'file',
    accept: 'image/*',
    title: '',
    onchange: async () => {
      const [picture] = file.files ?? [];
      if (!picture) return;
      try {
        use({ id: newId('picture'), image: await readPicture(picture, PICTURE_PX, 'image/jpeg', PICTURE_LENGTH) });
      } catch {
        desk.toasts.show(t('picture.bad'), 'warning');
      }
      // The same file may be chosen again.
      file.value = '';
    },
  });
  const remove = () => {
    const at = chosen();
    const all = desk.setting('pictures');
    const gone = all[at];
    if (!gone) return;
    file.focus();
    desk.chosen.update(({ wallpaper: _gone, ...rest }) => ({ ...rest, pictures: all.filter((one) => one !== gone) }));
    desk.toasts.show(t('shortcut.removed', { title: t('picture.own', { number: at + 1 }) }), 'info', {
      title: t('word.undo'),
      run: () => use(gone),
    });
  };
  return h(
    'div.shell-own-pictures',
    {},
    fileButton(file, () => t('picture.choose')),
    h('button.shell-button', { hidden: () => chosen() < 0, onclick: remove }, () => t('picture.remove')),
  );
}

function taskbar(desk: Desk): Child[] {
  const position = choices(
    'side',
    () => t('settings.position'),
    () =>
      SIDES.map((value) => ({
        value,
        title: t(`position.${value}`),
        preview: (face: HTMLElement) => {
          face.dataset.side = value;
        },
      })),
    () => desk.setting('taskbarPosition'),
    (value) => desk.choose({ taskbarPosition: value }),
  );
  const hide: HTMLInputElement = h('input', {
    type: 'checkbox',
    role: 'switch',
    checked: () => desk.setting('taskbarAutoHide'),
    onchange: () => desk.choose({ taskbarAutoHide: hide.checked }),
  });
  return [
    position,
    h(
      'label.shell-switch',
      {},
      hide,
      h('span', {}, () => t('settings.autoHide')),
    ),
    h('p.shell-hint', { hidden: () => !desk.compact() }, () => t('settings.taskbarSmall')),
  ];
}

function language(desk: Desk): Child[] {
  const field = choices(
    'language',
    () => t('settings.language'),
    () => [
      { value: '', title: t('theme.auto') },
      ...locales().map((code) => ({ value: code, title: localeName(code) })),
    ],
    () => desk.chosen().locale ?? '',
    (value) => desk.choose({ locale: value }),
    'text',
  );
  return [field, h('p.shell-hint', {}, () => t('settings.languageHint', { language: localeName(locale()) }))];
}

function keyboard(): Child {
  return h(
    'table.shell-keys',
    {},
    h(
      'tbody',
      {},
      SHORTCUTS.map(([key, keys]) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, () => t(key)),
          h(
            'td',
            {},
            h('kbd', {}, () => keyLabel(keys)),
          ),
        ),
      ),
    ),
  );
}

function about(desk: Desk): Child {
  const brand = () => desk.runtime.options().brand ?? {};
  const logo = h('span.shell-about-logo');
  effect(() => {
    const source = brand().logo;
    logo.replaceChildren(source ? h('img', { src: desk.runtime.iconUrl(source), alt: '' }) : glyph('start'));
  });
  return h(
    'div.shell-about',
    {},
    logo,
    h('p.shell-about-title', {}, () => brand().title ?? 'Svc Shell'),
    h('p.shell-hint', { hidden: () => !brand().version }, () => t('about.version', { version: brand().version ?? '' })),
    h('p', { hidden: () => !brand().description }, () => brand().description),
    h('p.shell-hint', {}, () => t('about.shell', { version: VERSION })),
  );
}
