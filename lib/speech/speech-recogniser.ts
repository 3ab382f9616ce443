import {
  choiceArgument,
  integerArgument,
  refuse,
  stringArgument,
  threadsArgument,
} from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { Handle } from '../boundary/handle.js';
import { consumerClasses } from '../boundary/layout.gen.js';
import type { NativeRecogniser, RecognisedSpeech, SpeechRecogniserFacts } from '../boundary/native/speech.js';
import { type CallOptions, callNative, describe, type ProgressOptions } from '../boundary/native-call.js';
import type { ConsumerClass } from '../generation/generation-request.js';
import { CallQueue } from './call-queue.js';
import { floatSamples } from './voice-detector.js';

export type { RecognisedSpeech, SpeechRecogniserFacts, SpeechWord } from '../boundary/native/speech.js';

export interface LoadRecogniserOptions extends CallOptions {
  /** Threads; 0 (default): all that the process may use, at most 8. They sleep while nothing is recognised. */
  threads?: number | undefined;
  /** On the GPU that useBackend() chose, if there is one. Default false. */
  gpu?: boolean | undefined;
}

export interface RecogniseOptions extends ProgressOptions {
  /** ISO 639-1, as `de`. Default: detected; English for a model that knows English alone. */
  language?: string | undefined;
  /** Translates into English. Default false. */
  translate?: boolean | undefined;
  /** Text before the speech, at most 16 KiB: names and spellings to expect. */
  prompt?: string | undefined;
  /**
   * Names to expect, as of people and places, the most important first; at most 1,000. As many as fit (128 tokens) come before
   * `prompt`, so that the model spells them so.
   */
  terms?: readonly string[] | undefined;
  /** Beams of the search, 1 to 8. Default 1. */
  beams?: number | undefined;
  /**
   * Class in the scheduler: before each window of 30 s, calls of a better class go first, and one in the `background` rests while
   * interactive replies are generated. Default `interactive_visible`.
   */
  class?: ConsumerClass | undefined;
}

const mostTerms = 1000;

/** Maximum number of UTF-8 bytes of `prompt`. */
const mostPromptBytes = 16 * 1024;

/** Returns why a recogniser refuses a prompt; undefined if it takes it. */
export function promptProblem(prompt: string): string | undefined {
  const bytes = Buffer.byteLength(prompt);
  return bytes > mostPromptBytes ? `at most ${mostPromptBytes} bytes are expected, not ${bytes}` : undefined;
}

/** A Whisper model on the CPU or a GPU. Calls may overlap; one is computed at a time, of the best class. */
export class SpeechRecogniser extends Handle<NativeRecogniser> {
  /**
   * Each call takes a thread of the addon, also while it waits for its turn or rests. Two of a class: when one ends, the next one is
   * there before a worse class may begin.
   */
  readonly #calls = new CallQueue(2);

  /**
   * Loads a model file of whisper.cpp's format (`ggml-base.en.bin`) after checking it.
   * @throws NOT_FOUND, IO, MODEL_INVALID (another format, truncated, damaged), OUT_OF_MEMORY, CANCELLED
   */
  static async load(path: string, options: LoadRecogniserOptions = {}): Promise<SpeechRecogniser> {
    const file = stringArgument('path', path);
    const native = { threads: threadsArgument(options.threads), gpu: options.gpu === true };
    return callNative(
      options.signal,
      async (cancel) => new SpeechRecogniser(await binding.loadRecogniser(file, native, cancel, undefined)),
    );
  }

  /** The ISO 639-1 codes of all languages of Whisper. */
  static languages(): string[] {
    return binding.speechLanguages();
  }

  get facts(): SpeechRecogniserFacts {
    return this.read((native) => native.facts);
  }

  /**
   * Recognises mono samples at 16 kHz, at most ten minutes: floats in [-1, 1], or 16-bit integers. Cut longer audio at
   * pauses with a VoiceDetector. A text that repeats itself is decoded again at higher temperatures; one without letters and
   * digits is empty. Cancelling takes effect within one operation of the model's graph.
   * @throws INVALID_ARGUMENT (a language that Whisper or this model does not know, audio or a prompt that is too long),
   * MODEL_INVALID, CANCELLED, CLOSED
   */
  async recognise(
    samples: Float32Array | Int16Array,
    options: RecogniseOptions = {},
  ): Promise<RecognisedSpeech> {
    // The caller may use its array again while the call waits.
    const floats = samples instanceof Float32Array ? samples.slice() : floatSamples(samples);
    const { language = '', translate = false, prompt = '', signal, onProgress } = options;
    if (typeof language !== 'string') refuse('language', `a string is expected, not ${describe(language)}`);
    if (typeof prompt !== 'string') refuse('prompt', `a string is expected, not ${describe(prompt)}`);
    const problem = promptProblem(prompt);
    if (problem !== undefined) refuse('prompt', problem);
    if (typeof translate !== 'boolean')
      refuse('translate', `true or false is expected, not ${describe(translate)}`);
    const { terms = [] } = options;
    if (!Array.isArray(terms) || !terms.every((term) => typeof term === 'string'))
      refuse('terms', `an array of strings is expected, not ${describe(terms)}`);
    if (terms.length > mostTerms) refuse('terms', `at most ${mostTerms} are expected, not ${terms.length}`);
    const beams = integerArgument('beams', options.beams, 1, 1, 8);
    const visible = 'interactive_visible';
    const rank = consumerClasses.indexOf(choiceArgument('class', options.class, visible, consumerClasses));
    const given = { language, prompt, terms, translate, beams, class: rank };
    const found = await this.run(signal, (native, cancel) =>
      this.#calls.run(rank, signal, () => native.recognise(floats, given, cancel, onProgress)),
    );
    return spoken(found);
  }
}

/** Whether a text has letters or digits: Whisper writes notes and full stops for music and noise. */
export const isSpoken = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** Returns no text for one that is not spoken. */
function spoken(found: RecognisedSpeech): RecognisedSpeech {
  if (isSpoken(found.text)) return found;
  return { ...found, text: '', probability: 0, words: [], tokens: new Int32Array(0) };
}
