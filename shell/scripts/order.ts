/**
 * Looks for an order of the modules that compresses better, by moving one at a time, for the seconds given as the argument
 * (60), and writes `order.txt`. A module stays behind those that it imports.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { entry, privateNames, shipped, squeeze } from './squeeze.ts';

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
let [best, bytes] = [parts, size(parts)];
console.log(`${bytes} bytes`);
const until = Date.now() + Number(process.argv[2] ?? 60) * 1000;
while (Date.now() < until) {
  const next = [...best];
  const [moved] = next.splice(Math.floor(Math.random() * next.length), 1);
  if (moved) next.splice(Math.floor(Math.random() * next.length), 0, moved);
  const now = fits(next) ? size(next) : bytes;
  if (now < bytes) [best, bytes] = [next, now];
}
console.log(`${bytes} bytes`);
writeFileSync(join(here, 'order.txt'), `${best.map(({ name }) => name).join('\n')}\n`);
