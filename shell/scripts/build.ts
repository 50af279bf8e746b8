/**
 * Builds what is shipped: `dist/shell.js`, `dist/shell.css`, `dist/frame.js`, their declarations and `dist/icons/`, and refuses to grow
 * beyond the sizes promised.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { entry, privateNames, squeeze, texts } from './squeeze.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stage = join(root, '.build');

/** Bytes after minifying and gzip. */
const LIMITS = { 'shell.js': 64 * 1024, 'shell.css': 16 * 1024, 'frame.js': 2 * 1024 };

async function bundle(): Promise<void> {
  const common = {
    outdir: dist,
    bundle: true,
    format: 'esm',
    minify: true,
    sourcemap: true,
    target: ['es2024', 'chrome125', 'firefox128', 'safari17.5'],
    legalComments: 'none',
  } satisfies BuildOptions;
  await build({ ...common, stdin: entry(), plugins: [texts], mangleProps: privateNames(), entryNames: 'shell' });
  await build({ ...common, entryPoints: [join(root, 'src/frame.ts')] });
  const file = join(dist, 'shell.js');
  const { code, map } = await squeeze(readFileSync(file, 'utf8'), readFileSync(`${file}.map`, 'utf8'));
  writeFileSync(file, code ?? '');
  writeFileSync(`${file}.map`, String(map));
  await build({
    entryPoints: [{ in: join(root, 'src/styles/shell.css'), out: 'shell' }],
    outdir: dist,
    bundle: true,
    minify: true,
    sourcemap: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
  });
  cpSync(join(root, 'icons'), join(dist, 'icons'), { recursive: true });
}

/** One declaration file: the compiler writes one per module, the extractor joins what the API reaches. */
function declarations(): void {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  const bin = join(root, 'node_modules/.bin');
  const run = (tool: string, ...args: string[]) =>
    execFileSync(join(bin, tool), args, { cwd: root, stdio: 'pipe', encoding: 'utf8' });
  run(
    'tsc',
    '-p',
    'tsconfig.json',
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--outDir',
    stage,
    '--rootDir',
    'src',
  );
  for (const file of readdirSync(stage, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(stage, file);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll(/(from '|from "|import\('|import\(")(\.[^'"]*)\.ts(?=['"])/g, '$1$2'),
    );
  }
  // What a page in a frame imports stands alone.
  cpSync(join(stage, 'frame.d.ts'), join(dist, 'frame.d.ts'));
  const config = {
    projectFolder: root,
    mainEntryPointFilePath: join(stage, 'index.d.ts'),
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          target: 'ES2022',
          lib: ['ES2022', 'DOM'],
          moduleResolution: 'bundler',
          module: 'ESNext',
          skipLibCheck: true,
          types: [],
        },
        include: [join(stage, '**/*.d.ts')],
      },
    },
    apiReport: { enabled: false },
    docModel: { enabled: false },
    tsdocMetadata: { enabled: false },
    dtsRollup: { enabled: true, untrimmedFilePath: join(dist, 'shell.d.ts') },
    messages: {
      extractorMessageReporting: { default: { logLevel: 'none' } },
      tsdocMessageReporting: { default: { logLevel: 'none' } },
      compilerMessageReporting: { default: { logLevel: 'error' } },
    },
  };
  const configPath = join(stage, 'api-extractor.json');
  writeFileSync(configPath, JSON.stringify(config));
  run('api-extractor', 'run', '--local', '-c', configPath);
}

function checkSizes(): boolean {
  let fits = true;
  for (const [file, limit] of Object.entries(LIMITS)) {
    const bytes = gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
    const over = bytes > limit;
    fits &&= !over;
    console.log(
      `${over ? 'TOO LARGE' : 'ok       '} ${file}: ${(bytes / 1024).toFixed(1)} KB gzipped of ${limit / 1024} KB`,
    );
  }
  return fits;
}

rmSync(dist, { recursive: true, force: true });
await bundle();
if (!process.argv.includes('--quick')) declarations();
if (!checkSizes()) process.exitCode = 1;
