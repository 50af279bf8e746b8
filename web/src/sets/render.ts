/** Fills a window with the app of an entity set. */
import type { RenderContext } from '@svc/shell';
import { keepState } from '../host/address.ts';
import { readState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import { mayLeave } from '../parts/leaving.ts';
import './app.ts';
import type { SvcSetApp } from './app.ts';
import type { SetHost } from './context.ts';

/** What is typed, and how wide and of what the table is. */
const QUIET = ['q', 'w', 'c', 't'];

export function renderSet(context: RenderContext, host: SetHost, set: EntitySet): Node {
  const app = document.createElement('svc-set-app') as SvcSetApp;
  app.host = host;
  app.set = set;
  app.view = readState(set, context.intent);
  keepState(context, app, { follow: (state) => void app.follow(state), quiet: QUIET });
  context.onClose(() => mayLeave(app));
  return app;
}
