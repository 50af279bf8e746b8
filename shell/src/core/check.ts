/** Errors for wrong input that say what to do, shared by options, apps and providers. */

/** Describes one field: a sentence part for the error, and the test. */
export interface FieldRule {
  expected: string;
  test(value: unknown): boolean;
}

/** What a value is called in an error. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return `the string \`${value}\``;
  if (typeof value === 'number' || typeof value === 'boolean') return `\`${value}\``;
  return typeof value === 'object' ? 'an object' : typeof value === 'function' ? 'a function' : `${typeof value}`;
}

/** Whether a value is an object with fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks an object against rules; unknown and wrong fields throw. `undefined` counts as absent. */
export function checkFields(what: string, value: unknown, rules: Readonly<Record<string, FieldRule>>): void {
  if (!isObject(value)) throw new TypeError(`${what} must be an object, not ${describe(value)}`);
  for (const [key, field] of Object.entries(value)) {
    const rule = rules[key];
    if (!rule) {
      throw new TypeError(`${what} has no field \`${key}\`; known are ${Object.keys(rules).join(', ')}`);
    }
    if (field !== undefined && !rule.test(field)) {
      throw new TypeError(`\`${key}\` of ${what} must be ${rule.expected}, not ${describe(field)}`);
    }
  }
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What somebody hears who registers something twice. */
export function taken(what: string): Error {
  return new Error(`${what} is already registered; use another id`);
}

/** Fails when one of the fields is missing. */
export function need(what: string, value: unknown, ...keys: string[]): void {
  for (const key of keys) {
    if ((value as Record<string, unknown>)[key] === undefined)
      throw new TypeError(`${what} has no \`${key}\`; add one`);
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Rules that fields share. */
export const rule = {
  text: { expected: 'a string', test: isText },
  filled: { expected: 'a string that is not empty', test: (value: unknown) => isText(value) && value.trim() !== '' },
  flag: { expected: 'true or false', test: (value: unknown) => typeof value === 'boolean' },
  run: { expected: 'a function', test: (value: unknown) => typeof value === 'function' },
  size: {
    expected: 'a number of pixels above 0',
    test: (value: unknown) => Number.isFinite(value) && Number(value) > 0,
  },
  texts: { expected: 'an array of strings', test: (value: unknown) => Array.isArray(value) && value.every(isText) },
  object: { expected: 'an object', test: isObject },
  textOrFalse: { expected: 'a string or false', test: (value: unknown) => value === false || isText(value) },
  anything: { expected: 'anything', test: () => true },
} satisfies Record<string, FieldRule>;

/** A rule for one of several strings. */
export function oneOf(...known: string[]): FieldRule {
  return { expected: `one of ${known.join(', ')}`, test: (value) => known.includes(value as string) };
}

/** A rule for an object with these methods. */
export function withMethods(...names: string[]): FieldRule {
  return {
    expected: `an object with the methods ${names.join(', ')}`,
    test: (value) => isObject(value) && names.every((name) => typeof value[name] === 'function'),
  };
}

/** A rule for an array of objects, each checked by the given rules. */
export function listOf(what: string, rules: Readonly<Record<string, FieldRule>>): FieldRule {
  return {
    expected: `an array of ${what} objects`,
    test(value) {
      if (!Array.isArray(value)) return false;
      for (const [index, entry] of value.entries()) checkFields(`${what} ${index}`, entry, rules);
      return true;
    },
  };
}

/** A rule for an object whose own fields are checked by the given rules. */
export function nested(what: string, rules: Readonly<Record<string, FieldRule>>): FieldRule {
  return {
    expected: 'an object',
    test(value) {
      checkFields(what, value, rules);
      return true;
    },
  };
}
