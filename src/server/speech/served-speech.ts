import { LorekeepError, onAbort } from '../../../lib/basics.js';
import type { CallQueue, RecognisedSpeech, VoiceDetector } from '../../../lib/internal.js';
import type { VoiceSettings } from '../../base/schema/voice-settings.js';
import { untilAborted } from '../../base/waiting/until-aborted.js';
import type { Account } from '../../fairness/account.js';
import { speechBytes } from '../../fairness/estimates.js';
import type { Log } from '../../log/log.js';
import type { Lease } from '../../models/lease.js';
import { type VoiceChoice, voiceOptions, voiceProblem } from '../../models/voice-settings.js';
import type { AudioFrame } from '../../protocol/audio-frame.js';
import { fail, type ServerError, serverError } from '../../protocol/errors.js';
import type { Requests, ServerFrame } from '../../protocol/frames.js';
import { milliseconds } from '../../protocol/milliseconds.js';
import { AudioInput, sampleBytes } from '../../speech/audio-input.js';
import { keptMs } from '../../speech/heard-audio.js';
import type { SegmentDumps } from '../../speech/segment-dumps.js';
import { mostWaitingMs } from '../../speech/segment-texts.js';
import { type SpeechEvent, SpeechStream, type Voice } from '../../speech/speech-stream.js';
import { errorFields, refusalOf } from '../../storages/failure.js';
import type { ChosenModels } from './speech-models.js';
import type { SpokenTurns } from './spoken-turns.js';

export interface ServedSpeechOptions {
  readonly number: number;
  readonly request: Requests['OpenSpeechRequest'];
  /** Names to expect. */
  readonly terms: readonly string[];
  readonly models: ChosenModels;
  readonly detector: Lease<VoiceDetector>;
  readonly account: Account;
  /** The client's recognitions. */
  readonly recognitions: CallQueue;
  readonly dumps: SegmentDumps | undefined;
  readonly log: Log;
  /** Ends with the session. */
  readonly signal: AbortSignal;
  readonly session: string;
  send(frame: ServerFrame): void;
  /** Makes turns of the text; absent without an agent. */
  turns(failed: (error: unknown) => void): SpokenTurns | undefined;
}

const ranks = { interactive_visible: 0, interactive_buffered: 1, background: 2 } as const;

/** Seconds of audio that may be sent ahead, and their least and most bytes. */
const credit = { seconds: 2, least: 64 * 1024, most: 1024 * 1024 } as const;

/** Audio that is heard at once, in seconds: other clients' audio is heard in between. */
const pieceSeconds = 0.5;

/** Ends of utterances in audio that waits to be heard: some 2 seconds. */
const mostEnds = 256;

/** Part of the credit that is granted again at once. */
const grantedPart = 1 / 4;

/** Audio of a frame that is kept beside a segment, in ms. */
const frameMs = 1000;

interface Fault {
  readonly message: string;
  readonly found: number;
  readonly expected: number;
}

/** A stream of a client: takes its audio, tells its speech, and grants credit for more. */
export class ServedSpeech {
  readonly number: number;
  /** Bytes of samples that the client may send at first. */
  readonly creditBytes: number;
  /** Settles when the stream has ended and holds nothing. Never rejects. */
  readonly ended: Promise<void>;
  readonly #options: ServedSpeechOptions;
  readonly #input: AudioInput;
  readonly #stream: SpeechStream;
  readonly #turns: SpokenTurns | undefined;
  readonly #ending = new AbortController();
  /** Bytes of a sample of all channels. */
  readonly #frameBytes: number;
  #credit: number;
  /** Bytes that were heard and not granted again. */
  #heard = 0;
  #sequence = 0;
  #isFinishing = false;
  #hasEnded = false;

