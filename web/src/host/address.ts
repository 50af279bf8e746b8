/** What a window shows, in step with the shell, and with the address and the back button where the app has a tab to itself. */
import type { RenderContext } from '@svc/shell';
import { isStep } from '../core/step.ts';

/** A page that says with the event `view` what would bring somebody back here. */
export interface Followed {
  /** Shows what an address, a shortcut or the back button says. */
  follow(state: unknown): void;
  /** Parts of the state that are no step of their own: the back button passes over them. */
  readonly quiet?: readonly string[];
}

function stateOfAddress(): unknown {
  try {
    return JSON.parse(new URLSearchParams(location.hash.slice(1)).get('state') ?? 'null');
  } catch {
    // Anyone can write an address.
    return undefined;
  }
}

/** Keeps what a page shows: a reload, a copied link, a shortcut and the back button lead to it. */
export function keepState(context: RenderContext, page: EventTarget, { follow, quiet = [] }: Followed): void {
  context.onIntent(follow);
  const hasTab = new URLSearchParams(location.search).get('app') === context.appId;
  if (hasTab) addEventListener('popstate', () => follow(stateOfAddress()));
  page.addEventListener('view', (event) => {
    const state = (event as CustomEvent<unknown>).detail;
    context.setState(state);
    if (!hasTab) return;
    const fragment = new URLSearchParams(location.hash.slice(1));
    fragment.set('state', JSON.stringify(state));
    const write = isStep(stateOfAddress(), state, quiet) ? 'pushState' : 'replaceState';
    history[write](history.state, '', `#${fragment}`);
  });
}
