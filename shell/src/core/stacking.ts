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
