/** The forms of one user and one role. */
import { t } from '../../i18n.ts';
import type { Permission, RoleRecord, UserRecord } from '../../types.ts';
import { h, type Child } from '../dom.ts';

function textField(
  label: string,
  name: string,
  value: string | undefined,
  more: Record<string, string | boolean> = {},
) {
  return h(
    'label.shell-form-row',
    {},
    h('span', {}, label),
    h('input.shell-input', { name, value: value ?? '', autocomplete: 'off', maxlength: 200, ...more }),
  );
}

function check(name: string, value: string, checked: boolean, title: string, hint?: string): HTMLElement {
  return h(
    'label.shell-check',
    {},
    h('input', { type: 'checkbox', name, value, checked }),
    h('span', {}, title, hint ? h('span.shell-hint', {}, hint) : undefined),
  );
}

/** Fields of a user. */
export function userFields(user: UserRecord, roles: readonly RoleRecord[]): Child[] {
  // A role that no list knows any more is still the user's, until somebody takes it away.
  const lost = user.roles.filter((id) => !roles.some((role) => role.id === id));
  return [
    textField(t('word.name'), 'displayName', user.displayName, { required: true }),
    textField(t('login.userName'), 'userName', user.userName, { required: true, spellcheck: 'false' }),
    textField(t('identity.email'), 'email', user.email, { type: 'email' }),
    check('disabled', 'yes', user.disabled ?? false, t('identity.disabled'), t('identity.disabledHint')),
    h(
      'fieldset.shell-field',
      {},
      h('legend', {}, t('identity.roles')),
      roles.map((role) => check('roles', role.id, user.roles.includes(role.id), role.title, role.description)),
      lost.map((id) => check('roles', id, true, id, t('identity.unknown'))),
      roles.length + lost.length === 0 && h('p.shell-hint', {}, t('identity.noRoles')),
    ),
  ];
}

/** Permissions under their groups, once each as it's known last; what only the role knows comes at the end. */
export function groupPermissions(role: RoleRecord, known: readonly Permission[]): [string, Permission[]][] {
  const all = new Map(known.map((one) => [one.id, one]));
  for (const id of role.permissions) if (!all.has(id)) all.set(id, { id, description: t('identity.unknown') });
  const groups = new Map<string, Permission[]>();
  for (const one of all.values()) {
    const group = one.group ?? (known.includes(one) ? t('identity.general') : t('identity.others'));
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}

/** Fields of a role. */
export function roleFields(role: RoleRecord, known: readonly Permission[], fresh: boolean): Child[] {
  return [
    textField(t('identity.roleTitle'), 'title', role.title, { required: true }),
    textField(t('identity.key'), 'id', role.id, { required: true, readonly: !fresh, spellcheck: 'false' }),
    textField(t('identity.description'), 'description', role.description),
    groupPermissions(role, known).map(([group, permissions]) =>
      h(
        'fieldset.shell-field',
        {},
        h('legend', {}, group),
        permissions.map((one) =>
          check(
            'permissions',
            one.id,
            role.permissions.includes(one.id),
            one.title ?? one.id,
            one.description ?? (one.title ? one.id : undefined),
          ),
        ),
      ),
    ),
  ];
}

const text = (data: FormData, name: string) => String(data.get(name) ?? '').trim();
const texts = (data: FormData, name: string) => data.getAll(name).map(String);

/** The user that a form says. */
export function readUser(form: HTMLFormElement, user: UserRecord): UserRecord {
  const data = new FormData(form);
  const { email: _email, disabled: _disabled, ...rest } = user;
  const email = text(data, 'email');
  return {
    ...rest,
    displayName: text(data, 'displayName'),
    userName: text(data, 'userName'),
    roles: texts(data, 'roles'),
    ...(email && { email }),
    ...(data.has('disabled') && { disabled: true }),
  };
}

/** The role that a form says. */
export function readRole(form: HTMLFormElement, role: RoleRecord): RoleRecord {
  const data = new FormData(form);
  const { description: _description, ...rest } = role;
  const description = text(data, 'description');
  return {
    ...rest,
    id: text(data, 'id') || role.id,
    title: text(data, 'title'),
    permissions: texts(data, 'permissions'),
    ...(description && { description }),
  };
}
