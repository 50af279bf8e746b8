/** Short notices that go by themselves; those with an action or a warning stay longer, and stay while looked at. */
import { t } from '../i18n.ts';
import { giveFocus, h, takeOut } from './dom.ts';
import { closeButton, glyph } from './glyphs.ts';

/** How serious a notice is, or that an app tells it. */
export type ToastKind = 'info' | 'warning' | 'notice';

/** The most that are shown at a time. */
const MOST = 4;

/** Shows notices. */
export class Toasts {
  readonly #giveBack: () => void;
  readonly element = h('div.shell-toasts', {
    role: 'log',
    'aria-live': 'polite',
    'aria-label': () => t('notices.title'),
  });

  /** `giveBack` takes the focus of a notice that goes, when where it came from is gone, too. */
  constructor(giveBack: () => void) {
    this.#giveBack = giveBack;
  }

  /** Shows a notice; the result removes it. The same text isn't shown twice at a time; what precedes a line break is its title. */
  show(text: string, kind: ToastKind = 'info', action?: { title: string; run(): void }): () => void {
    for (const old of this.element.children) if (old.getAttribute('data-text') === text) old.remove();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let cameFrom: EventTarget | null = null;
    const [line, ...more] = text.split('\n');
    const toast = h(
      'div.shell-toast',
      { 'data-kind': kind, 'data-text': text, part: 'toast' },
      glyph(kind === 'warning' ? 'alert' : 'info'),
      h('span.shell-toast-text', {}, more.length > 0 ? [h('b', {}, line), '\n', more.join(' ')] : text),
      action &&
        h(
          'button.shell-toast-action',
          {
            onclick: () => {
              close();
              action.run();
            },
          },
          action.title,
        ),
      closeButton(t('word.close'), () => close()),
    );
    const close = () => {
      clearTimeout(timer);
      const hadFocus = toast.contains(document.activeElement);
      takeOut(toast);
      if (hadFocus && !giveFocus(cameFrom)) this.#giveBack();
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(close, kind === 'warning' || action ? 10_000 : 5_000);
    };
    toast.addEventListener('pointerenter', () => clearTimeout(timer));
    toast.addEventListener('pointerleave', wait);
    toast.addEventListener('focusin', ({ relatedTarget }) => {
      clearTimeout(timer);
      if (!(relatedTarget instanceof Node && toast.contains(relatedTarget))) cameFrom = relatedTarget;
    });
    toast.addEventListener('focusout', wait);
    this.element.append(toast);
    // Whoever tells much covers no more of the desktop for it.
    if (this.element.childElementCount > MOST) this.element.firstElementChild?.remove();
    wait();
    return close;
  }
}
