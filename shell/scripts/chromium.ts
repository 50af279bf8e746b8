/** Starts the Chromium that scenarios and measurements share. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where one may lie; `CHROMIUM` names another. The one without a window of its own takes half as much of a processor. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts it, with further flags. */
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  const { CHROMIUM } = process.env;
  const executablePath = (CHROMIUM ? [CHROMIUM] : PATHS).find((path) => existsSync(path));
  if (!executablePath) {
    const looked = CHROMIUM ? `at \`${CHROMIUM}\`, which \`CHROMIUM\` names` : `in ${PATHS.join(', ')}`;
    throw new Error(`no Chromium ${looked}; install Debian’s \`chromium-headless-shell\` or name one in \`CHROMIUM\``);
  }
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}
