/**
 * Builds the client into `dist/`: hashed files that can be kept for good, each also compressed, and `index.html`, which can't.
 *
 * Every folder `web/` of a module or an example takes part by its `app.json`: apps, how sets look, and texts in `messages/`.
 * Code that several apps use is in files of its own (esbuild splits), so that an app costs what only it needs.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build as bundle, type BuildOptions, type Metafile, type Plugin } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const project = join(root, '..');
const AHEAD = join(root, 'src/host/ahead.ts');
const MAIN = join(root, 'src/host/main.ts');
const STYLES = join(root, 'src/styles/client.css');

/** What is transferred before the desktop is usable, compressed: the page, its styles, its code and its texts. */
const START_LIMIT = 150 * 1024;

/** How far the README's figures may be from what is built, in KB. */
const OFF_KB = 3;

/** What costs something, by the word that begins its line in the README: the script that is loaded, and what is there already. */
const FIGURES: Readonly<Record<string, { entry: string; behind?: string }>> = {
  list: { entry: 'web/src/sets/render.ts' },
  webhooks: { entry: 'modules/webhooks/web/index.ts', behind: 'list' },
  tasks: { entry: 'modules/workflows/web/index.ts', behind: 'list' },
  number: { entry: 'modules/workflows/web/badge.ts' },
};

const TARGET = ['es2024', 'chrome125', 'firefox128', 'safari17.5'];

/** What a module's `app.json` says. */
interface ModuleFile {
  apps?: ({ entry: string; badge?: string } & Record<string, unknown>)[];
  sets?: Record<string, unknown>;
}

/** Folders of modules with pages. */
export function moduleFolders(): string[] {
  return globSync(['modules/*/web/app.json', 'examples/*/web/app.json', 'web/system/app.json'], { cwd: project })
    .sort()
    .map((file) => dirname(join(project, file)));
}

function hash(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 10).toUpperCase();
}

/** The texts of the client and of all modules in one file for each language. */
function writeMessages(out: string): Record<string, string[]> {
  const folders = [root, ...moduleFolders()].map((folder) => join(folder, 'messages'));
  const languages = [...new Set(folders.flatMap((folder) => globSync('*.ftl', { cwd: folder })))].map((file) =>
    basename(file, '.ftl'),
  );
  return Object.fromEntries(
    languages.sort().map((language) => {
      const files = folders.map((folder) => join(folder, `${language}.ftl`)).filter((file) => existsSync(file));
      const text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
      const name = `assets/${language}-${hash(text)}.ftl`;
      writeFileSync(join(out, name), text);
      return [language, [`/${name}`]];
    }),
  );
}

/**
 * The pictures, where they can be kept for good: in a folder whose name says what they are. Those of the installed application have
 * addresses that never change. Gives back the folder's address.
 */
function writeIcons(out: string): string {
  const own = join(root, 'icons');
  const folders = [join(project, 'shell/icons'), own];
  const all = folders.flatMap((folder) => globSync('*.svg', { cwd: folder }).map((file) => join(folder, file))).sort();
  const name = `assets/icons-${hash(all.map((file) => basename(file) + readFileSync(file, 'utf8')).join())}`;
  for (const file of all) cpSync(file, join(out, name, basename(file)));
  for (const file of globSync('application*.svg', { cwd: own })) cpSync(join(own, file), join(out, 'icons', file));
  return `/${name}/`;
}

/** The module `svc:modules`: apps with the import that loads them, looks, and where texts and pictures lie. */
function modulesPlugin(messages: Record<string, string[]>, icons: string): Plugin {
  const entries = moduleFolders().map((folder) => {
    const { apps = [], sets = {} } = JSON.parse(readFileSync(join(folder, 'app.json'), 'utf8')) as ModuleFile;
    const loading = (file: string) => `()=>import(${JSON.stringify(join(folder, file))})`;
    const written = apps.map(({ entry, badge, ...rest }) => {
      const loadBadge = badge === undefined ? '' : `,loadBadge:${loading(badge)}`;
      return `{...${JSON.stringify(rest)},load:${loading(entry)}${loadBadge}}`;
    });
    return `{apps:[${written.join(',')}],sets:${JSON.stringify(sets)}}`;
  });
  const contents = `export const messages=${JSON.stringify(messages)};export const icons=${JSON.stringify(icons)};export const modules=[${entries.join(',')}];`;
  return {
    name: 'svc-modules',
    setup(build) {
      build.onResolve({ filter: /^svc:modules$/ }, () => ({ path: 'svc:modules', namespace: 'svc' }));
      build.onLoad({ filter: /.*/, namespace: 'svc' }, () => ({ contents, loader: 'js', resolveDir: root }));
    },
  };
}

