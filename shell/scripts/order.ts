/**
 * Looks for an order of the modules, and one of the texts, that compress better, by moving one at a time, for the seconds given
 * as the argument (60) each, and writes `order.txt` and `texts.txt`. A module stays behind those that it imports.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { de } from '../src/core/messages-de.ts';
import { en, type MessageKey } from '../src/core/messages-en.ts';
import { entry, KEYS, privateNames, shipped, squeeze } from './squeeze.ts';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, '../src');
const MARK = 'shell-module:';

interface Part {
  name: string;
  code: string;
}

/** The module as it is shipped, cut where one source ends and the next begins; and who must come before whom. */
async function take(): Promise<{ parts: Part[]; before: Map<string, string[]> }> {
  const nameOf = (path: string) => relative(source, path);
  const mark: Plugin = {
    name: 'mark',
    setup({ onLoad }) {
      onLoad({ filter: /src\/.*\.ts$/ }, ({ path }) => ({
        loader: 'ts',
        contents: `console.log("${MARK}${nameOf(path)}");${shipped(path)}`,
      }));
    },
  };
  const { outputFiles, metafile } = await build({
    stdin: entry(),
    plugins: [mark],
    bundle: true,
    format: 'esm',
    minify: true,
    mangleProps: privateNames(),
    metafile: true,
    write: false,
    target: 'es2024',
    absWorkingDir: source,
  });
  const { code = '' } = await squeeze(outputFiles[0]?.text ?? '');
  const parts = code
    .split(`console.log("${MARK}`)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('")');
      return { name: part.slice(0, end), code: part.slice(end + 3) };
    });
  const at = new Map(parts.map(({ name }, index) => [name, index]));
  const before = new Map<string, string[]>();
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    const own = at.get(file) ?? 0;
    before.set(
      file,
      imports.map(({ path }) => path).filter((path) => (at.get(path) ?? own) < own),
    );
  }
  return { parts, before };
}

const { parts, before } = await take();
const size = (all: readonly Part[]) => gzipSync(all.map(({ code }) => code).join(''), { level: 9 }).length;
const fits = (all: readonly Part[]) => {
  const at = new Map(all.map(({ name }, index) => [name, index]));
  return all.every(({ name }, index) => before.get(name)?.every((one) => (at.get(one) ?? 0) < index));
};
const SEARCH_MS = Number(process.argv[2] ?? 60) * 1000;

/** Moves one at a time to another place, and keeps what is smaller. */
function search<T>(first: readonly T[], sizeOf: (order: readonly T[]) => number): readonly T[] {
  let [best, bytes] = [first, sizeOf(first)];
  console.log(`${bytes} bytes`);
  const until = Date.now() + SEARCH_MS;
  while (Date.now() < until) {
    const next = [...best];
    const moved = next.splice(Math.floor(Math.random() * next.length), 1);
    next.splice(Math.floor(Math.random() * next.length), 0, ...moved);
    const now = sizeOf(next);
    if (now < bytes) [best, bytes] = [next, now];
  }
  console.log(`${bytes} bytes`);
  return best;
}

const write = (name: string, lines: readonly string[]) => writeFileSync(join(here, name), `${lines.join('\n')}\n`);
const modules = search(parts, (order) => (fits(order) ? size(order) : Number.POSITIVE_INFINITY));
const code = modules.map((part) => part.code).join('');
const lists = [en, de].map(
  (language) => (keys: readonly MessageKey[]) => JSON.stringify(keys.map((key) => language[key]).join('\n')),
);
for (const list of lists) if (!code.includes(list(KEYS))) throw new Error('the module holds its texts in another way');
const sorted = search(
  KEYS,
  (keys) =>
    gzipSync(
      lists.reduce((text, list) => text.replace(list(KEYS), () => list(keys)), code),
      { level: 9 },
    ).length,
);
write(
  'order.txt',
  modules.map(({ name }) => name),
);
write('texts.txt', sorted);
