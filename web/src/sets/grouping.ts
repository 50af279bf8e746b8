/** What belongs together in a record and in a form, where an application says so. */
import type { Property } from '../core/model.ts';
import { find } from '../text.ts';
import type { Look } from './context.ts';

/** Properties under a title; those that nobody has put together have none. */
export interface PropertyGroup {
  readonly title: string | undefined;
  readonly properties: readonly Property[];
}

/** Puts properties together: each group in its order, and the others behind them. */
export function grouped({ groups = [] }: Look, properties: readonly Property[]): PropertyGroup[] {
  const left = new Map(properties.map((property) => [property.name, property]));
  const put = groups.map(({ title, properties: names }) => {
    const found = names.flatMap((name) => left.get(name) ?? []);
    for (const { name } of found) left.delete(name);
    return { title: find(title) ?? title, properties: found };
  });
  return [...put, { title: undefined, properties: [...left.values()] }].filter((group) => group.properties.length > 0);
}
