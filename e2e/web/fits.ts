/** Whether a page fits its screen: nothing stands beyond the edge, and no words are cut off where nothing shows the rest of them. */
import type { Page } from 'playwright-core';

/** What doesn't fit, by what it says. */
export async function misfits(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const says = (element: Element) =>
      `${element.localName}${[...element.classList].map((name) => `.${name}`).join('')} “${(element.textContent ?? '').trim().replaceAll(/\s+/g, ' ').slice(0, 60)}”`;
    const wide = document.documentElement.scrollWidth - innerWidth;
    if (wide > 0) found.push(`the page is ${wide} px wider than the screen`);
    /** What lies in an area that scrolls sideways can be reached. */
    const isScrolled = (element: Element): boolean => {
      for (let around = element.parentElement; around; around = around.parentElement) {
        if (/auto|scroll/.test(getComputedStyle(around).overflowX) && around.scrollWidth > around.clientWidth)
          return true;
      }
      return false;
    };
    const hasWords = (element: Element) =>
      [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
    // What is always to be read whole; elsewhere dots tell that there is more.
    const isWhole = (element: Element) =>
      element.closest('button, h1, h2, h3, [role=tab], label, legend, dt, th, [role=columnheader], .svc-badge') !==
      null;
    for (const element of document.querySelectorAll('.shell-root *, dialog *')) {
      if (
        !element.checkVisibility({ visibilityProperty: true }) ||
        element.closest('.shell-sr, option, svg, .shell-wallpaper')
      )
        continue;
      if (!hasWords(element) && !element.matches('button, input, select, textarea')) continue;
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0 || style.clipPath !== 'none') continue;
      if ((box.right > innerWidth + 1 || box.left < -1) && !isScrolled(element)) {
        found.push(`beyond the edge, from ${Math.round(box.left)} to ${Math.round(box.right)}: ${says(element)}`);
      }
      if (element.matches('input, textarea, select')) continue;
      if (style.overflowX !== 'hidden' && style.overflowX !== 'clip') continue;
      // Where the words are; what takes a finger beside them may be larger.
      const words = document.createRange();
      words.selectNodeContents(element);
      const { right, bottom } = words.getBoundingClientRect();
      if (right > box.right + 1 && (style.textOverflow !== 'ellipsis' || isWhole(element))) {
        found.push(`cut by ${Math.round(right - box.right)} px: ${says(element)}`);
      }
      // Where only so many lines are shown, dots tell of more.
      const isClamped = style.webkitLineClamp !== 'none';
      if (bottom > box.bottom + 2 && !isClamped) {
        found.push(`cut by ${Math.round(bottom - box.bottom)} px in height: ${says(element)}`);
      }
    }
    return [...new Set(found)];
  });
}
