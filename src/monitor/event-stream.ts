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
  id?: number;
  /** A later one replaces it: left out for readers that lag behind. */
  replaceable?: true;
}

/** Sends server-sent events to every open page. A reader that does not read is disconnected. */
export class EventStream {
  /** By reader, the unread bytes above which it is disconnected: more until it has read what it got at first. */
  readonly #readers = new Map<ServerResponse, number>();
  #heartbeat: NodeJS.Timeout | undefined;

  get readers(): number {
    return this.#readers.size;
  }

  /** Returns false if there are too many readers; then nothing is sent. */
  open(response: ServerResponse, first: readonly StreamEvent[]): boolean {
    if (this.#readers.size >= mostStreams) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    response.once('close', () => this.#forget(response));
    response.on('error', () => {});
    for (const event of first) response.write(encoded(event));
    this.#readers.set(response, response.writableLength + stalledBytes);
    this.#heartbeat ??= setInterval(() => this.#write(':\n\n'), heartbeatMs).unref();
    return true;
  }

  /** Sends events in one piece. */
  send(...events: readonly StreamEvent[]): void {
    if (this.#readers.size === 0) return;
    const needed = events.filter(({ replaceable }) => replaceable !== true);
    const text = events.map(encoded).join('');
    this.#write(text, needed.length === events.length ? text : needed.map(encoded).join(''));
  }

  close(): void {
    for (const reader of [...this.#readers.keys()]) reader.destroy();
    clearInterval(this.#heartbeat);
  }

  /** Readers that lag behind get `needed` instead. */
  #write(text: string, needed: string = text): void {
    for (const [reader, allowed] of this.#readers) {
      if (reader.writableLength === 0) this.#readers.set(reader, stalledBytes);
      const sent = reader.writableLength > laggingBytes ? needed : text;
      if (reader.writableLength > allowed) reader.destroy();
      else if (sent !== '') reader.write(sent);
    }
  }

  #forget(reader: ServerResponse): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

/** JSON has no line breaks, so it is one data line. */
function encoded({ name, data, id }: StreamEvent): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
