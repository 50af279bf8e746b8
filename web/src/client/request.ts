/**
 * The one way to the server: every request of the client goes through here.
 *
 * It adds what the server asks for (the header that foreign pages can't send), reads JSON, and turns what goes wrong into a
 * `Problem`. Who is signed in is known by the browser's cookie; this code never sees a token.
 */
import { Problem, readProblem } from '../core/problem.ts';

/** What is asked for. */
export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal | undefined;
}

/** What came back. */
export interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly etag: string | undefined;
}

type Listener = () => void;
const signedOut = new Set<Listener>();
const refused = new Set<Listener>();
const moved = new Set<Listener>();

const OTHER_ORGANISATION = 'http.other_organisation';
let organisation: string | undefined;

/** What each request from now on is meant for: where the cookie has come to stand for another organisation, the server refuses it. */
export function workIn(id: string | undefined): void {
  organisation = id;
}

/** What the server asks for of any request of a page. */
export function ownHeaders(): Record<string, string> {
  return { 'X-CSRF': '1', ...(organisation === undefined ? {} : { 'Svc-Organisation': organisation }) };
}

/** Calls back when the server says that nobody is signed in any more. Returns the undo. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}

/** Calls back when the server refuses what the page thought this person may do. Returns the undo. */
export function onRefused(listener: Listener): () => void {
  refused.add(listener);
  return () => refused.delete(listener);
}

/** Calls back when the server says that the person works in another organisation than this page is of. Returns the undo. */
export function onMoved(listener: Listener): () => void {
  moved.add(listener);
  return () => moved.delete(listener);
}

/** Notes why the server refused something; what goes through here is noted already. */
export function noteRefusal(code: unknown): void {
  if (code === OTHER_ORGANISATION) for (const listener of moved) listener();
}

function isJson(response: Response): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(response.headers.get('content-type') ?? '');
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = response.status === 204 ? '' : await response.text();
  if (text === '') return undefined;
  return isJson(response) ? (JSON.parse(text) as unknown) : text;
}

async function reach(path: string, ask: Ask, headers: Headers): Promise<Response> {
  try {
    return await fetch(path, {
      method: ask.method ?? 'GET',
      headers,
      credentials: 'same-origin',
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
      ...(ask.signal ? { signal: ask.signal } : {}),
    });
  } catch (cause) {
    if (ask.signal?.aborted) throw cause;
    throw new Problem({ status: 0, code: 'offline', message: 'the server could not be reached', cause });
  }
}

function refusal(response: Response, body: unknown): Problem {
  const concerned = response.status === 401 ? signedOut : response.status === 403 ? refused : [];
  for (const listener of concerned) listener();
  const wait = Number(response.headers.get('retry-after'));
  const problem = readProblem(response.status, body, Number.isFinite(wait) && wait > 0 ? wait : undefined);
  noteRefusal(problem.code);
  return problem;
}

/** What has been asked for ahead, and nobody has taken yet. */
const ahead = new Map<string, Promise<Answer<unknown>>>();

/** Asks for what is about to be asked for: whoever reads from the address first is given this answer. */
export function sendAhead<T = unknown>(path: string, ask: Ask = {}): Promise<Answer<T>> {
  const asked = send<T>(path, ask);
  // Whoever takes it hears what went wrong.
  asked.catch(() => undefined);
  ahead.set(path, asked);
  return asked;
}

/** Sends a request to the page's own server. Whatever isn't answered with success rejects with a `Problem`. */
export async function send<T = unknown>(path: string, ask: Ask = {}): Promise<Answer<T>> {
  const asked = ask.method === undefined ? ahead.get(path) : undefined;
  if (asked) {
    ahead.delete(path);
    return asked as Promise<Answer<T>>;
  }
  const headers = new Headers({ accept: 'application/json', ...ownHeaders(), ...ask.headers });
  if (ask.body !== undefined) headers.set('content-type', 'application/json');
  const response = await reach(path, ask, headers);
  const body = await bodyOf(response).catch((cause: unknown) => {
    if (ask.signal?.aborted) throw cause;
    return undefined;
  });
  if (!response.ok) throw refusal(response, body);
  return { status: response.status, body: body as T, etag: response.headers.get('etag') ?? undefined };
}

/** What the page's own server answers piece by piece. Whatever isn't answered with success rejects with a `Problem`. */
export async function sendForStream(path: string, ask: Ask = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await reach(path, ask, new Headers({ ...ownHeaders(), ...ask.headers }));
  if (response.ok && response.body) return response.body;
  throw refusal(response, await bodyOf(response).catch(() => undefined));
}

/** What stands at an address, whatever the status is: for pages that say how things are. */
export async function probe<T>(path: string): Promise<{ status: number; body: T | undefined }> {
  const response = await reach(path, {}, new Headers(ownHeaders()));
  return { status: response.status, body: (await bodyOf(response).catch(() => undefined)) as T | undefined };
}

/** What a request that was given up rejects with is nobody's concern. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Any error as a problem that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Problem({ status: -1, code: 'client', message, cause: error });
}
