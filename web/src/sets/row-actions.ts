/**
 * What can be done with a record where it stands in the list: on a phone a swipe lays it open. The same is in the head of the record,
 * and in the bar of what is selected.
 */
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Part } from '../parts/part.ts';
import type { Entry } from '../parts/popover.ts';
import { memberName, text } from '../text.ts';
import { runAction } from './action.ts';
import { actionsFor, type SetHost } from './context.ts';
import { mayDelete, removeRecord } from './remove.ts';

/** The actions of a row, the likeliest first; `ran` and `removed` are told what came of one. */
export function rowActions(
  near: Part,
  host: SetHost,
  set: EntitySet,
  row: Row,
  { ran, removed }: { ran(): void; removed(): void },
): Entry[] {
  const actions = actionsFor(host, set).map(
    (operation): Entry => ({
      label: memberName(set.name, operation.name),
      icon: 'play',
      run: () =>
        void runAction(near, host.model, set, String(row[set.key]), operation).then((isDone) => isDone && ran()),
    }),
  );
  if (!mayDelete(host, set)) return actions;
  const remove = () => void removeRecord(near, host, set, row).then((isGone) => isGone && removed());
  return [...actions, { label: text('delete'), icon: 'trash', danger: true, run: remove }];
}
