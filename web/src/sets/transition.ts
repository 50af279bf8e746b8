/** What pages of records and of tasks share when somebody takes a record on: its state, the comment, the reason why not, what came of it. */
import { html, render } from 'lit';
import { asProblem } from '../client/request.ts';
import type { Moved, Obstacle } from '../client/workflow.ts';
import type { Problem } from '../core/problem.ts';
import { askIn } from '../parts/dialog.ts';
import { freshId } from '../parts/part.ts';
import { capitalised, failureBar } from '../parts/states.ts';
import { find, text } from '../text.ts';

/** The longest comment, in characters, as the server has it. */
const MOST_COMMENT = 2000;

/** Why somebody can't take a transition, in their language where there are words for it. */
export function whyNot({ code, detail, roles }: Obstacle): string {
  const id = `refused-${code.replaceAll(/[._]/g, '-')}`;
  const named = { count: roles.length, roles: roles.join(', ') };
  return (roles.length > 0 ? find(`${id}-roles`, undefined, named) : undefined) ?? find(id) ?? capitalised(detail);
}

/** What came of a transition, in a sentence. */
export function whatCame({ approvalsMissing, state }: Moved): string {
  if (approvalsMissing > 0) return text('workflow-approved', { count: approvalsMissing });
  return text('workflow-moved', { state: state.title });
}

/**
 * Asks for the comment of a transition and does with it what is to be done, while the dialog stands; nothing when the person left. `of`
 * says what is taken on, where that isn't plain to see. A refusal is an answer; what can be tried again keeps the dialog with what was
 * written.
 */
export function withComment<T>(
  near: Element,
  { title, of }: { title: string; of?: string },
  take: (comment: string) => Promise<T>,
): Promise<T | Problem | undefined> {
  const id = freshId('comment');
  const said = document.createElement('div');
  return askIn<T | Problem>(near, {
    title,
    body: html`<div class="svc-form">
      ${of === undefined ? '' : html`<p>${of}</p>`}
      <div class="svc-field">
        <label for=${id}>${text('workflow-comment')}</label>
        <textarea id=${id} name="comment" class="svc-input" rows="3" maxlength=${MOST_COMMENT} required></textarea>
      </div>
      ${said}
    </div>`,
    confirm: title,
    answer: async (dialog) => {
      const input = dialog.querySelector('textarea');
      const comment = input?.value.trim() ?? '';
      if (comment === '') {
        input?.focus();
        return undefined;
      }
      try {
        return await take(comment);
      } catch (error) {
        const problem = asProblem(error);
        if (!problem.isOffline && problem.status < 500) return problem;
        render(failureBar(problem), said);
        return undefined;
      }
    },
  });
}