/** What an entry point needs at once: its own file and those it imports without waiting. */
function startFiles(meta: Metafile, entry: string): string[] {
  const found = new Set<string>();
  const visit = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    for (const { path, kind } of meta.outputs[file]?.imports ?? []) if (kind === 'import-statement') visit(path);
  };
  const output = Object.entries(meta.outputs).find(
    ([, { entryPoint }]) => entryPoint && join(root, entryPoint) === entry,
  );
  if (output) visit(output[0]);
  return [...found];
}

/**
 * Has what every start needs lie in one file: esbuild makes a file for each group of modules that the same entry points need, which
 * would be a dozen for the start. Whatever is loaded later needs all of the start as well, as it is there by then.
 */
function oneStart(meta: Metafile, first: readonly string[]): Plugin {
  const inputs = startFiles(meta, MAIN).flatMap((file) => Object.keys(meta.outputs[file]?.inputs ?? {}));
  // Libraries come with those that use them.
  const own = inputs.filter((file) => file.endsWith('.ts') && !file.includes('node_modules/'));
  const needed = ['svc:modules', ...own.map((file) => join(root, file)).filter((file) => file !== MAIN)];
  const imports = needed.map((file) => `import ${JSON.stringify(file)};`);
  const entries = Object.values(meta.outputs).flatMap(({ entryPoint }) => (entryPoint ? [join(root, entryPoint)] : []));
  const later = new Set(entries.filter((file) => !first.includes(file)));
  return {
    name: 'svc-one-start',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        later.has(path) ? { contents: `${readFileSync(path, 'utf8')}\n${imports.join('')}`, loader: 'ts' } : undefined,
      );
    },
  };
}

/** The page names the files it needs, so that the browser asks for all of them at once. */
function writePage(out: string, meta: Metafile): string[] {
  const within = (file: string) => relative(out, join(root, file));
  // By the file that it's in, so that the start of all else finds it there.
  const ahead = within(
    Object.keys(meta.outputs).find((file) => relative(root, AHEAD) in (meta.outputs[file]?.inputs ?? {})) ?? '',
  );
  const code = startFiles(meta, MAIN).map(within);
  const styles = startFiles(meta, STYLES).map(within);
  const [main, ...chunks] = code;
  const preload = (file: string) => `<link rel="modulepreload" href="/${file}">`;
  // What asks the server runs as soon as it's there; all else waits for the styles.
  const lines = [
    `<script type="module" async fetchpriority="high" src="/${ahead}"></script>`,
    ...styles.map((file) => `<link rel="stylesheet" href="/${file}">`),
    ...chunks.filter((file) => file !== ahead).map(preload),
    `<script type="module" src="/${main}"></script>`,
  ];
  const page = readFileSync(join(root, 'src/host/index.html'), 'utf8').replace('<!-- parts -->', lines.join('\n'));
  writeFileSync(join(out, 'index.html'), page);
  return ['index.html', ...code, ...styles];
}

/** The service worker knows the files of its build, and keeps no others. */
async function writeWorker(out: string, options: BuildOptions): Promise<void> {
  const files = globSync('{assets,icons}/**/*.*', { cwd: out }).filter((file) => !file.endsWith('.map'));
  await bundle({
    ...options,
    entryPoints: [join(root, 'src/worker/service-worker.ts')],
    outfile: join(out, 'service-worker.js'),
    define: {
      FILES: JSON.stringify(files.sort().map((file) => `/${file}`)),
      OFFLINE: JSON.stringify(readFileSync(join(root, 'src/worker/offline.html'), 'utf8')),
    },
  });
}

