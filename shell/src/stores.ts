/** Places where profiles are kept. */
import type { ProfileStore, RequestFunction } from './types.ts';

const LOCAL = new WeakSet<ProfileStore>();

/** Whether a store answers at once: it's the browser's own. */
export function isLocal(store: ProfileStore): boolean {
  return LOCAL.has(store);
}

/** Keeps profiles in the browser's localStorage. */
export function localProfileStore(): ProfileStore {
  const store: ProfileStore = {
    load(key) {
      const text = localStorage.getItem(key);
      if (text === null) return undefined;
      try {
        return JSON.parse(text) as unknown;
      } catch {
        // Handed on as it is: the desktop sets aside what it can't read.
        return text;
      }
    },
    save(key, profile) {
      localStorage.setItem(key, typeof profile === 'string' ? profile : JSON.stringify(profile));
    },
  };
  LOCAL.add(store);
  return store;
}

/** The most that browsers let a page send while it goes. */
const LEAVING_BYTES = 60 * 1024;

/** Keeps profiles on a server: `GET` and `PUT` of `<basePath>?key=<key>`. */
export function httpProfileStore(request: RequestFunction, basePath = '/profile'): ProfileStore {
  const path = (key: string) => `${basePath}?key=${encodeURIComponent(key)}`;
  return {
    load: (key) => request(path(key)),
    save(key, profile, how) {
      const body = JSON.stringify(profile);
      const keepalive = how?.leaving && new Blob([body]).size < LEAVING_BYTES;
      return request(path(key), { method: 'PUT', body, ...(keepalive && { keepalive }) });
    },
  };
}
