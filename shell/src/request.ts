/** The built-in transport of `Shell.request`. */
import type { Session } from './types.ts';

/** A server answered with a status outside 200 to 299. */
export class ShellRequestError extends Error {
  override name = 'ShellRequestError';
  /** An error of another copy of this module is one, too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'ShellRequestError';
  }

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

function addressOf(base: string, path: string): URL {
  return new URL(/^[a-z][a-z\d+.-]*:|^\/\//i.test(path) ? path : base + path, document.baseURI);
}

/** Whether a request goes to the product's own server: that of `base`, or the page's own. */
export function isOwn(base: string, path: string): boolean {
  return addressOf(base, path).origin === new URL(base || '.', document.baseURI).origin;
}

/** Whether a request can be sent a second time: a stream is gone after the first. */
export function isRepeatable({ body, signal }: RequestInit): boolean {
  return !(body instanceof ReadableStream) && !signal?.aborted;
}

/**
 * Sends an authenticated request. Token and `own` headers go only to the product's own server, so that an absolute URL
 * elsewhere never carries them away.
 */
export async function send(
  base: string,
  session: Session | undefined,
  path: string,
  init: RequestInit = {},
  own: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const url = addressOf(base, path);
  const headers = new Headers(init.headers);
  if (isOwn(base, path)) {
    if (session?.token && !headers.has('authorization')) headers.set('authorization', `Bearer ${session.token}`);
    for (const [name, value] of Object.entries(own)) if (!headers.has(name)) headers.set(name, value);
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
