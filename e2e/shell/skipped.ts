/** Scenarios that an engine can't be asked to play, each with the reason; the rest of it is played. */
import type { Engine } from './browser.ts';

const AXE = 'judges the document, which is the same in every engine';
const CHROMIUM_TOOLS = 'measures with Chromium’s own tools';
const MEDIA = 'the driver can’t ask for it';
const PEN = 'the driver has no pen yet';
const POLICY = 'needs a page without its policy, which the driver can’t give';

const judged = ['light', 'dark', 'phone'].flatMap((look) =>
  ['desktop, start, search, menu', 'windows, settings, web link', 'pilot, folder, preview, dialog'].map(
    (parts) => [`axe: ${parts} (${look})`, AXE] as const,
  ),
);

const login = ['light', 'dark', 'phone'].map((look) => [`axe: login, users and roles (${look})`, AXE] as const);

/** By engine: the scenario's name, and why it's left out. */
export const SKIPPED: Record<Engine, Readonly<Record<string, string>>> = {
  chromium: {},
  firefox: {
    ...Object.fromEntries([...judged, ...login]),
    'people: two on one machine never get each other’s profile, neither from the browser nor on the server':
      'reads what the page sends, which the driver doesn’t tell',
    'drag: with 50 windows open a move lays nothing out, restyles one window and sorts no layers': CHROMIUM_TOOLS,
    'leak: a thousand windows leave nothing behind': CHROMIUM_TOOLS,
    'leak: the desktop’s own apps, panels and menus leave nothing behind': CHROMIUM_TOOLS,
    'phone: a finger leaves no hover behind': CHROMIUM_TOOLS,
    'drag: edges and corners snap, with a pen': PEN,
    'drag: a pen carries a shortcut': PEN,
    'web link: the site’s icon when it has one, the app’s when not': POLICY,
    'request: the token stays with its own server; an own transport replaces it all': POLICY,
    'httpProfileStore: 204 is a first start, changes are PUT, and come back on another machine':
      'reads what the page sends, which the driver doesn’t tell',
    'forced colours: edges, marks, choices and focus stay visible': MEDIA,
    'prefers-contrast: nothing shines through (light)': MEDIA,
    'prefers-contrast: nothing shines through (dark)': MEDIA,
    'prefers-reduced-transparency: nothing shines through (light)': MEDIA,
    'prefers-reduced-transparency: nothing shines through (dark)': MEDIA,
  },
};
