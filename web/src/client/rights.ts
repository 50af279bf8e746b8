/** What this person may do changes while they work: a role is given or taken away. Pages hear of it here, and show themselves anew. */

const listeners = new Set<() => void>();

/** Calls back when rights have changed. Returns the undo. */
export function onRights(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tells all who want to know. */
export function tellRights(): void {
  for (const listener of listeners) listener();
}
