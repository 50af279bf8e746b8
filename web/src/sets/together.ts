/** Stores a record together with its lines, as a whole or not at all. */
import { RefusedChange, together } from '../client/sets.ts';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { recordPath } from '../core/query.ts';
import type { SvcLines } from './lines.ts';

/**
 * Stores what was changed of a record and of its lines; gives back what takes all of it back, and nothing where a line was refused,
 * which says so itself. Rejects with a `Problem`, or with a `RefusedChange` where the record was refused or somebody was first.
 */
export async function storeTogether(
  set: EntitySet,
  row: Row,
  changes: Row,
  lists: readonly SvcLines[],
): Promise<(() => Promise<void>) | undefined> {
  const path = recordPath(set, String(row[set.key]));
  const isChanged = Object.keys(changes).length > 0;
  const own = isChanged ? [{ method: 'PATCH' as const, path, body: changes, etag: row['@odata.etag'] }] : [];
  const lines = lists.flatMap(({ requests }) => requests);
  try {
    const answers = await together([...own, ...lines.map(({ change }) => change)]);
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, row[name]]));
    const ownBack = own.map((one) => ({ ...one, body: before, etag: answers[0]?.['@odata.etag'] }));
    const back = lines.flatMap((line, place) => line.undo(answers[own.length + place]) ?? []);
    return async () => {
      await together([...ownBack, ...back.toReversed()]);
    };
  } catch (error) {
    const line = error instanceof RefusedChange ? lines[error.place - own.length] : undefined;
    if (!(error instanceof RefusedChange) || !line || error.problem.isConflict) throw error;
    line.refuse(error.problem);
    return undefined;
  }
}
