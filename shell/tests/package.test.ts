/** The package as it would be published: what is in it, and whether tools that people use find module and types. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pack } from '../scripts/pack.ts';

const packed = pack();
after(() => packed.end());

test('the package holds what is built, the icons and the README, and no sources', () => {
  const shipped = packed.files.filter((path) => !path.startsWith('dist/icons/'));
  assert.deepEqual(shipped, [
    'README.md',
    'dist/frame.d.ts',
    'dist/frame.js',
    'dist/frame.js.map',
    'dist/shell.css',
    'dist/shell.css.map',
    'dist/shell.d.ts',
    'dist/shell.js',
    'dist/shell.js.map',
    'package.json',
  ]);
  assert.ok(packed.files.includes('dist/icons/app.svg'));
});

test('publint has nothing to say', async () => {
  const tarball = packed.data.buffer.slice(packed.data.byteOffset, packed.data.byteOffset + packed.data.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: tarball as ArrayBuffer }, strict: true });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});

test('bundlers and Node find the types of both modules', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(packed.data), { entrypoints: ['.', './frame'] });
  assert.ok(analysis.types, 'the package has types');
  // Modules alone, for `import`: neither for `require` nor for resolvers that don't know `exports`.
  const elsewhere = ['node10', 'node16-cjs'];
  const problems = analysis.problems.filter(
    (problem) => !('resolutionKind' in problem && elsewhere.includes(problem.resolutionKind)),
  );
  assert.deepEqual(problems, []);
});

test('an application compiles against it, with the declarations checked, too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shell-types-'));
  const installed = join(folder, 'node_modules/@svc/shell');
  mkdirSync(installed, { recursive: true });
  packed.unpack(installed);
  writeFileSync(
    join(folder, 'app.ts'),
    `import { createOidcProvider, httpProfileStore, Shell, type AppDefinition, type RenderContext } from '@svc/shell';
    import { connectFrame } from '@svc/shell/frame';
    const app: AppDefinition = { id: 'one', title: 'One', icon: 'app.svg', render: (context: RenderContext) => context.appId };
    Shell.configure({ profileStore: httpProfileStore(Shell.request), accessProvider: () => Shell.request('/me') });
    Shell.registerAuthProvider(createOidcProvider({ authority: 'https://id.example.com', clientId: 'desktop' }));
    Shell.registerApp(app);
    connectFrame('https://desktop.example').setTitle('One');
    // @ts-expect-error A misspelt option is found.
    Shell.configure({ loginHnt: '' });`,
  );
  const tsc = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/.bin/tsc');
  const options = ['--strict', '--noEmit', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2022'];
  execFileSync(tsc, [...options, '--lib', 'es2022,dom,dom.iterable', 'app.ts'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  rmSync(folder, { recursive: true, force: true });
});
