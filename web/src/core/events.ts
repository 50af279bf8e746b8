/** Reads a stream of server-sent events piece by piece, as the HTML standard writes them. */

/** One event. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

/** The most characters of one event; whatever is longer is no event of ours. */
const LONGEST_EVENT = 1_000_000;

/** What has come so far of a stream. */
export class EventReader {
  #rest = '';
  #type = '';
  #data: string[] = [];
  #size = 0;
  /** Behind which event the stream stands. */
  lastId: string | undefined;

  /** Takes what came, and gives back the events that are complete. */
  read(piece: string): StreamEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LONGEST_EVENT) throw new RangeError('an event of the stream is too long');
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#type = value;
    else if (field === 'id') this.lastId = value;
    else if (field === 'data') {
      this.#size += value.length;
      if (this.#size > LONGEST_EVENT) throw new RangeError('an event of the stream is too long');
      this.#data.push(value);
    }
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const event = { type: this.#type || 'message', data: this.#data.join('\n') };
    const isThere = this.#data.length > 0;
    this.#type = '';
    this.#data = [];
    this.#size = 0;
    return isThere ? event : undefined;
  }
}
