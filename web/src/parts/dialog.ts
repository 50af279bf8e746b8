/** Questions that have to be answered before anything else: the browser's own modal dialog. */
import { html, nothing, render, type TemplateResult } from 'lit';
import { text } from '../text.ts';
import { freshId } from './part.ts';

/** What a dialog asks. */
export interface Question<T> {
  readonly title: string;
  readonly body: TemplateResult | string;
  readonly confirm: string;
  readonly danger?: boolean;
  /** Wider, for forms and comparisons. */
  readonly wide?: boolean;
  /** There is nothing to decide: one button. */
  readonly plain?: boolean;
  /** Makes the answer; throws what keeps the dialog open (its owner shows why), and `undefined` does so without a word. */
  answer(dialog: HTMLDialogElement): Promise<T | undefined> | T | undefined;
}

/** Shows a dialog beside `near` (so that it bears the colours there), and gives back the answer; nothing when it was left. */
export function askIn<T>(near: Element, question: Question<T>): Promise<T | undefined> {
  const dialog = document.createElement('dialog');
  dialog.className = 'svc-dialog';
  dialog.toggleAttribute('data-wide', question.wide ?? false);
  const root = near.closest('.svc-app') ?? near.closest('.shell-root') ?? document.body;
  const heading = freshId('title');
  dialog.setAttribute('aria-labelledby', heading);
  root.append(dialog);
  return new Promise((resolve) => {
    let given: T | undefined;
    const submit = async (event: Event) => {
      event.preventDefault();
      const answer = await question.answer(dialog);
      if (answer === undefined) return;
      given = answer;
      dialog.close();
    };
    render(
      html`<form method="dialog" novalidate @submit=${submit}>
        <h2 id=${heading}>${question.title}</h2>
        <div class="svc-dialog-body">${question.body}</div>
        <footer>
          ${
            question.plain
              ? nothing
              : html`<button type="button" class="svc-button" @click=${() => dialog.close()}>${text('cancel')}</button>`
          }
          <button type="submit" class="svc-button" data-look=${question.danger ? 'danger' : 'primary'}>
            ${question.confirm}
          </button>
        </footer>
      </form>`,
      dialog,
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(given);
    });
    dialog.addEventListener('input', () => dialog.toggleAttribute('data-written', true));
    // A click on the backdrop leaves it, where nothing was typed.
    dialog.addEventListener('pointerdown', (event) => {
      if (event.target === dialog && !dialog.querySelector('input, textarea, select')) dialog.close();
    });
    dialog.showModal();
  });
}

/** Asks whether to go on. */
export async function confirmIn(
  near: Element,
  question: { title: string; body: TemplateResult | string; confirm: string; danger?: boolean },
): Promise<boolean> {
  return (await askIn(near, { ...question, answer: () => true })) ?? false;
}
