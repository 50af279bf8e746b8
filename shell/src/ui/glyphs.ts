/** The shell's own line drawings; `styles/glyphs.css` has what they look like. */
import { h, type Props } from './dom.ts';

/** Names of the drawings. */
export type GlyphName =
  | 'start'
  | 'search'
  | 'pilot'
  | 'plus'
  | 'close'
  | 'chevronLeft'
  | 'chevronRight'
  | 'chevronUp'
  | 'check'
  | 'more'
  | 'settings'
  | 'docs'
  | 'user'
  | 'signIn'
  | 'signOut'
  | 'shortcut'
  | 'duplicate'
  | 'external'
  | 'edit'
  | 'trash'
  | 'move'
  | 'resize'
  | 'folder'
  | 'pin'
  | 'bell'
  | 'home'
  | 'webtop'
  | 'open'
  | 'retry'
  | 'alert'
  | 'info'
  | 'palette'
  | 'image'
  | 'taskbar'
  | 'language'
  | 'keyboard'
  | 'sparkle'
  | 'minimize'
  | 'maximize'
  | 'restore'
  | 'snap';

/** Shows one; it's decoration, the control around it carries the name. */
export function glyph(name: GlyphName): HTMLElement {
  return h('span.shell-glyph', { 'data-glyph': name, 'aria-hidden': 'true' });
}

/** A small button that closes or takes away something. */
export function closeButton(label: string | (() => string), onclick: () => void, more: Props = {}): HTMLButtonElement {
  return h('button.shell-icon-button', { 'aria-label': label, onclick, ...more }, glyph('close'));
}
