import { onAbort } from '../../lib/basics.js';
import type { ServerFrame } from '../agents/wire/frames.js';
import { type AudioFrame, audioPayloadOf } from '../protocol/audio-frame.js';
import { ServerError } from '../protocol/errors.js';
import type { RequestType } from '../protocol/frames.js';
import type { ReplyTo, RequestFields, ServerFrames } from './frames.js';
import { fromWire, toWire } from './names.js';
import type { Transport } from './transport.js';

/** The error of every pending call once the connection is lost. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

interface Waiting {
  /** Called when the reply is read, before any later frame. */
  resolve(frame: ServerFrames[keyof ServerFrames]): void;
  reject(error: unknown): void;
}

/** How far a download is. */
export type PullProgress = ServerFrames['PullProgress'];

interface RunningTurn extends Waiting {
  onEvent(frame: ServerFrames['TurnText' | 'TurnForget']): void;
}

/** An event of a turn before its end. */
export type TurnEvent = ServerFrames['TurnStarted' | 'TurnText' | 'TurnForget'];

/** An event of a stream of audio, or of a turn that was spoken on it. */
export type SpeechEvent = ServerFrames[
  | 'SpeechStarted'
  | 'SpeechEnded'
  | 'SpeechText'
  | 'SpeechClosed'
  | 'TurnStarted'
  | 'TurnText'
  | 'TurnForget'
  | 'TurnComplete'];

/** Hears a stream of audio. */
export interface SpeechListener {
  event(event: SpeechEvent): void;
  /** More bytes may be sent. */
  credit(bytes: number): void;
  lost(error: ConnectionLostError): void;
}

