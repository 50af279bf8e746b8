/**
 * Who works here: told by the browser host (`/bff`), which keeps the sign-in behind a cookie. Where there is none, the API knows
 * the caller by other means, such as a key that a server in front adds, and nobody signs in or out.
 */
import { Shell } from '@svc/shell';
import { send } from '../client/request.ts';
import { Problem } from '../core/problem.ts';

/** Somebody, and what they may do. */
export interface Person {
  readonly identity: { readonly id: string; readonly displayName: string };
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

const HOST = '/bff';

/** Asks the API; nothing when nobody is signed in. */
export async function whoIsHere(): Promise<Person | undefined> {
  try {
    return (await send<Person>('/api/v1/me')).body;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

/** Whether there is a browser host, and whether it knows who this is. */
export async function askHost(): Promise<'none' | 'signed-in' | 'signed-out'> {
  const answer = await fetch(`${HOST}/user`, {
    headers: { accept: 'application/json', 'X-CSRF': '1' },
    cache: 'no-store',
  });
  if (answer.status === 404) return 'none';
  return answer.status === 200 ? 'signed-in' : 'signed-out';
}

/** Leaves for the sign-in page, and comes back here. */
export function signIn(): void {
  const back = location.pathname + location.search + location.hash;
  location.assign(`${HOST}/login?returnUrl=${encodeURIComponent(back)}`);
}

/** Tells the shell who is here, and how they sign out. */
export async function begin(person: Person, hasHost: boolean): Promise<void> {
  let first: Person | undefined = person;
  Shell.configure({
    async accessProvider() {
      const now = first ?? ((await Shell.request('/api/v1/me')) as Person);
      first = undefined;
      const { identity, roles, permissions } = now;
      return { identity, roles: [...roles], permissions: [...permissions] };
    },
    profileStore: Shell.httpProfileStore(Shell.request, '/api/v1/profile'),
  });
  if (hasHost) Shell.registerAuthProvider(Shell.createCookieProvider({ basePath: HOST, title: document.title }));
  else await Shell.setSession({ identity: person.identity });
}
