import { onAbort } from '../../lib/basics.js';
import { ServerError } from '../protocol/errors.js';
import type { Channel, SpeechEvent } from './channel.js';
import { ended } from './ended.js';
import type { RequestFields, SessionFields } from './frames.js';
import type { CallOptions } from './link.js';

/** Bytes of samples in one frame: a ping behind it does not wait long. */
const frameBytes = 32 * 1024;

type OpenFields = SessionFields<'OpenSpeechRequest'>;

/**
 * A stream of audio. Iterating over it yields its events, and those of the turns that were spoken on it, until both have ended. It ends
 * with its session and is not restored on a new connection.
 */
export class ClientSpeech implements AsyncIterable<SpeechEvent>, AsyncDisposable {
  readonly #channel: Channel;
  readonly #sessionId: string;
  readonly #fields: OpenFields;
  #stream = 0;
  #credit = 0;
  #sequence = 0;
  readonly #events: SpeechEvent[] = [];
  readonly #turns = new Set<string>();
  #isClosed = false;
  /** Why no more audio is taken. */
  #failure: unknown;
  #wake: (() => void)[] = [];
  /** Settles when the audio so far is sent. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(channel: Channel, sessionId: string, fields: OpenFields) {
    this.#channel = channel;
    this.#sessionId = sessionId;
    this.#fields = fields;
  }

  /** @internal Use ClientSession.openSpeech(). */
  static async open(
    channel: Channel,
    sessionId: string,
    fields: OpenFields,
    signal: AbortSignal | undefined,
  ): Promise<ClientSpeech> {
    const speech = new ClientSpeech(channel, sessionId, fields);
    const request = { sessionId, ...fields } as RequestFields['OpenSpeechRequest'];
    const listener = {
      event: (event: SpeechEvent) => speech.#hear(event),
      credit: (bytes: number) => speech.#granted(bytes),
      lost: (error: unknown) => speech.#lost(error),
    };
    const { stream, creditBytes } = await channel.openSpeech(request, listener, signal);
    speech.#stream = stream;
    speech.#granted(creditBytes);
    return speech;
  }

  /** Number of the stream on its connection. */
  get stream(): number {
    return this.#stream;
  }

  /**
   * Sends audio: samples of 16 bits, or floats in [-1, 1], interleaved, in whole samples of all channels. Resolves when it is sent, for
   * which it may have to wait until the server has heard earlier audio. @throws TypeError for anything else, such as the bytes of
   * samples; RangeError for a part of a sample; ServerError if the server closed the stream, ConnectionLostError, the signal's reason
   * (a part may be sent)
   */
  async write(samples: Int16Array | Float32Array, { signal }: CallOptions = {}): Promise<void> {
    const { format = 's16', channels = 1 } = this.#fields;
    checkSamples(samples, channels);
    const bytes = encoded(samples, format);
    const writing = this.#writing.then(() => this.#write(bytes, signal));
    this.#writing = writing.catch(() => {});
    await writing;
  }

  /** What was said so far is an utterance: its text becomes a turn. Wait for it before writing the audio of the next one. */
  async endUtterance({ signal }: CallOptions = {}): Promise<void> {
    await this.#request('EndUtteranceRequest', signal);
  }

  /** No audio follows. The events of the last segment still come. */
  async finish({ signal }: CallOptions = {}): Promise<void> {
    await this.#request('FinishSpeechRequest', signal);
  }

  /** Ends the stream at once, and rejects writes that wait; a stream that has ended already is no error. */
  async close({ signal }: CallOptions = {}): Promise<void> {
    if (this.#isClosed) return;
    await ended(this.#request('CloseSpeechRequest', signal));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @throws ConnectionLostError */
  async *[Symbol.asyncIterator](): AsyncGenerator<SpeechEvent, void, undefined> {
    for (;;) {
      for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) yield event;
      if (this.#failure !== undefined && !(this.#failure instanceof ServerError)) throw this.#failure;
      if (this.#isClosed && this.#turns.size === 0) return;
      await this.#changed();
    }
  }

  async #request(
    type: 'EndUtteranceRequest' | 'FinishSpeechRequest' | 'CloseSpeechRequest',
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (type !== 'CloseSpeechRequest') await this.#writing;
    await this.#channel.request(type, { sessionId: this.#sessionId, stream: this.#stream }, signal);
  }

  async #write(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    const { format = 's16', channels = 1 } = this.#fields;
    const whole = (format === 's16' ? 2 : 4) * channels;
    for (let at = 0; at < bytes.length; ) {
      signal?.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure;
      const most = Math.min(bytes.length - at, this.#credit, frameBytes);
      const length = most === bytes.length - at ? most : most - (most % whole);
      if (length === 0) {
        await this.#changed(signal);
        continue;
      }
      const samples = bytes.subarray(at, at + length);
      this.#channel.sendAudio({ stream: this.#stream, sequence: this.#sequence++, samples });
      this.#credit -= length;
      at += length;
    }
  }

  #granted(bytes: number): void {
    this.#credit += bytes;
    this.#tellChanged();
  }

  #hear(event: SpeechEvent): void {
    if (event.type === 'TurnStarted') this.#turns.add(event.turnId);
    if (event.type === 'TurnComplete') this.#turns.delete(event.turnId);
    if (event.type === 'SpeechClosed') {
      this.#isClosed = true;
      const { error } = event;
      this.#failure ??=
        error === undefined
          ? new ServerError(7001, 'SpeechStreamNotFound', 'the stream has ended')
          : new ServerError(error.code, error.name, error.message, error.details);
    }
    this.#events.push(event);
    this.#tellChanged();
  }

  #lost(error: unknown): void {
    this.#failure = error;
    this.#tellChanged();
  }

  #changed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stopListening = onAbort(signal, () => resolve());
      this.#wake.push(() => {
        stopListening();
        resolve();
      });
    });
  }

  #tellChanged(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

function checkSamples(samples: unknown, channels: number): asserts samples is Int16Array | Float32Array {
  if (!(samples instanceof Int16Array || samples instanceof Float32Array))
    throw new TypeError('samples: an Int16Array or a Float32Array is expected');
  if (samples.length % channels !== 0)
    throw new RangeError(`samples: ${samples.length} are no whole number of samples of ${channels} channels`);
}

/** Returns samples as the bytes of a frame, which are little-endian. */
function encoded(samples: Int16Array | Float32Array, format: 's16' | 'f32'): Uint8Array {
  const isFloat = samples instanceof Float32Array;
  const bytes = new Uint8Array(samples.length * (format === 's16' ? 2 : 4));
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as number;
    if (format === 'f32') view.setFloat32(4 * i, isFloat ? sample : sample / 32_768, true);
    else
      view.setInt16(2 * i, isFloat ? Math.round(Math.max(-1, Math.min(1, sample)) * 32_767) : sample, true);
  }
  return bytes;
}