/** Sends requests and receives replies and events over one transport. Replies may arrive in any order. */
export class Channel {
  readonly #transport: Transport;
  readonly #replies = new Map<number, Waiting>();
  readonly #turns = new Map<string, RunningTurn>();
  readonly #pulls = new Map<number, (progress: PullProgress) => void>();
  readonly #speech = new Map<number, SpeechListener>();
  /** Who hears the turns that were spoken. */
  readonly #spoken = new Map<string, SpeechListener>();
  #greeting: Waiting | undefined;
  #nextId = 1;
  #lost: ConnectionLostError | undefined;
  /** The server's greeting. */
  readonly hello: Promise<ServerFrames['Hello']>;
  /** Resolves when the connection is gone for any reason. */
  readonly closed: Promise<void>;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.hello = new Promise((resolve, reject) => {
      this.#greeting = { resolve: (frame) => resolve(frame as ServerFrames['Hello']), reject };
    });
    this.hello.catch(() => {});
    this.closed = transport.closed;
    transport.listen({
      frame: (json) => this.#receive(JSON.parse(json) as ServerFrame),
      lost: (message, cause) => this.#lose(message, cause),
    });
  }

  /**
   * `note` hears the reply also if the wait for it was aborted: the server still handles the request.
   * @throws ServerError, ConnectionLostError, the signal's reason
   */
  request<Type extends RequestType>(
    type: Type,
    fields: RequestFields[Type],
    signal?: AbortSignal | undefined,
    note?: () => void,
  ): Promise<ReplyTo<Type>> {
    return abortable(signal, (resolve, reject) => {
      const replied = (frame: unknown) => {
        note?.();
        resolve(frame as ReplyTo<Type>);
      };
      this.#send(type, fields, { resolve: replied, reject });
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
        this.#turns.set(turnId, { resolve: resolve as Waiting['resolve'], reject, onEvent });
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

  /** Opens a stream of audio; `listener` hears it from its first event on. @throws as request() */
  openSpeech(
    fields: RequestFields['OpenSpeechRequest'],
    listener: SpeechListener,
    signal?: AbortSignal | undefined,
  ): Promise<ServerFrames['OpenSpeechResponse']> {
    return abortable(signal, (resolve, reject) => {
      const opened: Waiting['resolve'] = (frame) => {
        const opening = frame as ServerFrames['OpenSpeechResponse'];
        const { sessionId } = fields;
        const { stream } = opening;
        // Nobody waits for a stream whose opening was aborted.
        if (signal?.aborted) this.request('CloseSpeechRequest', { sessionId, stream }).catch(() => {});
        else this.#speech.set(stream, listener);
        resolve(opening);
      };
      this.#send('OpenSpeechRequest', fields, { resolve: opened, reject });
    });
  }

  /** Sends audio of a stream, within its credit. @throws ConnectionLostError */
  sendAudio(frame: AudioFrame): void {
    if (this.#lost !== undefined) throw this.#lost;
    this.#transport.sendBinary(audioPayloadOf(frame));
  }

  /** Why the connection was lost; undefined while it is open. */
  get lost(): ConnectionLostError | undefined {
    return this.#lost;
  }

  /** Closes the connection, and with it every session. */
  async close(): Promise<void> {
    this.#transport.end();
    await this.closed;
  }

  #send<Type extends RequestType>(type: Type, fields: RequestFields[Type], waiting: Waiting): void {
    if (this.#lost !== undefined) throw this.#lost;
    const id = this.#nextId++;
    this.#replies.set(id, waiting);
    try {
      this.#transport.send({ type, id, ...toWire(type, fields) });
    } catch (error) {
      this.#replies.delete(id);
      throw error;
    }
  }

  /** @throws TypeError for a frame that breaks the protocol */
  #receive(received: ServerFrame): void {
    if (typeof received?.type !== 'string') throw new TypeError('a frame without a type');
    const frame = fromWire(received) as ServerFrames[keyof ServerFrames];
    if (frame.type === 'Error') this.#fail(frame);
    else if (frame.type === 'Hello') this.#greeting?.resolve(frame);
    else if (frame.type === 'TurnText' || frame.type === 'TurnForget') {
      this.#turns.get(frame.turnId)?.onEvent(frame);
      this.#spoken.get(frame.turnId)?.event(frame);
    } else if (frame.type === 'TurnComplete') {
      settle(this.#turns, frame.turnId)?.resolve(frame);
      this.#spoken.get(frame.turnId)?.event(frame);
      this.#spoken.delete(frame.turnId);
    } else if ('stream' in frame && !('creditBytes' in frame)) this.#hear(frame as SpeechFrame);
    else if (frame.type === 'PullProgress') this.#pulls.get(frame.requestId as number)?.(frame);
    else if ('replyTo' in frame) settle(this.#replies, frame.replyTo as number)?.resolve(frame);
  }

  #hear(frame: SpeechFrame): void {
    const listener = this.#speech.get(frame.stream as number);
    if (frame.type === 'SpeechCredit') {
      listener?.credit(frame.bytes);
      return;
    }
    if (frame.type === 'TurnStarted' && listener !== undefined) this.#spoken.set(frame.turnId, listener);
    if (frame.type === 'SpeechClosed') this.#speech.delete(frame.stream);
    listener?.event(frame);
  }

  #fail({ replyTo, code, name, message, details }: ServerFrames['Error']): void {
    if (!Number.isInteger(code) || typeof name !== 'string' || typeof message !== 'string')
      throw new TypeError('an Error without its fields');
    const error = new ServerError(code, name, message, details);
    if (replyTo === null) {
      // The error names no request, so all pending ones fail.
      this.#lose(`${name}: ${message}`, error);
      this.#transport.end();
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
    for (const listener of new Set([...this.#speech.values(), ...this.#spoken.values()]))
      listener.lost(this.#lost);
    this.#speech.clear();
    this.#spoken.clear();
  }
}

type SpeechFrame = ServerFrames[
  | 'SpeechCredit'
  | 'SpeechStarted'
  | 'SpeechEnded'
  | 'SpeechText'
  | 'SpeechClosed'
  | 'TurnStarted'];

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
