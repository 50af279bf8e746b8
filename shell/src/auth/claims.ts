/** What the tokens of an OpenID provider say. Nothing here checks signatures: the tokens come straight from their issuer. */

import { isObject } from '../core/check.ts';

/** Claims of a token. */
export type Claims = Record<string, unknown>;

/** How far a clock may be off. */
const SKEW_S = 300;

/** The claims of a JWT; none when it isn't one. */
export function claimsOf(token: string | undefined): Claims {
  const payload = token?.split('.')[1];
  if (!payload) return {};
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isObject(claims) ? claims : {};
  } catch {
    // Access tokens may be opaque.
    return {};
  }
}

/** The value at a path such as `realm_access.roles`; names with dots in them are found, too. */
function at(value: unknown, path: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, path)) return value[path];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const found = Object.hasOwn(value, head) ? at(value[head], path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Roles at these paths: an array, one name, or an object whose keys are the names. */
export function rolesAt(claims: Claims, paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const value = at(claims, path);
    if (typeof value === 'string') return [value];
    if (Array.isArray(value)) return value.filter((one) => typeof one === 'string');
    return isObject(value) ? Object.keys(value) : [];
  });
  return [...new Set(found)];
}

/** What an ID token must say. */
export interface Expected {
  issuer: string;
  clientId: string;
  /** Only of a token that answers a sign-in. */
  nonce?: string;
  /** Only of a refreshed one. */
  subject?: string;
  /** Seconds since 1970. */
  now: number;
}

/** What is wrong with an ID token: the claim's name; `undefined` when nothing is. */
export function faultOf(claims: Claims, expected: Expected): string | undefined {
  const { iss, aud, azp, nonce, sub, exp, iat } = claims;
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (iss !== expected.issuer) return 'iss';
  if (!audiences.includes(expected.clientId)) return 'aud';
  if (audiences.length > 1 && azp !== undefined && azp !== expected.clientId) return 'azp';
  if (expected.nonce !== undefined && nonce !== expected.nonce) return 'nonce';
  if (typeof sub !== 'string' || (expected.subject !== undefined && sub !== expected.subject)) return 'sub';
  if (typeof exp !== 'number' || exp < expected.now - SKEW_S) return 'exp';
  if (typeof iat === 'number' && iat > expected.now + SKEW_S) return 'iat';
  return undefined;
}
