/**
 * Records are found from everywhere, by the search of the desktop.
 *
 * A server with the search over everything is asked once, and its hits are shown as they come. Where it has none (a 404 without a
 * code of the search), each set is asked on its own, and the server isn't asked for the other again.
 */
import { Shell, type SearchHit } from '@svc/shell';
import { asProblem, isAborted } from '../client/request.ts';
import { searchAll } from '../client/search.ts';
import { few } from '../client/sets.ts';
import { canSearch } from '../core/search.ts';
import { findOptions } from '../core/find.ts';
import type { EntitySet } from '../core/model.ts';
import { appIdOf, may, type SetHost } from '../sets/context.ts';
import { setName, text } from '../text.ts';

/** Hits of one set. */
const MOST_HITS = 5;
/** A server that is busy says when to come again; so long at most. */
const LONGEST_PAUSE_S = 3;

function hit(set: EntitySet, key: string, title: string, more: Pick<SearchHit, 'subtitle' | 'score'>): SearchHit {
  return {
    id: `${set.name} ${key}`,
    title,
    group: setName(set.name),
    ...more,
    appId: appIdOf(set.name),
    intent: { r: key },
  };
}

/** The way to all hits of a set, behind those that are shown. */
function rest(set: EntitySet, query: string): SearchHit {
  return {
    id: `${set.name} more`,
    title: text('search-rest', { name: setName(set.name) }),
    group: setName(set.name),
    score: 0,
    appId: appIdOf(set.name),
    intent: { q: query },
  };
}

async function* everything(host: SetHost, query: string, signal: AbortSignal): AsyncGenerator<SearchHit> {
  for await (const line of searchAll(query, MOST_HITS, signal)) {
    const name = line.type === 'hit' ? line.found.set : line.type === 'done' ? line.set : undefined;
    const set = name === undefined ? undefined : host.model.get(name);
    if (!set) continue;
    if (line.type === 'hit') {
      const { key, title, excerpt, score } = line.found;
      yield hit(set, key, title, { score, ...(excerpt === undefined ? {} : { subtitle: excerpt }) });
    } else if (line.type === 'done' && line.hasMore && set.searchable) yield rest(set, query);
  }
}

async function ofSet(set: EntitySet, query: string, signal: AbortSignal): Promise<SearchHit[]> {
  try {
    const { rows } = await few(set.name, findOptions(set, query), MOST_HITS, signal);
    return rows.map((row) => hit(set, String(row[set.key]), String(row[set.title] ?? row[set.key]), {}));
  } catch (error) {
    // The other sets are found all the same.
    if (!isAborted(error)) reportError(error);
    return [];
  }
}

/** Each set on its own, the quickest first. */
async function* setBySet(host: SetHost, query: string, signal: AbortSignal): AsyncGenerator<SearchHit> {
  const sets = [...host.model.values()].filter((set) => set.searchable && may(host, set.read));
  const asked = new Map(
    sets.map((set) => [set.name, ofSet(set, query, signal).then((hits) => ({ name: set.name, hits }))]),
  );
  while (asked.size > 0) {
    const { name, hits } = await Promise.race(asked.values());
    asked.delete(name);
    yield* hits;
  }
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, seconds * 1_000);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Lets the desktop find records. */
export function registerSearch(host: SetHost): void {
  let isThere = true;
  async function* search(query: string, signal: AbortSignal, isAgain = false): AsyncGenerator<SearchHit> {
    if (!canSearch(query)) return;
    if (!isThere) return yield* setBySet(host, query, signal);
    try {
      yield* everything(host, query, signal);
    } catch (error) {
      if (signal.aborted) return;
      const problem = asProblem(error);
      if (problem.isGone && !problem.code.startsWith('search.')) {
        isThere = false;
        yield* setBySet(host, query, signal);
      } else if (problem.status === 429 && !isAgain) {
        await pause(Math.min(problem.retryAfter ?? 1, LONGEST_PAUSE_S), signal);
        yield* search(query, signal, true);
      } else throw problem;
    }
  }
  Shell.registerSearchProvider({
    id: 'records',
    title: text('search-records'),
    search: (query, { signal }) => search(query, signal),
  });
}
