/**
 * Sign-in for a page behind a browser host: the host keeps the tokens, the browser a cookie that scripts can't read. The
 * session says who it is; requests need no token, but a header that no foreign page can send.
 */
import { isOwn, send, ShellRequestError } from '../request.ts';
import type { AuthProvider, CookieProviderOptions, Session } from '../types.ts';

function sessionOf(user: Record<string, unknown>): Session {
  const { id, displayName, name, identity, roles, permissions, expiresAt } = user as Record<string, never>;
  const who = identity ?? { id, displayName: displayName ?? name ?? id };
  return Object.fromEntries(
    Object.entries({ identity: who, roles, permissions, expiresAt }).filter(([, value]) => value !== undefined),
  );
}

/** `GET <basePath>/login?returnUrl=` signs in, `GET <basePath>/user` says who it is (401 or 204: nobody), `POST <basePath>/logout` signs out. */
export function createCookieProvider(options: CookieProviderOptions = {}): AuthProvider {
  const { id = 'cookie', title = location.host, basePath = '/bff', headers = { 'X-CSRF': '1' } } = options;
  const ask = (path: string, init?: RequestInit) => send('', undefined, `${basePath}/${path}`, init, headers);
  return {
    id,
    title,
    headers,
    login() {
      const back = location.pathname + location.search + location.hash;
      location.assign(`${basePath}/login?returnUrl=${encodeURIComponent(back)}`);
      return undefined;
    },
    async restore() {
      try {
        const user = (await ask('user', { cache: 'no-store' })) as Record<string, unknown> | undefined;
        return user && (options.mapUser ?? sessionOf)(user);
      } catch (error) {
        if (error instanceof ShellRequestError && error.status === 401) return undefined;
        throw error;
      }
    },
    async logout() {
      // A host that also signs out at its identity provider says where the browser goes for that.
      const answer = (await ask('logout', { method: 'POST' })) as { url?: unknown } | undefined;
      if (typeof answer?.url === 'string' && isOwnOrWeb(answer.url)) location.assign(answer.url);
    },
  };
}

function isOwnOrWeb(url: string): boolean {
  return isOwn('', url) || url.startsWith('https:');
}
