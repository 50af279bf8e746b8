/** What of a remote manifest may be used. The manifest is somebody else's: each part is taken or refused by itself. */
import { checkFields, describe, isObject, messageOf, need, rule, taken, type FieldRule } from './check.ts';
import { checkApp, checkPermission } from './validate.ts';

/** Parts of each kind that a manifest may have. */
export const MAX_PARTS = 1_000;
/** Most characters of a text that people see; what is longer ends there. */
const MAX_TEXT = 300;

/** An app of a manifest whose addresses are resolved. */
export interface ManifestApp extends Record<string, unknown> {
  id: string;
  integrity?: string;
}

/** A module of a manifest whose address is resolved. */
export interface ManifestModule {
  url: string;
  integrity?: string;
}

/** The usable parts, and what is wrong with the others. */
export interface ManifestParts {
  permissions: { id: string; title?: string; group?: string; description?: string }[];
  apps: ManifestApp[];
  modules: ManifestModule[];
  problems: string[];
}

const HASHES = /^(sha(256|384|512)-[A-Za-z0-9+/]+={0,2}\s*)+$/;
const MODULE: Record<string, FieldRule> = {
  url: rule.filled,
  integrity: {
    expected: 'hashes such as `sha384-…`',
    test: (value) => typeof value === 'string' && HASHES.test(value),
  },
};

/** Resolves an address against the manifest's; throws when it isn't one of the web's. */
export type Resolve = (address: string, what: string) => string;

function readApp(app: unknown, resolve: Resolve, known: (id: string) => boolean): ManifestApp {
  if (!isObject(app)) throw new TypeError(`an app must be an object, not ${describe(app)}`);
  const { integrity, ...fields } = app;
  checkApp(fields);
  const what = `app \`${fields.id}\``;
  for (const key of ['render', 'menu']) {
    if (fields[key] !== undefined) throw new TypeError(`${what} has \`${key}\`, which a manifest can't bring`);
  }
  if (integrity !== undefined) {
    checkFields(what, { integrity }, MODULE);
    if (fields.entry === undefined) throw new TypeError(`${what} has \`integrity\`, which only goes with \`entry\``);
  }
  const id = fields.id as string;
  if (id.startsWith('shell.')) throw new TypeError(`${what} has an id of the shell's own; use another id`);
  if (known(id)) throw taken(what);
  for (const key of ['entry', 'url', 'icon']) {
    if (fields[key] !== undefined) fields[key] = resolve(fields[key] as string, `\`${key}\` of ${what}`);
  }
  // Browsers take long over a line that doesn't end.
  for (const key of ['title', 'group']) fields[key] &&= (fields[key] as string).slice(0, MAX_TEXT);
  return { ...fields, id, ...(integrity !== undefined && { integrity: integrity as string }) };
}

function readModule(module: unknown, resolve: Resolve): ManifestModule {
  const fields = typeof module === 'string' ? { url: module } : module;
  checkFields('a module', fields, MODULE);
  need('a module', fields, 'url');
  const { url, integrity } = fields as { url: string; integrity?: string };
  return { url: resolve(url, 'the address of a module'), ...(integrity !== undefined && { integrity }) };
}

/** Reads a manifest; only one that isn't an object at all is refused as a whole. */
export function readManifest(manifest: unknown, resolve: Resolve, known: (id: string) => boolean): ManifestParts {
  if (!isObject(manifest)) throw new TypeError(`a manifest must be an object, not ${describe(manifest)}`);
  const parts: ManifestParts = { permissions: [], apps: [], modules: [], problems: [] };
  const seen = new Set<string>();
  const readers: Record<string, (part: unknown) => unknown> = {
    permissions(part) {
      checkPermission(part);
      return parts.permissions.push(part as ManifestParts['permissions'][number]);
    },
    apps(part) {
      const app = readApp(part, resolve, (id) => seen.has(id) || known(id));
      seen.add(app.id);
      return parts.apps.push(app);
    },
    modules: (part) => parts.modules.push(readModule(part, resolve)),
  };
  for (const [name, list] of Object.entries(manifest)) {
    const read = readers[name];
    if (!read) parts.problems.push(`the manifest has no field \`${name}\`; known are permissions, apps, modules`);
    else if (!Array.isArray(list)) parts.problems.push(`\`${name}\` must be an array, not ${describe(list)}`);
    else {
      if (list.length > MAX_PARTS) {
        parts.problems.push(`of ${list.length} ${name} only the first ${MAX_PARTS} were read`);
      }
      for (const part of list.slice(0, MAX_PARTS)) {
        try {
          read(part);
        } catch (error) {
          parts.problems.push(messageOf(error));
        }
      }
    }
  }
  return parts;
}
