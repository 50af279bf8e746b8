/** Who may do something, as forms write it. */
import type { By } from './definition.ts';

function roleOf(by: By): string | undefined {
  return typeof by === 'object' && 'role' in by ? by.role : undefined;
}

/** The roles among them. */
export function rolesOf(by: readonly By[]): string[] {
  return by.map(roleOf).filter((role) => role !== undefined);
}

/** Roles are one whatever the case of their names. */
export function isSameRole(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** All but the roles, in a line. */
export function lineOf(by: readonly By[]): string {
  const written = by.flatMap((one) => {
    if (one === 'creator') return ['@creator'];
    if ('permission' in one) return [one.permission];
    return 'person' in one ? [`@${one.person}`] : [];
  });
  return written.join(', ');
}

/** The same roles, with whom a line says. */
export function withLine(by: readonly By[], typed: string): By[] {
  const said = typed
    .split(/[\s,]+/)
    .filter((one) => one !== '')
    .map((one): By => {
      if (one === '@creator') return 'creator';
      return one.startsWith('@') ? { person: one.slice(1) } : { permission: one };
    });
  return [...said, ...by.filter((one) => roleOf(one) !== undefined)];
}

/** A role more. */
export function withRole(by: readonly By[], role: string): By[] {
  const isThere = role === '' || rolesOf(by).some((one) => isSameRole(one, role));
  return isThere ? [...by] : [...by, { role }];
}

/** A role less. */
export function withoutRole(by: readonly By[], role: string): By[] {
  return by.filter((one) => roleOf(one) !== role);
}
