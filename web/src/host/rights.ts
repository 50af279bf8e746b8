/**
 * Rights follow their person while they work: a refusal has the shell ask for them again, and when they have changed, what there is
 * is read again too, so that sets come to the desktop that were not there before. Apps that are no longer allowed the shell closes.
 */
import { Shell } from '@svc/shell';
import { forgetRefusals } from '../client/live.ts';
import { onRefused } from '../client/request.ts';
import { tellRights } from '../client/rights.ts';
import { loadModel } from '../client/sets.ts';
import { loadStart } from '../client/start.ts';
import { registerSets } from './apps.ts';

/** A page that is refused much asks no more often than this. */
const ASK_AGAIN_MS = 10_000;

/** Begins to follow, once the desktop stands; `first` is what the page was made by, which the shell may only come to know. */
export function followRights(first: readonly string[]): void {
  let askedAt = 0;
  let held = [...first].sort().join();
  onRefused(() => {
    if (Date.now() - askedAt < ASK_AGAIN_MS) return;
    askedAt = Date.now();
    // What couldn't be found out leaves things as they are.
    Shell.refreshAccess().catch(reportError);
  });
  Shell.on('access-changed', ({ permissions }) => {
    const now = [...permissions].sort().join();
    if (now === held || permissions.length === 0) return;
    held = now;
    void readAnew();
  });
}

async function readAnew(): Promise<void> {
  try {
    const [model] = await Promise.all([loadModel(), loadStart()]);
    registerSets(model);
  } catch (error) {
    reportError(error);
  }
  forgetRefusals();
  tellRights();
}
