/** Who stands in for whom, as the module's API tells it. */
import { send } from '@svc/web/server';

const ROOT = '/api/v1/workflows';

export interface Person {
  readonly userId: string;
  readonly displayName: string;
}

/** Somebody stands in for another over a span of time. */
export interface Delegation {
  readonly id: string;
  readonly from: Person;
  readonly to: Person;
  readonly begins: string;
  readonly ends: string;
  readonly reason: string | null;
}

export async function findPeople(named: string): Promise<readonly Person[]> {
  const query = named === '' ? '' : `?${new URLSearchParams({ named })}`;
  return (await send<{ items: Person[] }>(`${ROOT}/people${query}`)).body.items;
}

export async function listDelegations(): Promise<readonly Delegation[]> {
  return (await send<{ items: Delegation[] }>(`${ROOT}/delegations`)).body.items;
}

export async function delegate(request: {
  to: string;
  begins?: string;
  ends: string;
  reason?: string;
}): Promise<Delegation> {
  return (await send<Delegation>(`${ROOT}/delegations`, { method: 'POST', body: request })).body;
}

export async function endDelegation(id: string): Promise<void> {
  await send(`${ROOT}/delegations/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

/** Hands the person's turn with a record on. */
export async function reassign(
  set: string,
  id: string,
  request: { version: string; to: string; reason: string },
): Promise<void> {
  const path = `${ROOT}/${encodeURIComponent(set)}/${encodeURIComponent(id)}/reassign`;
  await send(path, { method: 'POST', body: request });
}
