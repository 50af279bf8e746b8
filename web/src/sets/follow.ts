/** Follows what others change in a set while somebody looks at it. */
import { hear } from '../client/live.ts';
import { isLive } from '../client/start.ts';

/** Changes of others come in bursts; one look is for all of them, and looks come no more often than this. */
const FOLLOW_MS = 400;
/** For so long a record shows that somebody else has changed it. */
const FRESH_MS = 2_500;

/**
 * Has somebody `look` anew when records have changed, with their keys, and calls `settle` when they are news no more. For a set
 * whose changes can't be heard of neither happens. Returns the undo.
 */
export function follow(
  set: string,
  look: (keys: ReadonlySet<string>) => Promise<void>,
  settle: () => void,
): () => void {
  if (!isLive(set)) return () => undefined;
  let changed = new Set<string>();
  let looking: ReturnType<typeof setTimeout> | undefined;
  let forgetting: ReturnType<typeof setTimeout> | undefined;
  const lookNow = async () => {
    const keys = changed;
    changed = new Set();
    // What can't be read just now is read with the next change.
    await look(keys).catch(() => undefined);
    looking = undefined;
    if (changed.size > 0) soon();
    clearTimeout(forgetting);
    forgetting = setTimeout(settle, FRESH_MS);
  };
  const soon = () => {
    looking ??= setTimeout(() => void lookNow(), FOLLOW_MS);
  };
  const end = hear(`set:${set}`, {
    heard({ data }) {
      changed.add(String(data.key));
      soon();
    },
    missed: soon,
  });
  return () => {
    end();
    clearTimeout(looking);
    clearTimeout(forgetting);
  };
}
