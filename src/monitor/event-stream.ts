import type { ServerResponse } from 'node:http';

/** Open streams. More are refused with 503. */
export const mostStreams = 32;
/** Unread bytes above which events that come again are left out, and above which a reader is disconnected. */
const laggingBytes = 65_536;
const stalledBytes = 1024 * 1024;
const heartbeatMs = 15_000;

export interface StreamEvent {
  name: string;
  data: unknown;
  /** For Last-Event-ID. */
  id?: string;
  /** A later one replaces it: left out for readers that lag behind. */
  replaceable?: true;
}

/** Sends server-sent events to every open page. A reader that does not read is disconnected. */
export class EventStream {
  readonly #readers = new Set<ServerResponse>();
  /** Readers that have got what was there when they came. */
  readonly #live = new Set<ServerResponse>();
  /** The others that had not read what they were sent at the last heartbeat, and have not since. */
  readonly #stalled = new Set<ServerResponse>();
  #heartbeat: NodeJS.Timeout | undefined;

  get readers(): number {
    return this.#readers.size;
  }

  /**
   * Sends `first` as fast as the reader reads it, and from then on what happens. Returns false if there are too many readers;
   * then nothing is sent.
   */
  open(response: ServerResponse, first: Iterable<StreamEvent>): boolean {
    if (this.#readers.size >= mostStreams) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    response.once('close', () => this.#forget(response));
    response.on('error', () => {});
    this.#readers.add(response);
    this.#heartbeat ??= setInterval(() => this.#beat(), heartbeatMs).unref();
    this.#catchUp(response, first[Symbol.iterator]());
    return true;
  }

  #catchUp(reader: ServerResponse, events: Iterator<StreamEvent>): void {
    while (this.#readers.has(reader)) {
      const { value, done } = events.next();
      if (done === true) {
        this.#live.add(reader);
        return;
      }
      if (!reader.write(encoded(value))) {
        reader.once('drain', () => {
          this.#stalled.delete(reader);
          this.#catchUp(reader, events);
        });
        return;
      }
    }
  }

  #beat(): void {
    for (const reader of this.#readers) {
      if (this.#live.has(reader)) continue;
      if (this.#stalled.has(reader)) reader.destroy();
      else this.#stalled.add(reader);
    }
    this.#write(':\n\n');
  }

  /** Sends events in one piece. */
  send(...events: readonly StreamEvent[]): void {
    if (this.#live.size === 0) return;
    const needed = events.filter(({ replaceable }) => replaceable !== true);
    const text = events.map(encoded).join('');
    this.#write(text, needed.length === events.length ? text : needed.map(encoded).join(''));
  }

  close(): void {
    for (const reader of [...this.#readers]) reader.destroy();
    clearInterval(this.#heartbeat);
  }

  /** Readers that lag behind get `needed` instead. */
  #write(text: string, needed: string = text): void {
    for (const reader of this.#live) {
      const sent = reader.writableLength > laggingBytes ? needed : text;
      if (reader.writableLength > stalledBytes) reader.destroy();
      else if (sent !== '') reader.write(sent);
    }
  }

  #forget(reader: ServerResponse): void {
    this.#readers.delete(reader);
    this.#live.delete(reader);
    this.#stalled.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

/** JSON has no line breaks, so it is one data line. */
function encoded({ name, data, id }: StreamEvent): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