  /** @throws ClientMemoryExceeded, ServerMemoryExceeded, InvalidField */
  constructor(options: ServedSpeechOptions) {
    const { number, request, models, detector, account, signal } = options;
    this.number = number;
    this.#options = options;
    const { format, channels, rate } = request;
    this.#frameBytes = sampleBytes[format] * channels;
    this.creditBytes = this.#credit = creditOf(rate, this.#frameBytes);
    const settings = requestedVoice(models.voice);
    const memory = account.memory.hold('speech');
    const segmentMs = settings.maxSegmentMs + 2 * keptMs(settings) + frameMs;
    memory.add(
      speechBytes(this.creditBytes / sampleBytes[format], segmentMs, settings.maxSegmentMs + mostWaitingMs),
      'the stream was not opened',
    );
    this.#input = new AudioInput(format);
    this.#turns = options.turns((error) => this.#failed(error));
    this.#stream = new SpeechStream({
      voice: () => this.#voice(detector.model, settings),
      settings,
      partial: request.partial,
      recognise: (samples, stop) => this.#recognise(samples, stop),
      tell: (event) => this.#tell(event),
      failed: (error) => this.#failed(error),
      signal: this.#ending.signal,
    });
    const stopListening = onAbort(signal, () => this.#end('failed', signal.reason as ServerError));
    this.ended = this.#run().finally(async () => {
      stopListening();
      await this.#stream.close();
      detector[Symbol.dispose]();
      memory.release();
    });
  }

  /** Takes audio of the client. A frame that does not fit ends the stream. */
  take(frame: AudioFrame): void {
    if (this.#hasEnded || this.#isFinishing) return;
    const fault = this.#fault(frame);
    if (fault === undefined) {
      this.#sequence = (this.#sequence + 1) % 2 ** 32;
      this.#credit -= frame.samples.length;
      this.#input.append(frame.samples);
    } else this.#refuse(fault);
  }

  /** Ends the stream for a frame of `length` bytes, which is longer than any credit. */
  refuseLength(length: number): void {
    this.#refuse(this.#overCredit(length));
  }

  /** What was said so far is an utterance. */
  endUtterance(): void {
    if (this.#isFinishing) return;
    const { marks } = this.#input;
    if (marks < mostEnds) this.#input.mark(() => this.#endUtterance());
    else {
      const message = `${marks} ends of utterances wait for their audio to be heard; wait for its text`;
      this.#refuse({ message, found: marks, expected: mostEnds });
    }
  }

  /** No audio follows: the stream ends with the text of its last segment. */
  finish(): void {
    this.#isFinishing = true;
    this.#input.mark(async () => {
      await this.#endUtterance();
      this.#end('finished');
    });
  }

  /** Ends the stream at once. */
  close(): Promise<void> {
    this.#end('closed');
    return this.ended;
  }

  /** Returns why a frame does not fit the stream; undefined if it does. */
  #fault({ sequence, samples: { length } }: AudioFrame): Fault | undefined {
    if (sequence !== this.#sequence) {
      const message = `sequence: ${this.#sequence} is expected, not ${sequence}`;
      return { message, found: sequence, expected: this.#sequence };
    }
    if (length === 0 || length % this.#frameBytes !== 0) {
      const { format, channels } = this.#options.request;
      const expected = `a multiple of ${this.#frameBytes} is expected for ${format} of ${channels} channels`;
      return {
        message: `samples: ${expected}, not ${length} bytes`,
        found: length,
        expected: this.#frameBytes,
      };
    }
    return length > this.#credit ? this.#overCredit(length) : undefined;
  }

  #overCredit(length: number): Fault {
    const message = `samples: a frame of ${length} bytes, and the credit is ${this.#credit} bytes; wait for SpeechCredit`;
    return { message, found: length, expected: this.#credit };
  }

  #refuse({ message, ...facts }: Fault): void {
    this.#end('failed', serverError(7003, message, { stream: this.number, ...facts }));
  }

  async #endUtterance(): Promise<void> {
    await this.#stream.endUtterance();
    await this.#turns?.endUtterance();
  }

  async #run(): Promise<void> {
    const { account, request } = this.#options;
    const { signal } = this.#ending;
    const most = Math.ceil(pieceSeconds * request.rate) * request.channels;
    try {
      while (!this.#hasEnded) {
        const part = await untilAborted(this.#input.next(most), signal);
        await account.read(signal);
        if ('mark' in part) await part.mark();
        else {
          await this.#stream.hear(part.samples);
          this.#grant(part.samples.length * sampleBytes[request.format]);
        }
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  #grant(bytes: number): void {
    this.#heard += bytes;
    if (this.#hasEnded || this.#isFinishing || this.#heard < grantedPart * this.creditBytes) return;
    const { number: stream } = this;
    this.#credit += this.#heard;
    this.#options.send({ type: 'SpeechCredit', stream, bytes: this.#heard });
    this.#heard = 0;
  }

  /** A stream of the detector, computed in the client's share of the search threads. */
  #voice(detector: VoiceDetector, settings: VoiceChoice): Voice {
    const { account, request } = this.#options;
    const { rate, channels } = request;
    const voice = detector.stream({ ...settings, rate, channels });
    return {
      push: (samples, options) =>
        account.compute('search', options.signal, () => voice.push(samples, options)),
      finish: (options) => account.compute('search', options.signal, () => voice.finish(options)),
      close: () => voice.close(),
    };
  }

  #recognise(samples: Float32Array, signal: AbortSignal): Promise<RecognisedSpeech> {
    const { recognitions, request, terms, models } = this.#options;
    const { language, translate, prompt, beams } = request;
    const options = { language, translate, prompt, terms, beams, class: request.class, signal };
    return recognitions.run(ranks[request.class], signal, async () => {
      for (let tries = 0; ; tries++) {
        using lease = await models.recogniser.lease(signal);
        try {
          return await lease.model.recognise(samples, options);
        } catch (error) {
          const isLost = error instanceof LorekeepError && error.code === 'DEVICE_LOST';
          if (!isLost || tries > 0) throw error;
        }
      }
    });
  }

  #tell(event: SpeechEvent): void {
    if (this.#hasEnded) return;
    const { send, dumps, session } = this.#options;
    if (event.kind === 'ended') {
      const { segment, samples } = event;
      dumps?.write({ session, stream: this.number, segment, samples });
    }
    send(this.#frame(event));
    this.#turns?.hear(event);
  }

  #frame(event: SpeechEvent): ServerFrame {
    const { number: stream } = this;
    const { segment, beginMs } = event;
    const place = { stream, segment, begin_ms: milliseconds(beginMs) };
    if (event.kind === 'started') return { type: 'SpeechStarted', ...place, probability: event.probability };
    const end_ms = milliseconds(event.endMs);
    if (event.kind === 'ended')
      return { type: 'SpeechEnded', ...place, end_ms, probability: event.probability, cut: event.cut };
    const { text, language, probability, words } = event.found;
    const at = (ms: number) => milliseconds(event.audioBeginMs + ms);
    return {
      type: 'SpeechText',
      stream,
      segment,
      final: event.final,
      text,
      begin_ms: place.begin_ms,
      end_ms,
      language: text === '' ? '' : language,
      probability,
      ...(this.#options.request.words && {
        words: words.map((word) => ({
          text: word.text,
          begin_ms: at(word.beginMs),
          end_ms: at(word.endMs),
          probability: word.probability,
        })),
      }),
    };
  }

  #failed(error: unknown): void {
    if (this.#hasEnded) return;
    this.#end('failed', refusalOf(error, this.#options.log, { stream: this.number }));
  }

  #end(reason: 'finished' | 'closed' | 'failed', error?: ServerError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#turns?.close();
    this.#options.send({
      type: 'SpeechClosed',
      stream: this.number,
      reason,
      heard_ms: milliseconds(this.#stream.heardMs),
      ...(error && { error: errorFields(error) as never }),
    });
    this.#ending.abort(error ?? serverError(7001, 'the stream was closed', { path: 'stream' }));
  }
}

function creditOf(rate: number, frameBytes: number): number {
  const bytes = Math.max(credit.least, Math.min(credit.most, credit.seconds * rate * frameBytes));
  return bytes - (bytes % frameBytes);
}

/** @throws InvalidField for settings that contradict each other */
function requestedVoice(given: VoiceSettings): VoiceChoice {
  const problem = voiceProblem(given);
  if (problem === undefined) return voiceOptions(given);
  const path = `vad.${problem.field}`;
  return fail(1004, `${path}: ${problem.reason}`, { path });
}
