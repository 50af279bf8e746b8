/** The page of patterns, on a server of its own. */
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../web/scripts/dev.ts';
import { buildPatterns } from '../../web/scripts/patterns.ts';

/** Builds and serves it; `whose` is the folder's name. */
export async function servePatterns(whose: string): Promise<{ server: Server; url: string }> {
  const folder = join(tmpdir(), `svc-patterns-${process.pid}`, whose);
  await buildPatterns(folder);
  return serve({ url: 'http://127.0.0.1:9', folder }, 0);
}
