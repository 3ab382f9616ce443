import type { ServerResponse } from 'node:http';
import { eventStream } from '../http/local-server.js';

/** Open streams. More are refused with 503. */
export const maxStreams = 32;
/** Unread bytes above which a reader lags, and above which it is disconnected. */
const laggingBytes = 65_536;
const stalledBytes = 1024 * 1024;
const heartbeatMs = 15_000;
/** Heartbeats after which a reader is disconnected that has left bytes unread at each of them. */
const unreadBeats = 4;
/** Heartbeats after which a stream ends: an hour. Pages connect again, and get the events that they lack. */
const longestBeats = 240;

export interface StreamEvent {
  name: string;
  /** Its data: JSON, which has no line breaks. */
  json: string;
  /** For Last-Event-ID. */
  id?: string;
  /** A later one replaces it: left out for readers that lag. */
  replaceable?: true;
}

/** Numbered entries that are kept for a while. Readers that lag get them later. */
export interface Journal {
  /** Number of the latest entry; 0: there was none. */
  readonly newest: number;
  /** Returns those after an entry that are still kept. */
  after(entry: number): StreamEvent;
}

interface Reader {
  /** Whether it has received the events from before it connected. */
  live: boolean;
  /** Not live, and has read nothing between two heartbeats. */
  stalled: boolean;
  /** Heartbeats since it connected, and since it had no bytes to read. */
  beats: number;
  unread: number;
  /** The latest entry of the journal that it was sent. */
  entry: number;
  /** Lags, and gets the journal when it has read. */
  waits: boolean;
}

/** Sends server-sent events to every open page. A reader that does not read is disconnected. */
export class EventStream {
  readonly #journal: Journal;
  readonly #readers = new Map<ServerResponse, Reader>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /**
   * Sends the journal, then `first` as fast as the reader reads it, and from then on new events. Returns false if there are too
   * many readers; then nothing is sent.
   */
  open(response: ServerResponse, first: Iterable<StreamEvent>): boolean {
    if (this.#readers.size >= maxStreams) return false;
    response.writeHead(200, { 'content-type': eventStream }).flushHeaders();
    response.once('close', () => this.#forget(response));
    response.on('error', () => {});
    const reader = { live: false, stalled: false, beats: 0, unread: 0, entry: 0, waits: false };
    response.on('drain', () => {
      reader.unread = 0;
    });
    this.#readers.set(response, reader);
    this.#heartbeat ??= setInterval(() => this.#beat(), heartbeatMs).unref();
    this.#sendJournal(response, reader, new Map());
    this.#catchUp(response, reader, first[Symbol.iterator]());
    return true;
  }

  #catchUp(response: ServerResponse, reader: Reader, events: Iterator<StreamEvent>): void {
    let room = true;
    while (room && this.#readers.has(response)) {
      const { value, done } = events.next();
      if (done === true) {
        reader.live = true;
        this.#sendJournal(response, reader, new Map());
        return;
      }
      room = response.write(encoded(value));
    }
    response.once('drain', () => {
      reader.stalled = false;
      this.#catchUp(response, reader, events);
    });
  }

  #beat(): void {
    for (const [response, reader] of this.#readers) {
      reader.unread = response.writableLength === 0 ? 0 : reader.unread + 1;
      if (++reader.beats > longestBeats) response.end();
      else if (reader.unread > unreadBeats) response.destroy();
      if (reader.live) continue;
      if (reader.stalled) response.destroy();
      else reader.stalled = true;
    }
    this.#write(':\n\n');
  }

  /** Sends events in one piece. */
  send(...events: readonly StreamEvent[]): void {
    if (this.#readers.size === 0) return;
    const needed = events.filter(({ replaceable }) => replaceable !== true);
    const text = events.map(encoded).join('');
    this.#write(text, needed.length === events.length ? text : needed.map(encoded).join(''));
  }

  /** Sends every reader the entries of the journal that it lacks, once it does not lag. */
  sendJournal(): void {
    const texts = new Map<number, string>();
    for (const [response, reader] of this.#readers)
      if (reader.live) this.#sendJournal(response, reader, texts);
  }

  close(): void {
    for (const reader of [...this.#readers.keys()]) reader.destroy();
    clearInterval(this.#heartbeat);
  }

  /** `texts`: the encoded rest of the journal from an entry; most readers are at the same entry. */
  #sendJournal(response: ServerResponse, reader: Reader, texts: Map<number, string>): void {
    const { newest } = this.#journal;
    if (reader.entry === newest || reader.waits) return;
    if (response.writableLength > laggingBytes) {
      reader.waits = true;
      response.once('drain', () => {
        reader.waits = false;
        this.#sendJournal(response, reader, new Map());
      });
      return;
    }
    const text = texts.get(reader.entry) ?? encoded(this.#journal.after(reader.entry));
    texts.set(reader.entry, text);
    reader.entry = newest;
    response.write(text);
  }

  /** Readers that lag get `needed` instead. */
  #write(text: string, needed: string = text): void {
    for (const [response, { live }] of this.#readers) {
      if (!live) continue;
      const sent = response.writableLength > laggingBytes ? needed : text;
      if (response.writableLength > stalledBytes) response.destroy();
      else if (sent !== '') response.write(sent);
    }
  }

  #forget(response: ServerResponse): void {
    this.#readers.delete(response);
    if (this.#readers.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

function encoded({ name, json, id }: StreamEvent): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${json}\n\n`;
}
