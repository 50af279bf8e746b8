/** The management API of the module, as its pages use it. */
import { send } from '@svc/web';
import type { Narrowing } from './view.ts';

const ROOT = '/api/v1/webhooks';

/** Whether an owner still is here; nothing is sent for one who isn't. */
export type Standing = 'here' | 'gone' | 'keyEnded';

/** How bodies are written. */
export type Format = 'standard' | 'cloudEvents';

/** How a token is got that each request carries; what proves who asks is told to nobody. */
export interface OAuth2 {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly scope: string | null;
  readonly audience: string | null;
}

/** The same as somebody says it. */
export interface OAuth2Input extends OAuth2 {
  readonly clientSecret: string;
}

/** A certificate that is shown to the receiver, in PEM form. */
export interface CertificateInput {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Where deliveries go, or are fetched. */
export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
  readonly filter: string | null;
  readonly format: Format;
  readonly metadata: Readonly<Record<string, string>>;
  readonly isActive: boolean;
  readonly owner: { readonly id: string; readonly displayName: string; readonly standing: Standing };
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
  readonly disabledAt: string | null;
  readonly disabledReason: string | null;
  readonly previousSecretExpiresAt: string | null;
  readonly previousKeyPairExpiresAt: string | null;
  readonly includesChanges: boolean;
  readonly isThin: boolean;
  readonly isOrdered: boolean;
  readonly isPolled: boolean;
  /** Who fetches: a person with any key or session, or with a key that is named. */
  readonly receiverId: string | null;
  readonly receiverKeyId: string | null;
  readonly maxPerSecond: number | null;
  readonly timeoutSeconds: number | null;
  readonly retryDelaysSeconds: readonly number[] | null;
  readonly expiresAfterSeconds: number | null;
  readonly publicKey: string | null;
  readonly headerNames: readonly string[];
  readonly oauth2: OAuth2 | null;
  readonly clientCertificate: { readonly fingerprint: string | null } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What somebody says about an endpoint. */
export interface EndpointInput {
  url?: string;
  description?: string;
  events?: readonly string[];
  filter?: string | null;
  format?: Format;
  isActive?: boolean;
  includesChanges?: boolean;
  isThin?: boolean;
  isOrdered?: boolean;
  /** Said once, when it is made. */
  isPolled?: boolean;
  receiverKeyId?: string | null;
  maxPerSecond?: number | null;
  timeoutSeconds?: number | null;
  retryDelaysSeconds?: readonly number[] | null;
  expiresAfterSeconds?: number | null;
  isAsymmetric?: boolean;
  metadata?: Readonly<Record<string, string>>;
  /** In place of those it has; nobody is told the values again. */
  headers?: Readonly<Record<string, string>>;
  oauth2?: OAuth2Input | null;
  clientCertificate?: CertificateInput | null;
}

export type Status = 'queued' | 'retrying' | 'delivered' | 'failed' | 'cancelled';
export const STATUSES: readonly Status[] = ['queued', 'retrying', 'delivered', 'failed', 'cancelled'];

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly url: string;
  readonly eventId: string;
  readonly eventType: string;
  /** What the event is about, where it is about a record. */
  readonly entityType: string | null;
  readonly entityId: string | null;
  readonly time: string;
  readonly status: Status;
  readonly statusCode: number | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly nextAttemptAt: string | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly redeliveryOf: string | null;
}

