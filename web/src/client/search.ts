/** Asks the server for everything that fits what somebody types, and hands on what it finds as it comes. */
import { LineReader, readLine, type SearchLine } from '../core/search.ts';
import { Problem } from '../core/problem.ts';
import { sendForStream } from './request.ts';

const ADDRESS = '/api/v1/search/stream';

/** The lines of a search; rejects with a `Problem` where the server has no search over everything. */
export async function* searchAll(query: string, take: number, signal: AbortSignal): AsyncGenerator<SearchLine> {
  const options = new URLSearchParams({ q: query, take: String(take) });
  const stream = await sendForStream(`${ADDRESS}?${options}`, { signal });
  const reader = new LineReader();
  const pieces = stream.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await pieces.read();
      if (done) break;
      for (const line of reader.read(value)) {
        const told = readLine(line);
        if (told?.type === 'end') return;
        if (told) yield told;
      }
    }
  } finally {
    // Whoever has read enough lets the server stop. What was given up or broke off has nothing left to cancel.
    pieces.cancel().catch(() => undefined);
  }
  throw new Problem({ status: 0, code: 'offline', message: 'the search broke off' });
}
