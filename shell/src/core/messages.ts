/** Which of the known languages answers a list of wishes. */

/** The first wish that is known exactly or by its language alone. */
export function resolveLocale(wishes: readonly string[], known: readonly string[]): string | undefined {
  for (const wish of wishes) {
    const exact = known.find((code) => code.toLowerCase() === wish.toLowerCase());
    if (exact) return exact;
    const language = wish.split('-')[0]?.toLowerCase();
    const related = known.find((code) => code.toLowerCase() === language);
    if (related) return related;
  }
  return undefined;
}
