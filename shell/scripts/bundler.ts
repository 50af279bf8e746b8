/** Bundles an application the way a product would, to test that the package survives it. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as esbuild } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** One chunk from a module's text, with the package of this folder inlined. */
export async function build(source: string): Promise<string> {
  const { outputFiles } = await esbuild({
    stdin: { contents: source, resolveDir: root, loader: 'js' },
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    logLevel: 'silent',
    alias: { '@svc/shell': join(root, 'dist/shell.js') },
  });
  return outputFiles[0]?.text ?? '';
}
