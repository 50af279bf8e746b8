/** Lists that are short enough to be read whole. */
import { send } from '@svc/web';

/** The most entries that are read. */
const MOST = 2_000;

/** All pages of a list. */
export async function everyPage<T>(path: string): Promise<T[]> {
  const found: T[] = [];
  let after: string | null = null;
  do {
    const begins = path.includes('?') ? '&' : '?';
    const query: string = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    const { body }: { body: { items: T[]; next: string | null } } = await send(`${path}${begins}take=200${query}`);
    found.push(...body.items);
    after = body.next;
  } while (after !== null && found.length < MOST);
  return found;
}
