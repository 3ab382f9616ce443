import type { RecognisedSpeech, RecogniseOptions, SpeechRecogniser } from '../../lib/index.js';

/** A call of a fake recogniser, which waits for its answer. */
export interface RecogniserCall {
  readonly samples: Float32Array;
  readonly options: RecogniseOptions;
  /** Answers it. */
  say(text: string): void;
}

/** Stands for a recogniser: it says what it is told to. */
export class FakeRecogniser {
  readonly facts = { name: 'fake', fingerprint: '0', multilingual: true, parameters: 1, sizeBytes: 1 };
  readonly calls: RecogniserCall[] = [];
  readonly #answer: ((call: RecogniserCall) => string | undefined) | undefined;
  #looking: (() => void)[] = [];

  /** `answer`: the text of a call; undefined: the call waits for say(). */
  constructor(answer?: (call: RecogniserCall) => string | undefined) {
    this.#answer = answer;
  }

  /** For `loadRecogniser` of a server. */
  readonly load = async (): Promise<SpeechRecogniser> => this as unknown as SpeechRecogniser;

  recognise(samples: Float32Array, options: RecogniseOptions = {}): Promise<RecognisedSpeech> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      const say = (text: string) =>
        resolve({
          text,
          language: text === '' ? '' : 'en',
          probability: 0.9,
          words: text
            .split(' ')
            .filter(Boolean)
            .map((word, i) => ({ text: word, beginMs: 100 * i, endMs: 100 * i + 90, probability: 0.8 })),
          tokens: new Int32Array(0),
        });
      const call = { samples, options, say };
      this.calls.push(call);
      const text = this.#answer?.(call);
      if (text !== undefined) say(text);
      for (const look of this.#looking.splice(0)) look();
    });
  }

  /** The call of this number, from 0, once it was made. */
  async call(number: number): Promise<RecogniserCall> {
    while (this.calls.length <= number) await new Promise<void>((resolve) => this.#looking.push(resolve));
    return this.calls[number] as RecogniserCall;
  }

  async close(): Promise<void> {}
}
