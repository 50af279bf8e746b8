/**
 * Panels on a phone: a sheet from below in place of a panel beside its button, where the thumb is and nothing is squeezed. It stands above the
 * keyboard, which some browsers lay over the page.
 */

/** As wide as a phone; what is wider has room beside a button. */
const PHONE = '(max-width: 560px)';

/** Whether panels are sheets just now. */
export function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

/** A keyboard is higher than this; less is what browsers make of a page that isn't quite as high as the screen. */
const LEAST_KEYBOARD = 80;

/** What of the page the keyboard covers, from below, in pixels. */
function covered(): number {
  const seen = visualViewport;
  const below = seen ? innerHeight - seen.height - seen.offsetTop : 0;
  return below > LEAST_KEYBOARD ? below : 0;
}

/** Puts a panel at the foot of the page, and keeps it above the keyboard. Returns the undo. */
export function sheet(panel: HTMLElement): () => void {
  const place = () => {
    panel.style.bottom = `${covered()}px`;
    panel.style.maxHeight = `${Math.round((visualViewport?.height ?? innerHeight) * 0.85)}px`;
  };
  panel.dataset.sheet = '';
  for (const side of ['left', 'top'] as const) panel.style[side] = '';
  place();
  visualViewport?.addEventListener('resize', place);
  visualViewport?.addEventListener('scroll', place);
  return () => {
    visualViewport?.removeEventListener('resize', place);
    visualViewport?.removeEventListener('scroll', place);
    delete panel.dataset.sheet;
    panel.style.bottom = '';
    panel.style.maxHeight = '';
  };
}
