/** The browser host as a process of its own before a shop, as a network has it that keeps the application away from browsers. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reservePort } from '../../shell/scripts/port.ts';
import { throwAwayDatabase } from '../../web/scripts/postgres.ts';
import { startApplication, startProgram, type Application, type DatabaseKind } from './application.ts';

/** Starts the shop, and the host by which browsers reach it; each has a database of its own. */
export async function startBehindHost(kind: DatabaseKind): Promise<Application> {
  const port = await reservePort();
  const url = `http://localhost:${port}`;
  const secret = randomBytes(32).toString('hex');
  const application = await startApplication(kind, 'shop', true, {
    'Http:PublicUrl': url,
    'OpenId:BrowserHostSecret': secret,
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-host-'));
  const database = kind === 'postgres' ? await throwAwayDatabase() : undefined;
  const host = await startProgram('shop', folder, ['browser-host', 'serve'], {
    'Http:Listen': `127.0.0.1:${port}`,
    'Http:PublicUrl': url,
    'BrowserHost:Api': application.url,
    'BrowserHost:ClientSecret': secret,
    'Database:Url': database?.url ?? `sqlite://${join(folder, 'host.db')}`,
  });
  return {
    ...application,
    url,
    async end() {
      await host.end();
      await application.end();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
