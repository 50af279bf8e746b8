/**
 * What makes the module small beyond minifying. None of it changes what the code means:
 *
 * - The modules come in an order in which alike ones lie together, which gzip's short memory likes (`order.txt`; found by
 *   `npm run order`, and needed anew only when the module no longer fits).
 * - Texts are lists, and the code counts in them. Alike ones lie together in the same way (`texts.txt`).
 * - Members of classes and interfaces that nobody outside can name get short names, as `#private` ones do anyway.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin, StdinOptions } from 'esbuild';
import { minify, type MinifyOutput } from 'terser';
// The package doesn't export its list of the browser's names.
import { domprops } from '../node_modules/terser/tools/domprops.js';
import { de } from '../src/core/messages-de.ts';
import { en, type MessageKey } from '../src/core/messages-en.ts';

const source = join(dirname(fileURLToPath(import.meta.url)), '../src');
const ORDER = join(dirname(fileURLToPath(import.meta.url)), 'order.txt');
const TEXTS = join(dirname(fileURLToPath(import.meta.url)), 'texts.txt');

/** The modules in the order that is shipped; imports decide where they must. */
function order(): string[] {
  return readFileSync(ORDER, 'utf8').trim().split('\n');
}

function sources(): string[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => join(source, file));
}

/** An entry that names the modules in that order and exports what `index.ts` does. */
export function entry(): StdinOptions {
  const contents = `${order()
    .map((file) => `import './${file}';`)
    .join('\n')}\nexport * from './index.ts';`;
  return { contents, resolveDir: source, sourcefile: 'shell.ts', loader: 'ts' };
}

/** The texts in the order that is shipped: the file's, and last those that it doesn't know yet. */
export const KEYS = [
  ...new Set([
    ...readFileSync(TEXTS, 'utf8')
      .split('\n')
      .filter((key) => key in en),
    ...Object.keys(en),
  ]),
] as MessageKey[];
const PLACES = new Map<string, number>(KEYS.map((key, at) => [key, at]));

function list(values: readonly string[]): string {
  return `${JSON.stringify(values.join('\n'))}.split('\\n')`;
}

/** Beginnings of keys that are put together when they're needed, such as `place.`. */
function families(): Set<string> {
  const found = new Set<string>();
  for (const path of sources()) {
    for (const [, family = ''] of readFileSync(path, 'utf8').matchAll(/\bt\(`(\w+\.)\$\{/g)) found.add(family);
  }
  return found;
}

/** A source as it is shipped: texts are lists, and the code names them by their place. */
export function shipped(path: string): string {
  if (path.endsWith('core/messages-en.ts')) {
    const named = families();
    const names = KEYS.filter((key) => named.has(key.replace(/\w+$/, '')));
    const places = names.map((name) => `${name}=${PLACES.get(name)}`);
    return `export const en = ${list(KEYS.map((key) => en[key]))};
      for (const [name, place] of ${list(places)}.map((one) => one.split('='))) en[name] = en[place];`;
  }
  if (path.endsWith('core/messages-de.ts')) return `export const de = ${list(KEYS.map((key) => de[key]))};`;
  return readFileSync(path, 'utf8').replaceAll(/'(\w+\.\w+)'/g, (text, key: string) => String(PLACES.get(key) ?? text));
}

/** Loads the sources so. */
export const texts: Plugin = {
  name: 'texts',
  setup({ onLoad }) {
    onLoad({ filter: /src\/.*\.ts$/ }, ({ path }) => ({ contents: shipped(path), loader: 'ts' }));
  },
};

/** Sources of which every word may be seen: the API, what is stored, what frames are told. */
const TOLD = /^(types|frame)\.ts|^core\/profile/;
/** Sources whose shapes others see, too: what goes between tabs, to servers and from them. */
const SEEN =
  /^(types|index|frame|identity|request|remote|search)\.ts|^auth\/|^core\/(profile|snap|geometry|manifest|check)|^ui\/(bridge|element)/;

/**
 * Members of the shell's own classes and interfaces, less every name that others see, that the browser has or
 * that a string may mean. The sources are formatted by one tool, so a line tells what it declares.
 */
export function privateNames(): RegExp {
  const members = new Set<string>();
  const others = new Set<string>([...domprops, 'connectedCallback', 'disconnectedCallback', 'createHTML']);
  for (const path of sources()) {
    const file = relative(source, path);
    const text = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    // Strings, what stands in braces in texts, and data attributes.
    for (const [name] of text.matchAll(/(?<=['"`{]|dataset\.)\w+(?=['"`}]|\b)/g)) others.add(name);
    if (TOLD.test(file)) for (const [name] of text.matchAll(/\w+/g)) others.add(name);
    let inside = false;
    for (const line of text.split('\n')) {
      if (/^(export )?(class|interface|type) .*\{$/.test(line)) inside = true;
      else if (line.startsWith('}')) inside = false;
      const [, name] =
        /^ {2}(?:(?:readonly|static|async|get|set) )*([a-z]\w*)(?:<.*>)?[!?]?(?:[(:]| =)/.exec(line) ?? [];
      if (inside && name) (SEEN.test(file) ? others : members).add(name);
    }
  }
  const names = [...members].filter((name) => !others.has(name)).sort();
  return new RegExp(`^(?:${names.join('|')})$`);
}

/** A second pass takes some three percent off what the bundler leaves. */
export function squeeze(code: string, map?: string): Promise<MinifyOutput> {
  return minify(code, {
    module: true,
    ecma: 2020,
    compress: { passes: 1, inline: 1, hoist_props: false, sequences: false },
    format: { comments: false },
    ...(map && { sourceMap: { content: map, filename: 'shell.js', url: 'shell.js.map' } }),
  });
}
