/** What decides which records somebody sees, as people write it: a value a line, behind its name (`regions = north`). */

export type Claims = Readonly<Record<string, readonly string[]>>;

export function writeClaims(claims: Claims): string {
  return Object.entries(claims)
    .flatMap(([name, values]) => (values.length === 0 ? `${name} =` : values.map((value) => `${name} = ${value}`)))
    .join('\n');
}

/** Reads what was written; where a line says no name, that line. A name without a value is held with none. */
export function readClaims(written: string): { readonly claims: Claims } | { readonly wrong: string } {
  const claims = new Map<string, string[]>();
  for (const line of written.split('\n').map((one) => one.trim())) {
    if (line === '') continue;
    const end = line.indexOf('=');
    const name = line.slice(0, Math.max(end, 0)).trim();
    if (name === '') return { wrong: line };
    const value = line.slice(end + 1).trim();
    const values = claims.get(name) ?? [];
    claims.set(name, value === '' || values.includes(value) ? values : [...values, value]);
  }
  return { claims: Object.fromEntries(claims) };
}
