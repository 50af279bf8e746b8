/** The built-in transport of `Shell.request`. */
import type { Session } from './types.ts';

/** A server answered with a status outside 200 to 299. */
export class ShellRequestError extends Error {
  override name = 'ShellRequestError';
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  /** The body: parsed when it's JSON, else text. */
  readonly body: unknown;
  /** The body of an `application/problem+json` answer. */
  readonly problem?: Record<string, unknown>;

  constructor(response: Response, body: unknown) {
    const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
    const problem = isProblem && typeof body === 'object' && body ? (body as Record<string, unknown>) : undefined;
    const detail = problem?.detail ?? problem?.title ?? response.statusText;
    super(`the server answered ${response.status} to \`${response.url}\`${detail ? `: ${String(detail)}` : ''}`);
    this.status = response.status;
    this.statusText = response.statusText;
    this.url = response.url;
    this.body = body;
    if (problem) this.problem = problem;
  }
}

function isJson(response: Response): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(response.headers.get('content-type') ?? '');
}

async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  if (!isJson(response)) return text;
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

/**
 * Sends an authenticated request. The token goes only to the server of `base` (or the page's own origin), so that an
 * absolute URL elsewhere never carries it away.
 */
export async function send(
  base: string,
  session: Session | undefined,
  path: string,
  init: RequestInit = {},
): Promise<unknown> {
  const home = new URL(base || '.', document.baseURI);
  const url = new URL(/^[a-z][a-z\d+.-]*:|^\/\//i.test(path) ? path : base + path, document.baseURI);
  const headers = new Headers(init.headers);
  if (session?.token && url.origin === home.origin && !headers.has('authorization')) {
    headers.set('authorization', `Bearer ${session.token}`);
  }
  if (typeof init.body === 'string' && !headers.has('content-type')) headers.set('content-type', 'application/json');
  if (!headers.has('accept')) headers.set('accept', 'application/json, text/plain;q=0.9, */*;q=0.8');
  const response = await fetch(url, { ...init, headers });
  if (!response.ok) {
    const body = await bodyOf(response).catch(() => undefined);
    throw new ShellRequestError(response, body);
  }
  return bodyOf(response);
}
