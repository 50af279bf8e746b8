/** Scenarios that an engine can't be asked to play, each with the reason; the rest of it is played. */
import type { Engine } from './browser.ts';

/** By engine: the scenario's name, and why it's left out. */
export const SKIPPED: Record<Engine, Readonly<Record<string, string>>> = {
  chromium: {},
  firefox: {},
};
