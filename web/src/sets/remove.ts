/** Deletes records: asks by name, and offers to bring them back. */
import { few, create, remove } from '../client/sets.ts';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { recordPath } from '../core/query.ts';
import { confirmIn } from '../parts/dialog.ts';
import { titleOf } from '../parts/value.ts';
import { inSentence, setName, singular, text } from '../text.ts';
import { workOn } from './bulk.ts';
import { may, type SetHost } from './context.ts';
import { noticesNear } from './notices.ts';
import { read } from '../client/sets.ts';

/** Whether a person may delete records of a set. */
export function mayDelete(host: SetHost, set: EntitySet): boolean {
  return may(host, set.remove);
}

/** What a record is made of again: all that may be said when one is made. */
function insertable(set: EntitySet, row: Row): Row {
  return Object.fromEntries(
    set.properties
      .filter(({ name, insertable: can }) => (can || name === set.key) && row[name] !== undefined && row[name] !== null)
      .map(({ name }) => [name, row[name]]),
  );
}

/** What goes with it or keeps it from going: how many related records there are. */
async function belongings(host: SetHost, set: EntitySet, key: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, target, isCollection } of set.navigations) {
    const other = host.model.get(target);
    if (!isCollection || !other) continue;
    const page = await few(`${recordPath(set, key)}/${name}`, { $select: other.key, $count: 'true' }, 1);
    if (page.total) found.push(text('delete-belongs', { count: page.total, name: setName(target) }));
  }
  return found;
}

async function readWhole(set: EntitySet, key: string): Promise<Row> {
  const names = set.properties.map(({ name }) => name);
  return read(set, key, { $select: names.join(',') });
}

/** Asks, deletes one record, and says so with a way back. Says whether it's gone. */
export async function removeRecord(near: Element, host: SetHost, set: EntitySet, row: Row): Promise<boolean> {
  const notices = noticesNear(near);
  const key = String(row[set.key]);
  const name = titleOf(host.model, set, row);
  const kind = inSentence(singular(set.name, set.type));
  try {
    const related = await belongings(host, set, key);
    const sure = await confirmIn(near, {
      title: text('delete-title', { kind, name }),
      body: [text('delete-text'), ...related].join(' '),
      confirm: text('delete'),
      danger: true,
    });
    if (!sure) return false;
    const whole = await readWhole(set, key);
    await remove(set, key, whole['@odata.etag']);
    const mayCreate = may(host, set.insert);
    notices?.say({
      text: text('delete-done', { name }),
      ...(mayCreate
        ? {
            undo: async () => {
              await create(set, insertable(set, whole));
              notices.dispatchEvent(new CustomEvent('records-changed', { bubbles: true, detail: key }));
            },
          }
        : {}),
    });
    return true;
  } catch (error) {
    notices?.complain(error);
    return false;
  }
}

/** Asks once, then deletes several, as far as the server lets it. Says which are gone. */
export async function removeRecords(
  near: Element,
  set: EntitySet,
  keys: readonly string[],
): Promise<readonly string[]> {
  const notices = noticesNear(near);
  const sure = await confirmIn(near, {
    title: text('delete-many-title', { count: keys.length, name: inSentence(setName(set.name)) }),
    body: text('delete-text'),
    confirm: text('delete-many', { count: keys.length }),
    danger: true,
  });
  if (!sure) return [];
  const gone: Row[] = [];
  const name = inSentence(setName(set.name));
  const worked = await workOn(
    near,
    text('delete-many-title', { count: keys.length, name }),
    keys,
    async (key) => {
      const whole = await readWhole(set, key);
      await remove(set, key, whole['@odata.etag']);
      gone.push(whole);
    },
    {
      text: ({ done }) => text('delete-many-done', { count: done.length, name, left: keys.length - done.length }),
      async undo() {
        for (const row of gone) await create(set, insertable(set, row));
        notices?.dispatchEvent(new CustomEvent('records-changed', { bubbles: true }));
      },
    },
  );
  return worked.done;
}
