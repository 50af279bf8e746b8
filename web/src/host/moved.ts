/**
 * Who changes to another organisation in one tab works there in all of them, since the browser has one cookie. A page of the
 * organisation before can neither read nor write any more, and asks to be loaded anew.
 */
import { onMoved } from '../client/request.ts';
import { confirmIn } from '../parts/dialog.ts';
import { text } from '../text.ts';

/** Asks once: whoever stays, to copy what they have written, loads the page when they are done. */
export function followOrganisation(desktop: HTMLElement): void {
  const forget = onMoved(() => {
    forget();
    const question = { title: text('moved'), body: text('moved-text'), confirm: text('record-reload') };
    void confirmIn(desktop, question).then((loads) => {
      if (loads) location.reload();
    });
  });
}
