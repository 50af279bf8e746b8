/** Builds the page of patterns, and serves it: `npm run patterns`. It needs no application. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { serve } from './dev.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Builds it into a folder. */
export async function buildPatterns(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  await bundle({
    absWorkingDir: root,
    entryPoints: {
      patterns: join(root, 'patterns/index.ts'),
      client: join(root, 'src/styles/client.css'),
    },
    outdir: join(folder, 'assets'),
    bundle: true,
    format: 'esm',
    nodePaths: [join(root, 'node_modules')],
    target: ['es2024'],
  });
  cpSync(join(root, 'patterns/patterns.css'), join(folder, 'assets/patterns.css'));
  cpSync(join(root, 'patterns/index.html'), join(folder, 'index.html'));
  // No server has texts of its own here.
  mkdirSync(join(folder, 'api/v1/messages'), { recursive: true });
  for (const language of ['en', 'de']) {
    writeFileSync(join(folder, `api/v1/messages/${language}`), '');
    cpSync(join(root, `messages/${language}.ftl`), join(folder, `assets/${language}.ftl`));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'dist.patterns');
  await buildPatterns(folder);
  const { url } = await serve({ url: 'http://127.0.0.1:9', folder }, Number(process.env.PORT ?? 5091));
  console.log(`The patterns are at ${url}, in German at ${url}/?language=de`);
}
