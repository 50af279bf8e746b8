/** Modal questions on the native dialog element, which keeps the focus inside and gives it back. */
import { t } from '../i18n.ts';
import { h, type Child } from './dom.ts';

/** What a dialog shows. */
export interface DialogOptions {
  title: string;
  text?: string;
  content?: Child;
  confirm: string;
  danger?: boolean;
}

/** Asks; resolves to whether it was confirmed. */
export function ask(layer: HTMLElement, options: DialogOptions): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const id = `shell-dialog-${crypto.randomUUID().slice(0, 8)}`;
  const form: HTMLFormElement = h(
    'form.shell-dialog-form',
    {
      method: 'dialog',
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        dialog.close('confirm');
      },
    },
    h('h2.shell-dialog-title', { id }, options.title),
    options.text && h('p.shell-dialog-text', {}, options.text),
    options.content,
    h(
      'div.shell-dialog-buttons',
      {},
      h('button.shell-button', { onclick: () => dialog.close() }, t('word.cancel')),
      h(
        'button.shell-button',
        { type: 'submit', 'data-primary': true, 'data-danger': options.danger },
        options.confirm,
      ),
    ),
  );
  const dialog: HTMLDialogElement = h('dialog.shell-dialog', { 'aria-labelledby': id, part: 'dialog' }, form);
  dialog.addEventListener('close', () => {
    dialog.remove();
    resolve(dialog.returnValue === 'confirm');
  });
  dialog.addEventListener('pointerdown', (event) => {
    if (event.target === dialog) dialog.close();
  });
  // Keys inside mustn't reach the desktop's shortcuts.
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  layer.append(dialog);
  dialog.showModal();
  return promise;
}

/** Asks for a line of text; `undefined` when cancelled or empty. */
export async function askText(
  layer: HTMLElement,
  title: string,
  label: string,
  value: string,
  confirm = t('word.save'),
): Promise<string | undefined> {
  const input = h('input.shell-input', { value, 'aria-label': label, autofocus: true, maxlength: 80 });
  queueMicrotask(() => input.select());
  const confirmed = await ask(layer, { title, content: input, confirm });
  return confirmed ? input.value.trim() || undefined : undefined;
}
