/** Stories that need an application of their own: an empty one, or one with other settings. */
import { startApplication, type Application, type DatabaseKind } from './application.ts';
import type { Scenario } from './scenario.ts';

/** Plays a scenario in front of what `start` starts. */
function inFrontOf(start: (kind: DatabaseKind) => Promise<Application>, scenario: Scenario): Scenario {
  return {
    ...scenario,
    async run({ signedIn: _ofAnother, ...world }) {
      const application = await start(world.database);
      try {
        await scenario.run({ ...world, application });
      } finally {
        await application.end();
      }
    },
  };
}

/** Plays a scenario in front of a shop that nobody has set up. */
export function fromNothing(scenario: Scenario): Scenario {
  return inFrontOf((kind) => startApplication(kind, 'shop', false), scenario);
}

/** Plays a scenario in front of a shop with further settings. */
export function inShopWith(more: Record<string, string>, scenario: Scenario): Scenario {
  return inFrontOf((kind) => startApplication(kind, 'shop', true, more), scenario);
}
