/** Lets a browser keep the page's files, so that the application can be installed and says so when the network is away. */

const WORKER = '/service-worker.js';

/** As much of Trusted Types as is needed here; a browser without them takes the plain address. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(asked: string): string };
}

/** This one address, and nothing else. */
function workerAddress(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  return trustedTypes?.createPolicy('svc-web', { createScriptURL: () => WORKER }).createScriptURL('') ?? WORKER;
}

/** Registers the service worker, once the page has what it needs. */
export function install(): void {
  if (!('serviceWorker' in navigator) || !isSecureContext) return;
  // A browser that keeps nothing (a private window) refuses; the page works without.
  // It stands for the page alone, wherever that lies.
  navigator.serviceWorker.register(workerAddress(), { scope: location.pathname }).catch(() => undefined);
}
