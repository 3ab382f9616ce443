import type { Duplex } from 'node:stream';
import { onAbort } from '../../lib/basics.js';
import type { ServerFrame } from '../agents/wire/frames.js';
import { FrameDecoder } from '../protocol/decoder.js';
import { encodeFrame } from '../protocol/encoder.js';
import { ServerError } from '../protocol/errors.js';
import type { RequestType } from '../protocol/frames.js';
import type { ReplyTo, RequestFields, ServerFrames } from './frames.js';
import { fromWire, toWire } from './names.js';

/** The error of every pending call once the connection is lost. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** Upper bound of `max_frame_mb`; a server with a lower limit reports it. */
const maxFrameBytes = 1024 ** 3;

interface Waiting {
  /** Called when the reply is read, before any later frame. */
  resolve(frame: ServerFrames[keyof ServerFrames]): void;
  reject(error: unknown): void;
}

/** How far a download is. */
export type PullProgress = ServerFrames['PullProgress'];

interface RunningTurn extends Waiting {
  onText(frame: ServerFrames['TurnText']): void;
}

/** An event of a turn before its end. */
export type TurnEvent = ServerFrames['TurnStarted' | 'TurnText'];

/** Sends requests and receives replies and events over one stream, such as a socket. Replies may arrive in any order. */
export class Channel {
  readonly #socket: Duplex;
  readonly #decoder = new FrameDecoder(maxFrameBytes);
  readonly #replies = new Map<number, Waiting>();
  readonly #turns = new Map<string, RunningTurn>();
  readonly #pulls = new Map<number, (progress: PullProgress) => void>();
  #greeting: Waiting | undefined;
  #nextId = 1;
  #lost: ConnectionLostError | undefined;
  /** The server's greeting. */
  readonly hello: Promise<ServerFrames['Hello']>;
  /** Resolves when the connection is gone for any reason. */
  readonly closed: Promise<void>;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.hello = new Promise((resolve, reject) => {
      this.#greeting = { resolve: (frame) => resolve(frame as ServerFrames['Hello']), reject };
    });
    this.hello.catch(() => {});
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#lose(`the connection failed: ${error.message}`, error));
    socket.on('close', () => this.#lose('the connection was closed'));
  }

  /** @throws ServerError, ConnectionLostError, the signal's reason (the server still handles the request) */
  request<Type extends RequestType>(
    type: Type,
    fields: RequestFields[Type],
    signal?: AbortSignal | undefined,
  ): Promise<ReplyTo<Type>> {
    return abortable(signal, (resolve, reject) => {
      this.#send(type, fields, { resolve: (frame) => resolve(frame as ReplyTo<Type>), reject });
    });
  }

  /**
   * Runs a turn and waits for its end; `onEvent` receives its start and the pieces of its reply. Aborting cancels it.
   * @throws as request()
   */
  turn(
    fields: RequestFields['TurnRequest'],
    {
      onEvent = () => {},
      signal,
    }: { onEvent?: ((event: TurnEvent) => void) | undefined; signal?: AbortSignal | undefined },
  ): Promise<ServerFrames['TurnComplete']> {
    let stopListening = () => {};
    const ended = abortable<ServerFrames['TurnComplete']>(signal, (resolve, reject) => {
      const started: Waiting['resolve'] = (frame) => {
        const { sessionId } = fields;
        const { turnId } = frame as ServerFrames['TurnStarted'];
        const cancel = () => {
          this.request('CancelTurnRequest', { sessionId, turnId }).catch(() => {});
        };
        stopListening = onAbort(signal, cancel);
        this.#turns.set(turnId, { resolve: resolve as Waiting['resolve'], reject, onText: onEvent });
        onEvent(frame as ServerFrames['TurnStarted']);
        if (signal?.aborted) cancel();
      };
      this.#send('TurnRequest', fields, { resolve: started, reject });
    });
    return ended.finally(() => stopListening());
  }

