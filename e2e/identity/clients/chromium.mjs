// Chromium, as Debian has it.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PATHS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Starts it. */
export async function launch() {
  const executablePath = PATHS.find((path) => path !== undefined && existsSync(path));
  assert.ok(executablePath, "no Chromium; install Debian’s `chromium-headless-shell` or name one in `CHROMIUM`");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-first-run"] });
}

/** Shows an empty page at an address, in place of what is there. */
export async function blank(context, address) {
  const page = { contentType: "text/html", body: "<!doctype html><p>" };
  await context.route(address, (route) => route.fulfill(page));
}

/** Presses what leads to another page, and waits for that. */
export async function send(page, button = "button.primary") {
  await Promise.all([page.waitForEvent("framenavigated"), page.click(button)]);
  await page.waitForLoadState("domcontentloaded");
}