const COMPRESSED = /\.(js|css|html|svg|ftl|json)$/;

/** Each file that gains by it also as Brotli and gzip. */
function compress(out: string): void {
  for (const file of globSync('**/*', { cwd: out })) {
    if (!COMPRESSED.test(file)) continue;
    const content = readFileSync(join(out, file));
    writeFileSync(join(out, `${file}.gz`), gzipSync(content, { level: 9 }));
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    writeFileSync(join(out, `${file}.br`), brotliCompressSync(content, { params: quality }));
  }
}

/** Puts a folder in the place of another one, which is there to the last moment: a program may be built with it just now. */
function put(fresh: string, folder: string): void {
  const old = `${fresh}.old`;
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
}

/** What each of the figures transfers beyond a start, in bytes. */
function measure(out: string, meta: Metafile, start: readonly string[]): Record<string, number> {
  const size = (file: string) => readFileSync(join(out, `${file}.br`)).length;
  const sum = (files: readonly string[]) => files.reduce((total, file) => total + size(file), 0);
  const needs = (name: string): string[] => {
    const { entry, behind } = FIGURES[name] ?? { entry: '' };
    const files = startFiles(meta, join(project, entry)).map((file) => relative(out, join(root, file)));
    const known = [...start, ...(behind === undefined ? [] : needs(behind))];
    return files.filter((file) => !known.includes(file));
  };
  const further = Object.keys(FIGURES).map((name) => [name, sum(needs(name))] as const);
  return { start: sum(start), ...Object.fromEntries(further) };
}

/** Builds into a folder, which changes at once when all is there; says how many bytes a start takes, and what is opened then. */
export async function build(
  folder: string = join(root, 'dist'),
  withMaps = false,
): Promise<Readonly<Record<string, number>>> {
  const out = `${folder}.${process.pid}`;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, 'assets'), { recursive: true });
  const messages = writeMessages(out);
  const icons = writeIcons(out);
  const usual = { absWorkingDir: root, bundle: true, minify: true, target: TARGET, legalComments: 'none' } as const;
  const first = [AHEAD, MAIN, STYLES];
  const pages: BuildOptions & { metafile: true } = {
    ...usual,
    entryPoints: first,
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    format: 'esm',
    sourcemap: withMaps && 'linked',
    metafile: true,
    nodePaths: [join(root, 'node_modules')],
    alias: {
      '@svc/shell': join(project, 'shell/src/index.ts'),
      '@svc/web/server': join(root, 'src/server.ts'),
      '@svc/web': join(root, 'src/index.ts'),
    },
  };
  const parts = modulesPlugin(messages, icons);
  const { metafile: known } = await bundle({ ...pages, plugins: [parts], write: false });
  const { metafile } = await bundle({ ...pages, plugins: [parts, oneStart(known, first)] });
  await writeWorker(out, usual);
  const start = writePage(out, metafile);
  compress(out);
  const sizes = measure(out, metafile, [...start, (messages.en?.[0] ?? '').slice(1)]);
  put(out, folder);
  return sizes;
}

/** What the README says in another way than it is. */
function untrue(sizes: Readonly<Record<string, number>>): string[] {
  const said = readFileSync(join(root, 'README.md'), 'utf8');
  return Object.entries(sizes).flatMap(([name, bytes]) => {
    const figure = new RegExp(`^${name} +\\+?([\\d.]+) KB`, 'm').exec(said)?.[1];
    if (figure !== undefined && Math.abs(Number(figure) - bytes / 1024) <= OFF_KB) return [];
    return [`README.md says ${figure ?? 'nothing'} for \`${name}\`, which takes ${(bytes / 1024).toFixed(1)} KB`];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sizes = await build();
  const isOver = (sizes.start ?? 0) > START_LIMIT;
  for (const [name, bytes] of Object.entries(sizes)) console.log(`${name.padEnd(9)}${(bytes / 1024).toFixed(1)} KB`);
  if (isOver) console.log(`TOO LARGE: a start may transfer ${START_LIMIT / 1024} KB`);
  const wrong = untrue(sizes);
  for (const line of wrong) console.log(line);
  if (isOver || wrong.length > 0) process.exitCode = 1;
}