  /**
   * Downloads a model. Aborting cancels it, unless another client waits for it; so does an `onProgress` that throws.
   * @throws as request(); the error of `onProgress`
   */
  async pull(
    fields: RequestFields['PullModelRequest'],
    {
      onProgress = () => {},
      signal,
    }: { onProgress?: ((progress: PullProgress) => void) | undefined; signal?: AbortSignal | undefined },
  ): Promise<ServerFrames['PullModelResponse']> {
    const { sessionId, model } = fields;
    const id = this.#nextId;
    const cancel = () => {
      this.request('CancelPullRequest', { sessionId, model }).catch(() => {});
    };
    const stopListening = onAbort(signal, cancel);
    const failed = new Promise<never>((_, reject) => {
      this.#pulls.set(id, (progress) => {
        try {
          onProgress(progress);
        } catch (error) {
          // Not a defect of the frame: the connection stays.
          cancel();
          reject(error);
        }
      });
    });
    try {
      return await Promise.race([this.request('PullModelRequest', fields, signal), failed]);
    } finally {
      stopListening();
      this.#pulls.delete(id);
    }
  }

  /** Why the connection was lost; undefined while it is open. */
  get lost(): ConnectionLostError | undefined {
    return this.#lost;
  }

  /** Closes the connection, and with it every session. */
  async close(): Promise<void> {
    endSoon(this.#socket);
    await this.closed;
  }

  #send<Type extends RequestType>(type: Type, fields: RequestFields[Type], waiting: Waiting): void {
    if (this.#lost !== undefined) throw this.#lost;
    const id = this.#nextId++;
    const bytes = encodeFrame({ type, id, ...toWire(type, fields) }, maxFrameBytes);
    this.#replies.set(id, waiting);
    this.#socket.write(bytes);
  }

  #read(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk);
      for (let frame = this.#decoder.next(); frame !== undefined; frame = this.#decoder.next()) {
        this.#receive(JSON.parse(frame.payload.toString('utf8')) as ServerFrame);
      }
    } catch (error) {
      this.#lose('the server sent something that is not a frame', error);
      this.#socket.destroy();
    }
  }

  #receive(received: ServerFrame): void {
    const frame = fromWire(received) as ServerFrames[keyof ServerFrames];
    if (frame.type === 'Error') this.#fail(frame);
    else if (frame.type === 'Hello') this.#greeting?.resolve(frame);
    else if (frame.type === 'TurnText') this.#turns.get(frame.turnId)?.onText(frame);
    else if (frame.type === 'TurnComplete') settle(this.#turns, frame.turnId)?.resolve(frame);
    else if (frame.type === 'PullProgress') this.#pulls.get(frame.requestId as number)?.(frame);
    else if ('replyTo' in frame) settle(this.#replies, frame.replyTo as number)?.resolve(frame);
  }

  #fail({ replyTo, code, name, message, details }: ServerFrames['Error']): void {
    const error = new ServerError(code, name, message, details);
    if (replyTo === null) {
      // The error names no request, so all pending ones fail.
      this.#lose(`${name}: ${message}`, error);
      endSoon(this.#socket);
    } else settle(this.#replies, replyTo as number)?.reject(error);
  }

  #lose(message: string, cause?: unknown): void {
    if (this.#lost !== undefined) return;
    this.#lost = new ConnectionLostError(message, cause === undefined ? undefined : { cause });
    for (const waiting of [this.#greeting, ...this.#replies.values(), ...this.#turns.values()]) {
      waiting?.reject(this.#lost);
    }
    this.#replies.clear();
    this.#turns.clear();
  }
}

/** Closes a stream once pending output is written. */
function endSoon(stream: Duplex): void {
  stream.end(() => stream.destroy());
}

function settle<Key>(waiting: Map<Key, Waiting>, key: Key): Waiting | undefined {
  const found = waiting.get(key);
  waiting.delete(key);
  return found;
}

/** Returns a promise that also rejects with the signal's reason; a later result is dropped. */
export function abortable<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stopListening = onAbort(signal, () => reject(signal?.reason));
    const fail = (error: unknown) => {
      stopListening();
      reject(error);
    };
    try {
      start((value) => {
        stopListening();
        resolve(value);
      }, fail);
    } catch (error) {
      fail(error);
    }
  });
}
