/** Search over content providers: all run at once, hits are handed on as they come, a failing provider loses only its own. */
import type { Runtime } from './runtime.ts';
import type { SearchHit, SearchOptions, SearchProvider, SearchResult } from './types.ts';

/** Time after which a provider counts as failed, in milliseconds. */
const PROVIDER_TIMEOUT_MS = 15_000;

function isAsyncIterable(value: unknown): value is AsyncIterable<SearchHit> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** Rejects when the signal fires, so that a provider which ignores its signal is left behind. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

async function collect(
  provider: SearchProvider,
  query: string,
  runtime: Runtime,
  signal: AbortSignal,
  take: (hit: SearchHit) => void,
): Promise<void> {
  const gone = untilAborted(signal);
  gone.catch(() => {});
  const found = provider.search(query, { signal, access: runtime.access.peek() });
  if (!isAsyncIterable(found)) {
    for (const hit of await Promise.race([found, gone])) take(hit);
    return;
  }
  const iterator = found[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await Promise.race([iterator.next(), gone]);
      if (step.done) return;
      take(step.value);
    }
  } finally {
    if (signal.aborted) Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

/** Runs one search. It resolves when every provider has answered, failed or run out of time. */
export async function runSearch(runtime: Runtime, query: string, options: SearchOptions): Promise<SearchResult[]> {
  const wanted = query.trim();
  if (!wanted) return [];
  const providers = runtime.providers.peek();
  const perProvider = providers.map((): SearchResult[] => []);
  const all = () =>
    perProvider
      .flat()
      .map((hit, index) => ({ hit, index }))
      .sort((a, b) => (b.hit.score ?? 50) - (a.hit.score ?? 50) || a.index - b.index)
      .map(({ hit }) => hit);
  const visible = (hit: SearchHit) => {
    const app = runtime.apps.peek().get(hit.appId);
    return app !== undefined && runtime.allowed(app);
  };
  let announced = false;
  const announce = () => {
    if (announced || !options.onHits) return;
    announced = true;
    // Hits that come in one turn are handed on together.
    queueMicrotask(() => {
      announced = false;
      if (!options.signal?.aborted) options.onHits?.(all());
    });
  };
  await Promise.all(
    providers.map(async (provider, index) => {
      const timeout = AbortSignal.timeout(PROVIDER_TIMEOUT_MS);
      const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
      try {
        await collect(provider, wanted, runtime, signal, (hit) => {
          if (!visible(hit)) return;
          perProvider[index]?.push({ ...hit, providerId: provider.id, providerTitle: provider.title });
          announce();
        });
      } catch (error) {
        if (!options.signal?.aborted)
          reportError(new Error(`search provider \`${provider.id}\` failed`, { cause: error }));
      }
    }),
  );
  return all();
}
