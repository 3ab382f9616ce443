import { setMaxListeners } from 'node:events';
import { LorekeepError } from '../../lib/index.js';
import type {
  ChatMessage,
  GenerateRequest,
  Generation,
  GenerationResult,
  Piece,
  TextModel,
} from '../../src/models/text-model.js';

/** What a fake model generates: pieces of text, or pieces of either kind. */
export type Script = readonly (string | Piece)[];

export interface FakeOptions {
  /** The reply to a request. Default: "ok". */
  reply?: (request: GenerateRequest, messages: readonly ChatMessage[]) => Script;
  facts?: Partial<TextModel['facts']>;
  finish?: GenerationResult['finish'];
  /** The generation fails with this. */
  fail?: () => Error | undefined;
  /** Awaited before each piece. */
  pause?: (index: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Tokens that the fake chat template adds per message. */
export const perMessage = 2;

const words = (text: string) => text.split(/\s+/).filter(Boolean).length;

/** A language model whose tokens are words, and that replies with what it is told. It keeps every request. */
export class FakeTextModel implements TextModel {
  readonly requests: GenerateRequest[] = [];
  /** The messages of every generated prompt. */
  readonly prompts: (readonly ChatMessage[])[] = [];
  readonly facts: TextModel['facts'];
  readonly #options: FakeOptions;
  readonly #rendered = new WeakMap<object, readonly ChatMessage[]>();
  readonly #ending = new AbortController();
  closed = 0;
  /** As the library's: the failure of its GPU. */
  lost: LorekeepError | undefined;

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    // Each generation listens, and a test may run many.
    setMaxListeners(0, this.#ending.signal);
    this.facts = {
      architecture: 'fake',
      contextSize: 1000,
      trainedContextSize: 1000,
      fingerprint: 'f'.repeat(16),
      device: 'fake device',
      runtime: 'llama.cpp',
      chatTemplate: true,
      thinking: false,
      ...options.facts,
    };
  }

  async countTokens(text: string): Promise<number> {
    return words(text);
  }

  async render(messages: readonly ChatMessage[]) {
    const messageTokens = messages.map(({ content }) => perMessage + words(content));
    const tokens = new Int32Array(messageTokens.reduce((sum, each) => sum + each, 1));
    const rendered = { tokens, parts: [], messageTokens };
    this.#rendered.set(rendered, messages);
    return rendered;
  }

  generate(request: GenerateRequest, { signal }: { signal?: AbortSignal } = {}): Generation {
    const { prompt } = request;
    this.requests.push(request);
    const messages: readonly ChatMessage[] =
      typeof prompt === 'object'
        ? (this.#rendered.get(prompt) ?? [])
        : [{ role: 'user', content: prompt ?? '' }];
    this.prompts.push(messages);
    return this.#generation(request, messages, signal);
  }

  async close(failing?: LorekeepError): Promise<void> {
    this.closed++;
    if (failing !== undefined) this.#ending.abort(failing);
  }

  #generation(
    request: GenerateRequest,
    messages: readonly ChatMessage[],
    signal: AbortSignal | undefined,
  ): Generation {
    const { reply = () => ['ok'], finish = 'stop', pause = async () => {}, fail } = this.#options;
    const script = reply(request, messages).map((piece) =>
      typeof piece === 'string' ? ({ kind: 'text', text: piece } as const) : piece,
    );
    const prompt = messages.reduce((sum, { content }) => sum + perMessage + words(content), 1);
    const ending = this.#ending.signal;
    const failure = ending.reason ?? fail?.();
    if (failure instanceof LorekeepError && failure.code === 'DEVICE_LOST') this.lost = failure;
    let settle: (result: GenerationResult) => void = () => {};
    const result = new Promise<GenerationResult>((resolve, reject) => {
      settle = resolve;
      if (failure !== undefined) reject(failure);
      ending.addEventListener('abort', () => reject(ending.reason));
    });
    async function* pieces(): AsyncGenerator<Piece> {
      if (failure !== undefined) throw failure;
      const sent: Piece[] = [];
      for (const [index, piece] of script.entries()) {
        await pause(index, signal);
        ending.throwIfAborted();
        if (signal?.aborted) break;
        sent.push(piece);
        yield piece;
      }
      const of = (kind: Piece['kind']) =>
        sent
          .filter((piece) => piece.kind === kind)
          .map(({ text }) => text)
          .join('');
      settle({
        text: of('text'),
        thinking: of('thinking'),
        finish: signal?.aborted ? 'cancelled' : finish,
        usage: { prompt, cached: 1, computed: prompt - 1, completion: sent.length },
        drafts: { drafted: 0, accepted: 0 },
        timing: {
          queuedMs: 0,
          prefillMs: 0,
          prefillChunks: 1,
          firstMs: 0,
          decodeMs: 0,
          longestGapMs: 0,
          pausedMs: 0,
          constraintWaits: 0,
          constraintMs: 0,
        },
        seed: request.seed ?? 1,
        tokens: new Int32Array(sent.length),
        logprobs: undefined,
      });
    }
    return { result, cancel: () => {}, [Symbol.asyncIterator]: pieces };
  }
}
