/** What is pressed on a phone is at least as large as a finger: by itself, or by the room around it that takes a press for it. */
import type { Page } from 'playwright-core';

/** Pixels; the half is for what is laid out between two of them. */
const FINGER = 43.5;

/** What is in sight and smaller, by what it says and its size. */
export async function smallTargets(page: Page): Promise<string[]> {
  const pressed = 'button, a.svc-button, select, summary, [role=tab], input:not([type=file])';
  return page.locator(`:is(${pressed}):visible`).evaluateAll((all, finger) => {
    const isTicked = (one: Element) => one.matches('[type=checkbox], [type=radio]');
    const found = all.flatMap((one) => {
      const takes = isTicked(one) ? (one.closest('label, [role=gridcell], td') ?? one) : one;
      const box = takes.getBoundingClientRect();
      const around = getComputedStyle(one, '::after');
      const beside = around.content === '""' && around.position === 'absolute' ? Number.parseFloat(around.height) : 0;
      const height = Math.max(box.height, beside);
      // Words in a line may be narrow.
      const isNarrow = box.width < finger && beside === 0;
      if (box.height === 0 || (height >= finger && !isNarrow)) return [];
      const said = one.getAttribute('aria-label') ?? one.textContent ?? '';
      return [`${said.trim()}: ${Math.round(box.width)} × ${Math.round(height)}`];
    });
    return [...new Set(found)];
  }, FINGER);
}
