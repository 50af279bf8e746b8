/** A page whose browser has seen nothing yet, and what it transfers. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { SignedIn } from '../../e2e/web/application.ts';

/** For how long nothing comes where all has come. */
const QUIET_MS = 500;

/** A page with nothing in its cache, behind the front door, and what it has transferred. */
export async function coldPage(
  browser: Browser,
  storageState: SignedIn,
): Promise<{ page: Page; session: CDPSession; transferred(): Promise<number> }> {
  const viewport = { width: 1440, height: 900 };
  const context = await browser.newContext({ viewport, locale: 'en-GB', storageState, serviceWorkers: 'block' });
  const page = await context.newPage();
  // Each start is somebody's first: what a round opens isn't there in the next.
  await page.route('**/api/v1/profile*', (route) =>
    route.request().method() === 'PUT' ? route.fulfill({ status: 204 }) : route.continue(),
  );
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  // A stream of what happens stays open, so the network itself is never idle.
  const transferred = async (): Promise<number> => {
    for (let before = -1; before < bytes; await page.waitForTimeout(QUIET_MS)) before = bytes;
    return bytes;
  };
  return { page, session, transferred };
}
