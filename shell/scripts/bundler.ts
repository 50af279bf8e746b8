/** Bundles an application the way a product would, to test that the package survives it. */
import { build } from 'esbuild';

/** One chunk, and its stylesheet beside it, from a module's text; packages are found from `folder`. */
export async function bundle(source: string, folder: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents: source, resolveDir: folder, loader: 'js' },
    bundle: true,
    format: 'esm',
    minify: true,
    outfile,
    logLevel: 'silent',
  });
}
