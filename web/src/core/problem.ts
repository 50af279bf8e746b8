/** What a server answers when something is refused, in one form: problem details of the API and errors of OData. */

/** What is wrong with one field. */
export interface FieldProblem {
  /** The field's name; empty for what concerns no field. */
  readonly field: string;
  readonly message: string;
  readonly code: string | undefined;
}

/** Why something didn't work. */
export class Problem extends Error {
  override name = 'Problem';
  /** 0 when no answer came. */
  readonly status: number;
  /** Stable, for programs: `shop.stock_too_low`. */
  readonly code: string;
  readonly fields: readonly FieldProblem[];
  /** Finds it in the server's log. */
  readonly traceId: string | undefined;
  /** Seconds after which asking again is welcome. */
  readonly retryAfter: number | undefined;

  constructor(facts: {
    status: number;
    code: string;
    message: string;
    fields?: readonly FieldProblem[];
    traceId?: string | undefined;
    retryAfter?: number | undefined;
    cause?: unknown;
  }) {
    super(facts.message, { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.fields = facts.fields ?? [];
    this.traceId = facts.traceId;
    this.retryAfter = facts.retryAfter;
  }

  /** Whether nothing came back: no network, or no server. */
  get isOffline(): boolean {
    return this.status === 0;
  }

  get isForbidden(): boolean {
    return this.status === 403;
  }

  get isGone(): boolean {
    return this.status === 404;
  }

  /** Somebody changed it since it was read. */
  get isConflict(): boolean {
    return this.status === 412;
  }

  /** What is said about one field. */
  of(field: string): string | undefined {
    return this.fields.find((one) => one.field === field)?.message;
  }
}

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function detailsOf(error: Json): FieldProblem[] {
  const details = Array.isArray(error.details) ? error.details : [];
  const found = details.filter(isObject).map((detail) => ({
    field: text(detail.target) ?? '',
    message: text(detail.message) ?? '',
    code: text(detail.code),
  }));
  const target = text(error.target);
  if (found.length === 0 && target && !target.startsWith('$')) {
    return [{ field: target, message: text(error.message) ?? '', code: text(error.code) }];
  }
  return found;
}

function fieldsOf(errors: unknown): FieldProblem[] {
  if (!isObject(errors)) return [];
  return Object.entries(errors).map(([field, messages]) => ({
    field,
    message: Array.isArray(messages) ? messages.filter((one) => typeof one === 'string').join('; ') : String(messages),
    code: undefined,
  }));
}

/** Reads an answer that says no. */
export function readProblem(status: number, body: unknown, retryAfter?: number): Problem {
  const json = isObject(body) ? body : {};
  if (isObject(json.error)) {
    const inner = isObject(json.error.innererror) ? json.error.innererror : {};
    return new Problem({
      status,
      code: text(json.error.code) ?? 'unknown',
      message: text(json.error.message) ?? `the server answered ${status}`,
      fields: detailsOf(json.error),
      traceId: text(inner.traceId),
      retryAfter,
    });
  }
  return new Problem({
    status,
    code: text(json.code) ?? 'unknown',
    message: text(json.detail) ?? text(json.title) ?? `the server answered ${status}`,
    fields: fieldsOf(json.errors),
    traceId: text(json.traceId),
    retryAfter,
  });
}
