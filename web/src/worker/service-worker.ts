/**
 * Keeps the page's own files for when the network is away, and nothing else: no answer of the API, nothing about anybody.
 *
 * | Asked for | Answer |
 * | --- | --- |
 * | `/assets/…` | the file as it was kept; its name, or its folder’s, holds a hash of its content |
 * | `/icons/…` | from the network; as it was kept where that is away |
 * | the page | from the network, always; where that is away, a page that says so |
 * | anything else | is none of its business |
 */
/// <reference lib="webworker" />
declare const self: ServiceWorkerGlobalScope;
/** The files of this build; put in by it. */
declare const FILES: readonly string[];
/** The page for when there is no network; put in by the build. */
declare const OFFLINE: string;

const KEPT = 'svc-files';

/** Forgets what no page of this build asks for. */
async function tidy(): Promise<void> {
  const kept = await caches.open(KEPT);
  for (const request of await kept.keys()) {
    if (!FILES.includes(new URL(request.url).pathname)) await kept.delete(request);
  }
}

async function fromKept(request: Request): Promise<Response> {
  const kept = await caches.open(KEPT);
  const found = await kept.match(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) await kept.put(request, answer.clone());
  return answer;
}

async function fromNetwork(request: Request): Promise<Response> {
  const kept = await caches.open(KEPT);
  try {
    const answer = await fetch(request);
    if (answer.ok) await kept.put(request, answer.clone());
    return answer;
  } catch (error) {
    const found = await kept.match(request);
    if (found) return found;
    throw error;
  }
}

function offline(): Response {
  return new Response(OFFLINE, {
    status: 503,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    },
  });
}

/** The page lies where the worker was registered for. */
function isPage(pathname: string): boolean {
  return pathname === new URL(self.registration.scope).pathname;
}

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(tidy().then(() => self.clients.claim())));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (request.mode === 'navigate' && isPage(pathname)) event.respondWith(fetch(request).catch(offline));
  else if (!FILES.includes(pathname)) return;
  else if (pathname.startsWith('/assets/')) event.respondWith(fromKept(request));
  else event.respondWith(fromNetwork(request));
});
