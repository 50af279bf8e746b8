/** Words for names that nobody has put into words: `reorderLevel` becomes "Reorder level". */

/** A name in camel case as words, in sentence case. */
export function humanise(name: string): string {
  const words = name
    .replaceAll(/[_\-.]+/g, ' ')
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .trim()
    .split(/\s+/)
    .map((word) => (/^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase()));
  const sentence = words.join(' ');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** What a property that holds a key is called: `categoryId` leads to the "Category". */
export function withoutId(name: string): string {
  return name.length > 2 && /[a-z]Id$/.test(name) ? name.slice(0, -2) : name;
}

/** One of `count` things, always the same for a name. */
export function pick(name: string, count: number): number {
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash % count;
}
