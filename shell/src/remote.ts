/**
 * Remote apps: a manifest by URL or inline brings permissions, apps and modules. What is wrong with one part is reported
 * and doesn't keep the others out; a manifest or module that can't be fetched is tried three times.
 */
import { messageOf } from './core/check.ts';
import { readManifest, type ManifestModule } from './core/manifest.ts';
import type { Runtime } from './runtime.ts';
import type { AppDefinition, RemoteManifest, RemoteReport } from './types.ts';

const ATTEMPTS = 3;
const FIRST_WAIT_MS = 400;
const PATIENCE_MS = 15_000;
const MAX_BYTES = 1024 * 1024;

/** A failure that another attempt doesn't mend. */
class Final extends Error {}

async function attempts<T>(what: string, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (cause) {
      if (attempt + 1 < ATTEMPTS && !(cause instanceof Final)) {
        await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** attempt));
        continue;
      }
      throw new Error(`${what} couldn't be loaded: ${messageOf(cause)}`, { cause });
    }
  }
}

/** Fetches a manifest. No token goes along: a manifest is a public file, wherever it lies. */
async function fetchManifest(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), credentials: 'same-origin' });
  if (!response.ok) {
    const problem = `the server answered ${response.status}`;
    throw response.status < 500 && response.status !== 429 ? new Final(problem) : new Error(problem);
  }
  if (Number(response.headers.get('content-length')) > MAX_BYTES) throw new Final('it is larger than 1 MB');
  const text = await response.text();
  if (text.length > MAX_BYTES) throw new Final('it is larger than 1 MB');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Final('it is not JSON');
  }
}

const preloads = new Map<string, Promise<void>>();

/** Has the browser fetch a module and compare it with its hashes; an import takes what was fetched. */
function preload(url: string, integrity: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const link = document.createElement('link');
  Object.assign(link, { rel: 'modulepreload', integrity, crossOrigin: 'anonymous' });
  link.onload = () => resolve();
  link.onerror = () => reject(new Final(`\`${url}\` isn't the module its hash stands for, or can't be fetched`));
  link.href = url;
  document.head.append(link);
  return promise;
}

/** Imports a module, after its hashes were compared. */
export async function importModule(url: string, integrity?: string): Promise<Record<string, unknown>> {
  if (integrity) {
    const known = preloads.get(url) ?? preload(url, integrity);
    preloads.set(url, known);
    await known;
  }
  return (await import(/* @vite-ignore */ /* webpackIgnore: true */ url)) as Record<string, unknown>;
}

/** A module that failed once stays failed in the browser's cache; a fresh query asks for it again. */
export function retryUrl(address: string, attempt: number): string {
  const url = new URL(address, document.baseURI);
  if (attempt > 0) url.searchParams.set('retry', String(attempt));
  return url.href;
}

function runModule({ url, integrity }: ManifestModule): Promise<unknown> {
  return attempts(`the module \`${url}\``, (attempt) => importModule(retryUrl(url, attempt), integrity));
}

/** Only pages and modules of the web; an icon may also be a picture in itself. */
function resolveAgainst(base: string): (address: string, what: string) => string {
  return (address, what) => {
    const url = URL.canParse(address, base) ? new URL(address, base) : undefined;
    const fits =
      url && (/^https?:$/.test(url.protocol) || (what.startsWith('`icon`') && /^data:image\//i.test(url.href)));
    if (!fits) throw new TypeError(`${what} must be an address of the web, not \`${address}\``);
    return url.href;
  };
}

/** Loads a manifest; rejects when it can't be had at all. */
export async function loadRemote(runtime: Runtime, source: string | URL | RemoteManifest): Promise<RemoteReport> {
  const byUrl = typeof source === 'string' || source instanceof URL;
  const base = byUrl ? new URL(source, document.baseURI).href : document.baseURI;
  const what = byUrl ? `the manifest \`${base}\`` : 'an inline manifest';
  const manifest: unknown = byUrl ? await attempts(what, () => fetchManifest(base)) : source;
  const parts = readManifest(manifest, resolveAgainst(base), (id) => runtime.apps.peek().has(id));
  const report: RemoteReport = { apps: [], permissions: [], modules: [], problems: parts.problems };
  runtime.registerPermissions(parts.permissions);
  report.permissions = parts.permissions.map(({ id }) => id);
  for (const { integrity, ...app } of parts.apps) {
    if (integrity) runtime.integrity.set(app.entry as string, integrity);
    runtime.registerApp(app as unknown as AppDefinition);
    report.apps.push(app.id);
  }
  const ran = await Promise.allSettled(parts.modules.map(runModule));
  for (const [index, { url }] of parts.modules.entries()) {
    const outcome = ran[index];
    if (outcome?.status === 'rejected') report.problems.push(String(outcome.reason?.message ?? outcome.reason));
    else report.modules.push(url);
  }
  for (const problem of report.problems) console.warn(`svc-shell: ${what}: ${problem}`);
  return report;
}
