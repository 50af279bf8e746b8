/** Which window lies above which: a list from bottom to top, and the rules that change it. */

/** Puts `id` on top. */
export function raise(order: readonly string[], id: string): string[] {
  return [...order.filter((other) => other !== id), id];
}

/** Takes `id` out. */
export function remove(order: readonly string[], id: string): string[] {
  return order.filter((other) => other !== id);
}

/** The topmost window that satisfies `usable`: the one that gets the focus when the active one goes. */
export function topmost(order: readonly string[], usable: (id: string) => boolean): string | undefined {
  return order.findLast(usable);
}

/** The window that comes after `active` when the user steps through them, in the given direction. */
export function next(order: readonly string[], active: string | undefined, step: 1 | -1): string | undefined {
  if (order.length === 0) return undefined;
  const at = active === undefined ? -1 : order.indexOf(active);
  // Stepping forward goes to the least recently used window, so that repeated steps visit every one.
  const index = at < 0 ? (step === 1 ? 0 : order.length - 1) : (at + step + order.length) % order.length;
  return order[index];
}