/** A request or a response, as the log keeps it. */
export interface Exchange {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

/** An attempt before the last one. */
export interface Attempt {
  readonly number: number;
  readonly endedAt: string | null;
  readonly statusCode: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly url: string | null;
  readonly requestHeaders: Exchange['headers'];
  readonly response: Exchange | null;
}

export interface DeliveryDetail extends Delivery {
  readonly request: Exchange | null;
  readonly response: Exchange | null;
  readonly attemptedAt: string | null;
  readonly earlierAttempts: readonly Attempt[];
}

export interface EventType {
  readonly name: string;
  readonly description: string;
  readonly permission?: string;
  readonly schema?: unknown;
  readonly example?: unknown;
}

/** How deliveries of a span went. */
export interface Span {
  readonly delivered: number;
  readonly failed: number;
  readonly waiting: number;
  readonly successRate: number | null;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface Health extends Span {
  readonly lastSuccessAt: string | null;
  readonly backlog: number;
  readonly hours: readonly (Span & { readonly from: string })[];
}

/** How much of a limit of the organisation is used. */
export interface Limit {
  readonly most: number | null;
  readonly used: number | null;
  readonly percent: number | null;
}

export interface Limits {
  readonly endpoints: Limit;
  readonly perSecond: Limit;
  readonly bytesPerDay: Limit;
}

/** All records of a set, told to an endpoint. */
export interface Backfill {
  readonly id: string;
  readonly set: string;
  readonly state: 'underWay' | 'finished' | 'cancelled' | 'failed';
  readonly records: number;
  readonly total: number | null;
  readonly error: string | null;
}

export const endpointsPath = ROOT;

/** The address of the log, narrowed. */
export function deliveriesPath(by: Partial<Narrowing>): string {
  const query = new URLSearchParams(Object.entries(by).filter(([, value]) => value));
  return `${ROOT}/deliveries?${query}`;
}

export async function endpoint(id: string): Promise<Endpoint> {
  return (await send<Endpoint>(`${ROOT}/${id}`)).body;
}

export async function createEndpoint(input: EndpointInput): Promise<Endpoint & { secret: string }> {
  return (await send<Endpoint & { secret: string }>(ROOT, { method: 'POST', body: input })).body;
}

export async function changeEndpoint(id: string, input: EndpointInput): Promise<Endpoint> {
  return (await send<Endpoint>(`${ROOT}/${id}`, { method: 'PUT', body: input })).body;
}

export async function deleteEndpoint(id: string): Promise<void> {
  await send(`${ROOT}/${id}`, { method: 'DELETE' });
}

export async function secretOf(id: string): Promise<string> {
  return (await send<{ secret: string }>(`${ROOT}/${id}/secret`)).body.secret;
}

export async function rotateSecret(id: string): Promise<Endpoint & { secret: string }> {
  return (await send<Endpoint & { secret: string }>(`${ROOT}/${id}/secret/rotate`, { method: 'POST' })).body;
}

export async function rotateKeyPair(id: string): Promise<Endpoint> {
  return (await send<Endpoint>(`${ROOT}/${id}/key-pair/rotate`, { method: 'POST' })).body;
}

/** Sends the example of an event type, or a test event. */
export async function sendTest(id: string, eventType = 'webhook.test'): Promise<Delivery> {
  const query = new URLSearchParams({ eventType });
  return (await send<Delivery>(`${ROOT}/${id}/test?${query}`, { method: 'POST' })).body;
}

export async function recover(id: string, since: string): Promise<string> {
  return (await send<{ jobId: string }>(`${ROOT}/${id}/recover`, { method: 'POST', body: { since } })).body.jobId;
}

export async function health(id: string, hours: number): Promise<Health> {
  return (await send<Health>(`${ROOT}/${id}/health?hours=${hours}`)).body;
}

/** How much the organisation uses of what it may. */
export async function limits(): Promise<Limits> {
  return (await send<Limits>(`${ROOT}/limits`)).body;
}

export async function eventTypes(withDetails: boolean): Promise<readonly EventType[]> {
  const { body } = await send<{ items: EventType[] }>(`${ROOT}/event-types?details=${withDetails}`);
  return body.items;
}

export async function delivery(id: string): Promise<DeliveryDetail> {
  return (await send<DeliveryDetail>(`${ROOT}/deliveries/${id}`)).body;
}

export async function redeliver(id: string): Promise<Delivery> {
  return (await send<Delivery>(`${ROOT}/deliveries/${id}/redeliver`, { method: 'POST' })).body;
}

/** Sends it no more. */
export async function cancel(id: string): Promise<DeliveryDetail> {
  return (await send<DeliveryDetail>(`${ROOT}/deliveries/${id}/cancel`, { method: 'POST' })).body;
}

/** Sends nothing more of what waits for an endpoint, as a job. */
export async function cancelWaiting(id: string): Promise<string> {
  return (await send<{ jobId: string }>(`${ROOT}/${id}/cancel`, { method: 'POST' })).body.jobId;
}

/** Tells an endpoint all records of a set, as a job. */
export async function backfill(id: string, set: string): Promise<Backfill> {
  return (await send<Backfill>(`${ROOT}/${id}/backfills`, { method: 'POST', body: { set } })).body;
}

/** The newest of what an endpoint is told, or was. */
export async function backfills(id: string): Promise<readonly Backfill[]> {
  return (await send<{ items: Backfill[] }>(`${ROOT}/${id}/backfills?take=5`)).body.items;
}

export async function cancelBackfill(id: string, backfillId: string): Promise<void> {
  await send(`${ROOT}/${id}/backfills/${backfillId}/cancel`, { method: 'POST' });
}

/** What many can be sent again by. */
export type Selection = Partial<Pick<Narrowing, 'subscriptionId' | 'status' | 'eventType' | 'since' | 'until'>>;

/** Sends many again, as a job. */
export async function redeliverAll(by: Selection): Promise<string> {
  const body = Object.fromEntries(Object.entries(by).filter(([, value]) => value));
  return (await send<{ jobId: string }>(`${ROOT}/deliveries/redeliver`, { method: 'POST', body })).body.jobId;
}
