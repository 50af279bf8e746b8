/**
 * Serves `dist/` beside a running application, under the policy that the client promises to work with, and hands everything else on.
 *
 * `SVC_URL` names the application (http://127.0.0.1:5080). `SVC_KEY` is an API key to work with where nobody can sign in yet; it
 * stays in this process. With `--watch` the client is built anew when a file changes.
 */
import { createReadStream, existsSync, statSync, watch } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Nothing inline, nothing from elsewhere; strings reach the page only through Lit's own policy. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob: https:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-src 'self' https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "manifest-src 'self'",
  "worker-src 'self'",
  'trusted-types lit-html svc-shell svc-web',
].join('; ');

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ftl': 'text/plain; charset=utf-8',
  '.map': 'application/json',
};

/** Where to hand requests on, and with which key. */
export interface Target {
  readonly url: string;
  readonly key?: string | undefined;
  readonly folder?: string;
}

function fileOf(folder: string, path: string): string | undefined {
  const clean = normalize(decodeURIComponent(path));
  const file = join(folder, clean === '/' ? 'index.html' : clean);
  return file.startsWith(folder) && existsSync(file) && statSync(file).isFile() ? file : undefined;
}

function sendFile(file: string, incoming: IncomingMessage, response: ServerResponse): void {
  const isKept = file.includes(`${sep}assets${sep}`);
  const packed = /\bbr\b/.test(String(incoming.headers['accept-encoding'])) && existsSync(`${file}.br`);
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'cache-control': isKept ? 'public, max-age=31536000, immutable' : 'no-cache, no-store',
    ...(packed ? { 'content-encoding': 'br' } : {}),
    vary: 'accept-encoding',
  });
  createReadStream(packed ? `${file}.br` : file).pipe(response);
}

function handOn(target: Target, incoming: IncomingMessage, response: ServerResponse): void {
  const url = new URL(incoming.url ?? '/', target.url);
  const headers = { ...incoming.headers, host: url.host };
  if (target.key && !headers.authorization) headers.authorization = `Bearer ${target.key}`;
  const onward = request(url, { method: incoming.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => {
    if (!response.headersSent) response.writeHead(502, { 'content-type': 'text/plain' });
    response.end('the application does not answer');
  });
  response.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

/** Starts the server; port 0 takes a free one. */
export async function serve(target: Target, port: number): Promise<{ server: Server; url: string }> {
  const folder = target.folder ?? join(root, 'dist');
  const server = createServer((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
    const file = incoming.method === 'GET' ? fileOf(folder, pathname) : undefined;
    if (file) sendFile(file, incoming, response);
    else handOn(target, incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Builds again when a file has changed; several changes at once are one. */
function rebuild(): void {
  let running = Promise.resolve<unknown>(undefined);
  let isWaiting = false;
  const again = () => {
    if (isWaiting) return;
    isWaiting = true;
    running = running.then(() => {
      isWaiting = false;
      return build(undefined, true).then(
        () => console.log('built'),
        (error: unknown) => console.error(error),
      );
    });
  };
  for (const folder of ['src', 'messages', '../modules', '../examples', '../shell/src']) {
    watch(join(root, folder), { recursive: true }, again);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build(undefined, true);
  if (process.argv.includes('--watch')) rebuild();
  const target = { url: process.env.SVC_URL ?? 'http://127.0.0.1:5080', key: process.env.SVC_KEY };
  const { url } = await serve(target, Number(process.env.PORT ?? 5090));
  console.log(`The client is at ${url}, in front of ${target.url}`);
}
