/** Sign-in by user name alone, for demos that have no server. It protects nothing. */
import { t } from '../i18n.ts';
import type { AuthProvider, IdentityStore, Session } from '../types.ts';

const KEY = 'shell.local-user';

/** Asks for a user name that the identity store knows. All tabs share the session. */
export function localAuthProvider(
  store: IdentityStore,
  { id = 'local', title = 'Demo' }: { id?: string; title?: string } = {},
): AuthProvider {
  const find = async (name: string): Promise<Session | undefined> => {
    const wanted = name.trim().toLowerCase();
    const user = (await store.listUsers()).find((one) => one.userName.toLowerCase() === wanted);
    if (!user || user.disabled) return undefined;
    return { identity: { id: user.id, displayName: user.displayName }, roles: [...user.roles] };
  };
  return {
    id,
    title,
    get fields() {
      return [{ name: 'userName', label: t('login.userName') }];
    },
    async login({ userName = '' }) {
      const session = await find(userName);
      if (!session) throw new Error(t('login.unknown', { name: userName.trim() }));
      localStorage.setItem(KEY, userName.trim());
      return session;
    },
    async restore() {
      const name = localStorage.getItem(KEY);
      return name === null ? undefined : find(name);
    },
    logout: () => localStorage.removeItem(KEY),
  };
}
