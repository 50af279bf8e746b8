/** What a session may do. */
import { describe } from './core/check.ts';
import type { Access, Identity, IdentityStore, Session, ShellOptions } from './types.ts';

/** The permission that the Users and roles app asks for. */
export const MANAGE_IDENTITY = 'shell.identity.manage';

/** Nobody's rights. */
export const NOBODY: Access = Object.freeze({ roles: [], permissions: [] });

/** Nobody's rights under somebody's name: all there is until they are found out. */
export function rightless(identity: Identity | undefined): Access {
  return identity ? Object.freeze({ identity, roles: [], permissions: [] }) : NOBODY;
}

function texts(what: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return [...new Set<string>(value)];
  throw new TypeError(`\`${what}\` of somebody's access must be an array of strings, not ${describe(value)}`);
}

/** The session's own roles and those of the user's record; permissions of the session and of all these roles. */
async function fromStore(session: Session, store: IdentityStore): Promise<{ roles: string[]; permissions: string[] }> {
  const id = session.identity?.id;
  const [users, known] = await Promise.all([id === undefined ? [] : store.listUsers(), store.listRoles()]);
  const user = users.find((one) => one.id === id) ?? users.find((one) => one.userName === id);
  if (user?.disabled) return { roles: [], permissions: [] };
  const roles = [...(session.roles ?? []), ...(user?.roles ?? [])];
  const granted = known.filter((role) => roles.includes(role.id)).flatMap((role) => role.permissions);
  return { roles, permissions: [...(session.permissions ?? []), ...granted] };
}

/** Finds out what a session may do: from `accessProvider`, else from the session and the identity store. */
export async function resolveAccess(session: Session | undefined, options: ShellOptions): Promise<Access> {
  if (!session) return NOBODY;
  const { accessProvider, identityStore } = options;
  const answer: { identity?: Identity; roles?: string[]; permissions?: string[] } = accessProvider
    ? await accessProvider(session)
    : identityStore
      ? await fromStore(session, identityStore)
      : session;
  const identity = answer?.identity ?? session.identity;
  const access = { roles: texts('roles', answer?.roles), permissions: texts('permissions', answer?.permissions) };
  return Object.freeze(identity ? { identity, ...access } : access);
}
