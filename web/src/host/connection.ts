/** Says that the network is away, for as long as it is. */
import { html, render } from 'lit';
import { icon } from '../parts/icons.ts';
import { onTexts, text } from '../text.ts';

/** Shows a line above all windows while the browser has no network. */
export function showConnection(desktop: HTMLElement): void {
  const line = document.createElement('div');
  line.className = 'svc-connection';
  line.setAttribute('role', 'status');
  const show = () => {
    line.toggleAttribute('data-away', !navigator.onLine);
    render(navigator.onLine ? html`` : html`${icon('offline')}<span>${text('connection-away')}</span>`, line);
  };
  desktop.after(line);
  for (const happening of ['online', 'offline']) addEventListener(happening, show);
  onTexts(show);
  show();
}
