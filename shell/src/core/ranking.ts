/** How well a text answers what somebody typed. */

/** Lower case without accents, so that `muller` finds `Müller`. */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase()
    .trim();
}

/** The score of a word that begins like the query. */
export const WORD_START = 75;

/** A score from 0 (no match) to 100 (equal): equal, prefix, word start, initials, inside, letters in order. */
export function rank(query: string, text: string): number {
  const wanted = fold(query);
  const given = fold(text);
  if (!wanted || !given) return 0;
  if (given === wanted) return 100;
  if (given.startsWith(wanted)) return 90 - Math.min(10, given.length - wanted.length) / 2;
  const words = given.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (words.some((word) => word.startsWith(wanted))) return WORD_START;
  const typed = wanted.split(/\s+/);
  if (typed.length > 1 && typed.every((part) => words.some((word) => word.startsWith(part)))) return 70;
  if (
    words.length > 1 &&
    words
      .map((word) => word[0])
      .join('')
      .startsWith(wanted)
  )
    return 60;
  if (given.includes(wanted)) return 50;
  return lettersInOrder(wanted, given) ? 20 : 0;
}

function lettersInOrder(wanted: string, given: string): boolean {
  // Short queries would match nearly everything this way.
  if (wanted.length < 3) return false;
  let at = -1;
  for (const letter of wanted) {
    at = given.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The best score among several texts; later ones count for less. */
export function rankAny(query: string, texts: readonly (string | undefined)[]): number {
  return texts.reduce((best, text, index) => Math.max(best, text ? rank(query, text) * 0.9 ** index : 0), 0);
}
