/** Looks again and again, while somebody can see it. */

/** Calls `look` every `ms` while the page and the element are in sight, one call at a time. Returns the undo. */
export function watch(element: HTMLElement, ms: number, look: () => Promise<void>): () => void {
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking || document.hidden || !element.checkVisibility()) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  }, ms);
  return () => clearInterval(timer);
}
