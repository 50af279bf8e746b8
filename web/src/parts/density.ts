/** How close rows and buttons stand: the person's own choice, on every machine. What it means in pixels is said by tokens. */
import { send } from '../client/request.ts';

export const DENSITIES = ['compact', 'comfortable', 'spacious'] as const;

export type Density = (typeof DENSITIES)[number];

const PATH = '/api/v1/profile?key=web.density';
/** Remembers the choice of the last time, so that the next start has it at once. */
const KEPT = 'svc.density';
const listeners = new Set<() => void>();

function read(value: unknown): Density {
  return DENSITIES.find((one) => one === value) ?? 'comfortable';
}

/** What is chosen. */
export function density(): Density {
  return read(document.documentElement.dataset.density);
}

/** Calls back when another one is chosen. Returns the undo. */
export function onDensity(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function show(chosen: Density): void {
  if (chosen === density()) return;
  document.documentElement.dataset.density = chosen;
  localStorage.setItem(KEPT, chosen);
  for (const listener of listeners) listener();
}

/** Shows what this browser knows, and what the person has chosen elsewhere; without an answer it stays as it is. */
export function followDensity(): void {
  show(read(localStorage.getItem(KEPT)));
  addEventListener('storage', ({ key, newValue }) => {
    if (key === KEPT) show(read(newValue));
  });
  send<{ density?: unknown } | undefined>(PATH).then(
    ({ body }) => show(read(body?.density)),
    () => undefined,
  );
}

/** Chooses one, and keeps it with the person. */
export async function chooseDensity(chosen: Density): Promise<void> {
  await send(PATH, { method: 'PUT', body: { density: chosen } });
  show(chosen);
}
