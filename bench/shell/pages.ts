/** Serves the three libraries on pages that differ in nothing but the library. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const FOLDERS: [string, string][] = [
  ['/shell/', join(here, '../../shell/dist')],
  ['/winbox/', join(here, 'node_modules/winbox/dist')],
  ['/jspanel/', join(here, 'node_modules/jspanel4/dist')],
];
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

const head = (links: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bench</title>${links}</head><body>`;
/** An application with a hundred apps. */
const HUNDRED = `<script type="module">
import { Shell } from '/shell/shell.js';
for (let index = 0; index < 100; index += 1)
  Shell.registerApp({ id: 'app' + index, title: 'App ' + index, icon: 'app.svg', accent: '#3b6fe0', render: () => '' });
document.body.append(document.createElement('shell-desktop'));
</script>`;

const PAGES: Record<string, string> = {
  '/shell': `${head('<link rel="stylesheet" href="/shell/shell.css">')}<script type="module" src="/shell/shell.js"></script></body></html>`,
  '/start': `${head('<link rel="stylesheet" href="/shell/shell.css">')}${HUNDRED}</body></html>`,
  '/nothing': `${head('')}</body></html>`,
  '/winbox': `${head('')}<script src="/winbox/winbox.bundle.min.js"></script></body></html>`,
  '/jspanel': `${head('<link rel="stylesheet" href="/jspanel/jspanel.min.css">')}<script src="/jspanel/jspanel.min.js"></script></body></html>`,
};

/** Starts the server on a free port. */
export async function serve(): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const page = PAGES[path];
    if (page) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
      return;
    }
    const folder = FOLDERS.find(([prefix]) => path.startsWith(prefix));
    const file = folder && join(folder[1], path.slice(folder[0].length));
    if (!file || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
      .end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
