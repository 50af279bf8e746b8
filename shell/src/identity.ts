/** Backends for users and roles: the browser's own storage for demos, a server for everything else. */
import { isObject } from './core/check.ts';
import type { IdentityStore, Permission, RequestFunction, RoleRecord, UserRecord } from './types.ts';

interface Records {
  users: UserRecord[];
  roles: RoleRecord[];
  permissions: Permission[];
}

/** What a `localIdentityStore` begins with. */
export type IdentitySeed = Partial<Records>;

function put<T extends { id: string }>(list: readonly T[], record: T): T[] {
  return list.some((one) => one.id === record.id)
    ? list.map((one) => (one.id === record.id ? record : one))
    : [...list, record];
}

/** Keeps users and roles in the browser's localStorage. For demos: everybody can change it, so it protects nothing. */
export function localIdentityStore(seed: IdentitySeed = {}, key = 'shell.identity'): IdentityStore {
  const read = (): Records => {
    const empty: Records = { users: [], roles: [], permissions: [], ...structuredClone(seed) };
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
      return isObject(kept) ? { ...empty, ...kept } : empty;
    } catch {
      // What can't be read is of no use to a demo; it begins anew.
      return empty;
    }
  };
  const change = (how: (records: Records) => Partial<Records>) => {
    const records = read();
    const { users, roles } = { ...records, ...how(records) };
    localStorage.setItem(key, JSON.stringify({ users, roles }));
  };
  const without = <T extends { id: string }>(list: readonly T[], id: string) => list.filter((one) => one.id !== id);
  return {
    listUsers: () => read().users,
    saveUser: (user) => change(({ users }) => ({ users: put(users, user) })),
    deleteUser: (id) => change(({ users }) => ({ users: without(users, id) })),
    listRoles: () => read().roles,
    saveRole: (role) => change(({ roles }) => ({ roles: put(roles, role) })),
    deleteRole: (id) => change(({ roles }) => ({ roles: without(roles, id) })),
    listPermissions: () => read().permissions,
  };
}

/** Users and roles on a server: `GET <basePath>/users`, `PUT` and `DELETE <basePath>/users/{id}`, the same for roles. */
export function httpIdentityStore(request: RequestFunction, basePath = '/identity'): IdentityStore {
  const list = async <T>(what: string): Promise<T[]> => {
    const answer = await request(`${basePath}/${what}`);
    if (Array.isArray(answer)) return answer as T[];
    throw new TypeError(`the server answered no list to \`${basePath}/${what}\``);
  };
  const one = (what: string, id: string) => `${basePath}/${what}/${encodeURIComponent(id)}`;
  const save = (what: string, record: { id: string }) =>
    request(one(what, record.id), { method: 'PUT', body: JSON.stringify(record) });
  const remove = (what: string, id: string) => request(one(what, id), { method: 'DELETE' });
  return {
    listUsers: () => list<UserRecord>('users'),
    saveUser: (user) => save('users', user),
    deleteUser: (id) => remove('users', id),
    listRoles: () => list<RoleRecord>('roles'),
    saveRole: (role) => save('roles', role),
    deleteRole: (id) => remove('roles', id),
    listPermissions: () => list<Permission>('permissions'),
  };
}
