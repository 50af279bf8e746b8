/**
 * Who works here: told by the browser host (`/bff`), which keeps the sign-in behind a cookie. Where there is none, the API knows
 * the caller by other means, such as a key that a server in front adds, and nobody signs in or out.
 */
import { Shell, type ProfileStore, type Session } from '@svc/shell';
import { HOST_USER, ME, PROFILE, profileOf } from '../client/addresses.ts';
import { asProblem, noteRefusal, ownHeaders, send } from '../client/request.ts';
import { Problem } from '../core/problem.ts';

/** Somebody, and what they may do. */
export interface Person {
  readonly identity: { readonly id: string; readonly displayName: string };
  readonly organisationId?: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

const HOST = '/bff';

/** Asks the API; nothing when nobody is signed in. */
export async function whoIsHere(): Promise<Person | undefined> {
  try {
    return (await send<Person>(ME)).body;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined;
    throw error;
  }
}

/** Whether there is a browser host, and whom it knows. */
export async function askHost(): Promise<'none' | 'signed-out' | Session> {
  try {
    const { body } = await send<Session | undefined>(HOST_USER);
    if (!body) return 'signed-out';
    const { identity, roles, permissions, expiresAt } = body;
    return { identity, roles, permissions, expiresAt } as Session;
  } catch (error) {
    const { status } = asProblem(error);
    if (status <= 0) throw error;
    return status === 404 ? 'none' : 'signed-out';
  }
}

/** Leaves for the sign-in page, and comes back here. */
export function signIn(): void {
  const back = location.pathname + location.search + location.hash;
  location.assign(`${HOST}/login?returnUrl=${encodeURIComponent(back)}`);
}

/** The desktop's documents on the server; that of whoever comes in has been asked for already. */
function profiles(): ProfileStore {
  const store = Shell.httpProfileStore(Shell.request, PROFILE);
  let isFirst = true;
  return {
    ...store,
    async load(key) {
      if (!isFirst) return store.load(key);
      isFirst = false;
      return send(profileOf(key)).then(
        ({ body }) => body,
        () => store.load(key),
      );
    },
  };
}

/** Who this is now, as the shell asks. */
async function askAgain(): Promise<Person> {
  try {
    return (await Shell.request(ME)) as Person;
  } catch (error) {
    noteRefusal((error as { problem?: { code?: unknown } }).problem?.code);
    throw error;
  }
}

/** Tells the shell who is here, and how they sign out; what the browser host has said needn't be asked again. */
export async function begin(person: Person, known: Session | undefined): Promise<void> {
  let first: Person | undefined = person;
  Shell.configure({
    async accessProvider() {
      const now = first ?? (await askAgain());
      first = undefined;
      const { identity, roles, permissions } = now;
      return { identity, roles: [...roles], permissions: [...permissions] };
    },
    profileStore: profiles(),
  });
  if (!known) {
    await Shell.setSession({ identity: person.identity });
    return;
  }
  let session: Session | undefined = known;
  const provider = Shell.createCookieProvider({
    basePath: HOST,
    title: document.title,
    headers: ownHeaders(),
  });
  Shell.registerAuthProvider({
    ...provider,
    restore(options) {
      const found = session ?? provider.restore?.(options);
      session = undefined;
      return found;
    },
  });
}
