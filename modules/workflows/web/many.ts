/** Takes several records through one transition, and says what became of each. */
import {
  askIn,
  html,
  icon,
  MOST_AT_ONCE,
  noticesNear,
  takeManyOn,
  text,
  whatCame,
  whyNot,
  withComment,
  type Moved,
  type Obstacle,
} from '@svc/web';
import { nameOf, type Task } from './api.ts';
import { partsOf, type Offer } from './offers.ts';

/** What became of one of them. */
interface Outcome {
  readonly task: Task;
  readonly moved: Moved | null;
  readonly problem: Obstacle | null;
}

async function takeAll({ set, name, tasks }: Offer<Task>, comment: string | undefined): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const part of partsOf(tasks, MOST_AT_ONCE)) {
    const records = part.map(({ id, version }) => ({ id, version }));
    const answers = await takeManyOn(set, name, { records, ...(comment === undefined ? {} : { comment }) });
    outcomes.push(...answers.flatMap((answer, at) => (part[at] ? [{ ...answer, task: part[at] }] : [])));
  }
  return outcomes;
}

/** An answer for each, where not all were taken on: those that were not come first. */
function showOutcomes(near: Element, title: string, outcomes: readonly Outcome[]): Promise<unknown> {
  const sorted = [...outcomes].sort((one, other) => Number(one.problem === null) - Number(other.problem === null));
  return askIn(near, {
    title,
    body: html`<ul class="svc-outcomes">${sorted.map(
      ({ task, moved, problem }) =>
        html`<li data-tone=${problem ? 'bad' : 'good'}>${icon(problem ? 'error' : 'check')}<span><b>${nameOf(task)}</b> <span class="svc-soft">${problem ? whyNot(problem) : moved && whatCame(moved)}</span></span></li>`,
    )}</ul>`,
    confirm: text('done'),
    plain: true,
    answer: () => true,
  });
}

/** Does it, after a comment where one is needed. Answers with whether anything may have moved. */
export async function takeMany(near: Element, offer: Offer<Task>): Promise<boolean> {
  const title = text('tasks-many', { title: offer.title, count: offer.tasks.length });
  try {
    const outcomes = offer.needsComment
      ? await withComment(near, { title, of: text('tasks-comment-many') }, (comment) => takeAll(offer, comment))
      : await takeAll(offer, undefined);
    if (!outcomes) return false;
    if (!Array.isArray(outcomes)) throw outcomes;
    const refused = outcomes.filter(({ problem }) => problem !== null).length;
    const said = text('tasks-moved', { done: outcomes.length - refused, refused });
    if (refused > 0) await showOutcomes(near, said, outcomes);
    else noticesNear(near)?.say({ text: said });
  } catch (error) {
    noticesNear(near)?.complain(error);
  }
  return true;
}
