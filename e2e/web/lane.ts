/**
 * Where scenarios are played one after the other: an application, its database, its receiver and its browsers, which no other lane has.
 * Lanes run beside each other, so what one scenario does to settings, receivers or streams never meets another.
 */
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { launchFirefox } from '../../shell/scripts/firefox.ts';
import { startApplication, type DatabaseKind } from './application.ts';
import type { Engine, Opening, Scenario, World } from './scenario.ts';

const SCENARIO_TIMEOUT_MS = 180_000;

export interface Lane {
  /** Plays a scenario; gives back what went wrong. */
  play(scenario: Scenario): Promise<unknown>;
  end(): Promise<void>;
}

/** Starts all that a lane has. */
export async function startLane(engine: Engine, kind: DatabaseKind): Promise<Lane> {
  const application = await startApplication(kind);
  const launched = new Map<string, Promise<Browser>>();
  const world: World = {
    application,
    database: kind,
    engine,
    contexts: [],
    /** Firefox is told whom it's for when it starts. */
    browserFor({ dark = false, touch = false }: Opening) {
      const key = engine === 'firefox' ? `${dark} ${touch}` : '';
      const browser =
        launched.get(key) ??
        (key
          ? launchFirefox({
              dark,
              touch,
              reducedMotion: true,
              forcedColours: false,
              moreContrast: false,
              lessTransparency: false,
            })
          : launchChromium());
      launched.set(key, browser);
      return browser;
    },
  };
  return {
    async play(scenario) {
      const { promise: limit, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => reject(new Error(`took longer than ${SCENARIO_TIMEOUT_MS / 1000} s`)),
        SCENARIO_TIMEOUT_MS,
      );
      try {
        await Promise.race([scenario.run(world), limit]);
        return undefined;
      } catch (error) {
        return error;
      } finally {
        clearTimeout(timer);
        for (const context of world.contexts.splice(0)) await context.close();
      }
    },
    async end() {
      for (const browser of launched.values()) await (await browser).close();
      await application.end();
    },
  };
}
