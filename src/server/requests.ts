import type { RequestMemory } from '../fairness/client-memory.js';
import type { WireFrame } from '../protocol/decoder.js';
import type { ServerError } from '../protocol/errors.js';
import type { ServerFrame } from '../protocol/frames.js';
import type { JsonParser } from '../protocol/json-parser.js';
import { leadingId } from '../protocol/leading-id.js';
import { idOf, objectOf } from '../protocol/request.js';
import { refusalOf } from '../storages/failure.js';
import type { Client } from './client.js';
import type { ServerObserver } from './observer.js';
import type { Output } from './output.js';

/** A frame that is being parsed. */
export interface Parsing {
  readonly frame: WireFrame;
  readonly parser: JsonParser;
  readonly memory: RequestMemory;
}

export interface RequestsOptions {
  /** Requests that may be served at once. */
  readonly limit: number;
  readonly client: Client;
  readonly observer: ServerObserver | undefined;
  readonly output: Output;
  /** A request has been answered: the next one may be taken. */
  ended(): void;
}

/** The requests of one client that are being served. */
export class Requests {
  readonly #options: RequestsOptions;
  #serving = 0;
  #beginning = 0;
  #stopped = false;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Requests without an answer. */
  get serving(): number {
    return this.#serving;
  }

  /** Requests of short frames that wait for their turn to begin. No long frame is taken before them: requests begin in order. */
  get beginning(): number {
    return this.#beginning;
  }

  /** Whether another one may begin: the client keeps up with its replies. */
  get mayBegin(): boolean {
    return this.#serving < this.#options.limit && !this.#options.output.lags;
  }

  /** Answers a frame that is not parsed. */
  refuse({ payload }: WireFrame, error: ServerError): void {
    this.#options.output.refuse(error, leadingId(payload));
  }

  /** Begins no further request. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Answers one request, or refuses it for a `failure` to parse it. Its memory counts until then and until nothing refers to it.
   * `isShort`: it begins in a slice of its own, unless it is a ping. Never rejects: a handler that throws ends only its own
   * request.
   */
  async serve({ frame, parser, memory }: Parsing, failure: unknown, isShort: boolean): Promise<void> {
    const { output, client, observer, ended } = this.#options;
    const held: Promise<void>[] = [];
    let object: Record<string, unknown> | undefined;
    this.#serving++;
    try {
      if (failure !== undefined) throw failure;
      object = objectOf(parser);
      if (!isShort || object.type === 'Ping' || (await this.#begin())) {
        const answer = await client.answer(object, {
          send: (frame) => output.send(frame),
          attended: true,
          holdRequest: (until) => void held.push(until),
        });
        if (answer !== undefined) output.send(answer as ServerFrame);
      }
    } catch (thrown) {
      const error = refusalOf(thrown, client.log);
      observer?.invalid?.(error.code);
      output.refuse(error, (object && idOf(object)) ?? leadingId(frame.payload));
    }
    this.#serving--;
    if (held.length > 0) {
      client.account.loop.request();
      await Promise.allSettled(held);
    }
    memory.release();
    ended();
  }

  /** Waits for a slice in which the request of a short frame begins. Returns false if no more may begin. */
  async #begin(): Promise<boolean> {
    this.#beginning++;
    await this.#options.client.account.loop.nextSlice();
    this.#beginning--;
    return !this.#stopped;
  }
}
