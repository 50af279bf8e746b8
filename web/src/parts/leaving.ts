/** What somebody has written and not saved is asked about before it's lost: by the page where it may, by the browser where the page goes. */
import { text } from '../text.ts';
import { confirmIn } from './dialog.ts';

/** A page in which something may be written. */
export interface Unsaved extends Element {
  /** Whether something would be lost. */
  readonly isDirty: boolean;
}

/** Asks before something that was written is lost; whether one goes on. */
export async function mayLeave(app: Unsaved): Promise<boolean> {
  if (!app.isDirty) return true;
  return confirmIn(app, {
    title: text('leave-title'),
    body: text('leave-text'),
    confirm: text('leave'),
    danger: true,
  });
}

/** Whether any window of the page, or a form over it, holds what would be lost. */
function isAnythingUnsaved(): boolean {
  const apps = [...document.querySelectorAll<Element & { readonly isDirty?: boolean }>('.svc-app')];
  return apps.some(({ isDirty }) => isDirty === true) || document.querySelector('dialog[data-written]') !== null;
}

/** Has the browser ask before the page is closed, left or read anew, as long as something would be lost. */
export function guardPage(): void {
  addEventListener('beforeunload', (event) => {
    if (isAnythingUnsaved()) event.preventDefault();
  });
}
