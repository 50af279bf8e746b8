/** Steps that the back button takes back, of all that changes what a page shows. */

type State = Readonly<Record<string, unknown>>;

/**
 * Whether somebody went somewhere. What is typed or dragged isn't a step, by the names of its parts: going back through single
 * letters would be no way back.
 */
export function isStep(before: unknown, after: unknown, quiet: readonly string[]): boolean {
  const rest = (state: unknown) =>
    JSON.stringify(
      Object.entries((state ?? {}) as State)
        .filter(([name]) => !quiet.includes(name))
        .sort(([one], [other]) => one.localeCompare(other)),
    );
  return rest(before) !== rest(after);
}
