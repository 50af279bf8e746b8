/**
 * What happens while one looks: one stream of events for all that the page asks to hear of.
 *
 * | State | Left when | For |
 * | --- | --- | --- |
 * | idle | somebody asks to hear of something, the page is in sight | reading |
 * | reading | the stream ends, breaks, or other topics are wanted | reading, waiting |
 * | waiting | the pause is over, or the network comes back | reading |
 * | any | nobody asks any more, or the page is out of sight for a while | idle |
 *
 * A stream goes on behind the last event that came (`Last-Event-ID`). Where the server doesn't know any more what was missed it
 * says `reset`, and whoever listens loads anew. Reading needs the header that no foreign page can send, so this is `fetch`.
 */
import { EventReader, type StreamEvent } from '../core/events.ts';
import { readProblem } from '../core/problem.ts';
import { noteRefusal, ownHeaders } from './request.ts';

/** What somebody hears. */
export interface Hearing {
  /** Something happened to the topic: what the server says of it. */
  heard(event: { readonly type: string; readonly data: Record<string, unknown> }): void;
  /** Some was missed. */
  missed(): void;
}

const ADDRESS = '/api/v1/live';
/** What the server takes at most, and jobs among it. */
const MOST_TOPICS = 64;
const MOST_JOBS = 16;
/** Several parts ask and leave at once when a window opens. */
const GATHER_MS = 50;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A page that nobody sees gives its place back; a person has only a few. */
const HIDDEN_MS = 30_000;
/** The server is never silent for longer than half of this. */
const SILENCE_MS = 40_000;

/** Topics whose events name them. */
function topicsOf({ type, data }: { type: string; data: Record<string, unknown> }): string[] {
  if (type === 'changed') return [`set:${data.set}`];
  if (type === 'job') return [`job:${data.id}`];
  if (type === 'told') return [`${data.topic}`, `${data.topic}:${data.key}`];
  return [];
}

/** Topics that fit into one stream, those asked for last before all. */
export function choose(topics: readonly string[]): string[] {
  const jobs = topics.filter((topic) => topic.startsWith('job:')).slice(-MOST_JOBS);
  const others = topics.filter((topic) => !topic.startsWith('job:')).slice(jobs.length - MOST_TOPICS);
  return [...others, ...jobs];
}

class Live {
  readonly #hearings = new Map<string, Set<Hearing>>();
  /** What the server doesn't let this person hear of. */
  readonly #refused = new Set<string>();
  #reading: AbortController | undefined;
  #read: readonly string[] = [];
  #lastId: string | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #isListening = false;

  hear(topic: string, hearing: Hearing): () => void {
    const known = this.#hearings.get(topic) ?? new Set();
    this.#hearings.set(topic, known.add(hearing));
    this.#listen();
    this.#soon(GATHER_MS);
    return () => {
      known.delete(hearing);
      if (known.size === 0 && this.#hearings.get(topic) === known) this.#hearings.delete(topic);
      this.#soon(GATHER_MS);
    };
  }

  /** What was refused may be allowed now. */
  forgetRefusals(): void {
    this.#refused.clear();
    this.#soon(0);
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    document.addEventListener('visibilitychange', () => this.#sight());
    addEventListener('online', () => {
      this.#failures = 0;
      this.#soon(0);
    });
  }

  #sight(): void {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#hiding = setTimeout(() => this.#stop(), HIDDEN_MS);
    else if (!this.#reading) this.#soon(0);
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(), ms);
  }

  #stop(): void {
    this.#reading?.abort();
    this.#reading = undefined;
  }

  #begin(): void {
    const topics = choose([...this.#hearings.keys()].filter((topic) => !this.#refused.has(topic))).sort();
    if (this.#reading && topics.join() === this.#read.join()) return;
    this.#stop();
    this.#read = topics;
    if (topics.length === 0) this.#lastId = undefined;
    else if (!document.hidden) void this.#stream(topics);
  }

  async #stream(topics: readonly string[]): Promise<void> {
    const reading = new AbortController();
    this.#reading = reading;
    const pause = await this.#follow(topics, reading).catch(() => undefined);
    if (this.#reading !== reading) return;
    this.#reading = undefined;
    // An end that was to be expected is no failure: the stream's life was over.
    this.#failures = pause === undefined ? this.#failures + 1 : 0;
    const wait = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
    this.#soon(pause ?? wait * (0.75 + Math.random() / 2));
  }

  /** Reads a stream to its end; gives back how long to wait for the next, and nothing when it broke. */
  async #follow(topics: readonly string[], reading: AbortController): Promise<number | undefined> {
    const headers: Record<string, string> = { accept: 'text/event-stream', ...ownHeaders() };
    if (this.#lastId !== undefined) headers['last-event-id'] = this.#lastId;
    const { signal } = reading;
    const answer = await fetch(`${ADDRESS}?topics=${encodeURIComponent(topics.join())}`, {
      headers,
      signal,
      cache: 'no-store',
    });
    if (answer.status === 409) noteRefusal(readProblem(409, await answer.json()).code);
    if (answer.status === 400) return this.#drop(topics, await answer.text());
    if (!answer.ok || !answer.body) return LONGEST_PAUSE_MS;
    const reader = new EventReader();
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        clearTimeout(silence);
        // A connection that has gone silent counts as broken.
        silence = setTimeout(() => reading.abort(), SILENCE_MS);
        const { value, done } = await pieces.read();
        if (done) return 0;
        for (const event of reader.read(value)) this.#deliver(event);
        this.#lastId = reader.lastId ?? this.#lastId;
        this.#failures = 0;
      }
    } finally {
      clearTimeout(silence);
    }
  }

  /** Leaves out what there is no topic for; the rest is heard. */
  #drop(topics: readonly string[], body: string): number | undefined {
    const named = topics.find((topic) => body.includes(`\`${topic}\``));
    if (named === undefined) return LONGEST_PAUSE_MS;
    this.#refused.add(named);
    return 0;
  }

  #deliver({ type, data }: StreamEvent): void {
    if (type === 'reset') {
      for (const hearing of [...this.#hearings.values()].flatMap((all) => [...all])) hearing.missed();
      return;
    }
    const event = { type, data: JSON.parse(data) as Record<string, unknown> };
    for (const topic of topicsOf(event)) for (const hearing of this.#hearings.get(topic) ?? []) hearing.heard(event);
  }
}

const live = new Live();

/** Asks again for what the server didn't let this person hear of. */
export function forgetRefusals(): void {
  live.forgetRefusals();
}

/** Hears of a topic, such as `set:Products` or `job:…`, until the undo is called. */
export function hear(topic: string, hearing: Hearing): () => void {
  return live.hear(topic, hearing);
}
