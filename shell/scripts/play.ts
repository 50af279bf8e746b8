/** Serves the playground under the strictest policy that the shell promises to work with. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** No inline styles or scripts, and strings reach HTML sinks only through the shell's named policy. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob: https:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-src 'self' https:",
  "form-action 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc-shell',
].join('; ');

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.map': 'application/json',
};

/** Which folder answers which prefix. */
const FOLDERS: [string, string][] = [
  ['/shell/', join(root, 'dist')],
  ['/vendor/', join(root, 'node_modules/htm/preact')],
  ['/', join(root, 'playground')],
];

function fileFor(path: string): string | undefined {
  const clean = normalize(decodeURIComponent(path));
  for (const [prefix, folder] of FOLDERS) {
    if (!clean.startsWith(prefix)) continue;
    const file = join(folder, clean.slice(prefix.length) || 'index.html');
    return file.startsWith(folder) && existsSync(file) && statSync(file).isFile() ? file : undefined;
  }
  return undefined;
}

/** Starts the server; port 0 takes a free one. Pages may load modules and pictures from, talk to and frame `others` besides their own origin; `answer` comes before the files. */
export async function serve(
  port: number,
  others: readonly string[] = [],
  answer?: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    if (answer?.(request, response)) return;
    const file = fileFor(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (!file) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
      return;
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': POLICY.replace(/(script-src|connect-src|frame-src|img-src) 'self'/g, (sources) =>
        [sources, ...others].join(' '),
      ),
      'cache-control': 'no-store',
    });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(Number(process.env.PORT ?? 4173));
  console.log(`The playground is at ${url}`);
}
