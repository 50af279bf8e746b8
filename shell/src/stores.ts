/** Places where profiles are kept. */
import type { ProfileStore, RequestFunction } from './types.ts';

/** Keeps profiles in the browser's localStorage. */
export function localProfileStore(): ProfileStore {
  return {
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
}

/** Keeps profiles on a server: `GET` and `PUT` of `<basePath>?key=<key>`. */
export function httpProfileStore(request: RequestFunction, basePath = '/profile'): ProfileStore {
  const path = (key: string) => `${basePath}?key=${encodeURIComponent(key)}`;
  return {
    load: (key) => request(path(key)),
    save: (key, profile) => request(path(key), { method: 'PUT', body: JSON.stringify(profile) }),
  };
}
