import { AbortError, translateError } from '../boundary/errors.js';
import type { NativeGenerationResult, NativeLanguageModel, NativeLogprobs } from '../boundary/native.js';
import { signalArgument } from '../boundary/native-call.js';
import { onAbort } from '../boundary/on-abort.js';
import { type GenerateRequest, nativeRequest } from './generation-request.js';
import { logprobsOf, type TokenLogprobs } from './logprobs.js';
import { Prefix } from './prefix.js';
import { schemaGrammar } from './schema/schema-grammar.js';

export type {
  ChatMessage,
  ConsumerClass,
  GenerateRequest,
  Prompt,
  RenderedPrompt,
  RenderOptions,
} from './generation-request.js';
export type { TokenLogprob, TokenLogprobs } from './logprobs.js';

/** A part of a reply. The pieces concatenate to the result's `text` and `thinking`; none ends inside a character. */
export interface Piece {
  /** Part of the reply, or of the thinking before it. */
  kind: 'text' | 'thinking';
  /** Text since the piece before. Empty in a piece that has log-probabilities alone. */
  text: string;
  /** Of tokens of the reply, if asked for. The text of the last ones may be in later pieces. */
  logprobs?: TokenLogprobs[] | undefined;
}

/** Numbers of tokens. */
export interface Usage {
  /** Tokens of the prompt. */
  prompt: number;
  /** Tokens of the prompt that were in the KV cache, and not computed. */
  cached: number;
  /** The other tokens of the prompt; after a deadline or a cancel, the ones computed so far. */
  computed: number;
  /** Tokens generated, thinking included. */
  completion: number;
}

/** Guesses of prompt lookup. */
export interface DraftCounts {
  /** Tokens that were suggested. */
  drafted: number;
  /** Those that the model agreed with. */
  accepted: number;
}

/** Milliseconds, except prefillChunks and constraintWaits. */
export interface GenerationTiming {
  /** From the request to the first step. */
  queuedMs: number;
  /** Computing the prompt, and waiting for other requests meanwhile. */
  prefillMs: number;
  /** Steps that the prompt took, a cancelled step included. */
  prefillChunks: number;
  /** From the request to the first token. */
  firstMs: number;
  /** From the first token to the last. */
  decodeMs: number;
  /** Longest time between two tokens. */
  longestGapMs: number;
  /** Pauses of the throttle. */
  pausedMs: number;
  /** Tokens for which it sat out steps, until the tokens that its grammar, schema or quotations allow were known. */
  constraintWaits: number;
  /** Time of these waits. */
  constraintMs: number;
}

/**
 * `stop`: the model ended its reply; `stop_string`; `length`: maxTokens; `context`: the context is full; `cancelled`;
 * `deadline`.
 */
export type Finish = 'stop' | 'stop_string' | 'length' | 'context' | 'cancelled' | 'deadline';

export interface GenerationResult {
  /** The reply, without thinking. */
  text: string;
  /** The text before the reply that the model marks as thinking. */
  thinking: string;
  /** Why the generation ended. */
  finish: Finish;
  /** Numbers of tokens. */
  usage: Usage;
  /** Tokens that were guessed and checked together. */
  drafts: DraftCounts;
  /** Times of the phases. */
  timing: GenerationTiming;
  /** Seed in use. */
  seed: number;
  /** Tokens of the reply, without its end token. */
  tokens: Int32Array;
  /** One per token, if asked for. */
  logprobs: readonly TokenLogprobs[] | undefined;
}

/**
 * A reply on its way. Iterate over its pieces, or await `result`. Leaving the iteration early cancels. A cancelled
 * generation resolves with the text so far; a failed one rejects both.
 */
export interface Generation extends AsyncIterable<Piece> {
  /** Resolves at the end; rejects if the generation fails. */
  readonly result: Promise<GenerationResult>;
  /** Settles the result at once; the computation ends within one operation. */
  cancel(): void;
}

function toResult(native: NativeGenerationResult, logprobs: boolean): GenerationResult {
  const { promptTokens, cachedTokens, computedTokens, draftedTokens, acceptedTokens, ...timing } =
    native.numbers;
  let made: TokenLogprobs[] | undefined;
  return {
    text: native.text,
    thinking: native.thinking,
    finish: native.finish as Finish,
    usage: {
      prompt: promptTokens,
      cached: cachedTokens,
      computed: computedTokens,
      completion: native.tokens.length,
    },
    drafts: { drafted: draftedTokens, accepted: acceptedTokens },
    timing,
    seed: native.seed,
    tokens: native.tokens,
    // Made when somebody asks: a long reply has many alternatives, and its pieces had them before.
    get logprobs() {
      made ??= logprobs ? [...logprobsOf(native.logprobs ?? noLogprobs)].flat() : undefined;
      return made;
    },
  };
}

const noLogprobs: NativeLogprobs = {
  counts: new Uint32Array(),
  tokens: new Int32Array(),
  values: new Float32Array(),
  ends: new Uint32Array(),
  bytes: new Uint8Array(),
};

/** A piece as the addon gives it. */
interface NativePiece {
  readonly kind: Piece['kind'];
  text: string;
  readonly scores: NativeLogprobs | undefined;
}

/** The pieces of one generation, between the addon, which pushes, and one reader, who pulls. */
class PieceQueue implements AsyncIterator<Piece> {
  readonly #cancel: () => void;
  readonly #pieces: NativePiece[] = [];
  /** Parts of the log-probabilities of the first piece. */
  #parts: Iterator<TokenLogprobs[], void> | undefined;
  #part: TokenLogprobs[] | undefined;
  #end: { error?: unknown } | undefined;
  #waiting: (() => void)[] = [];

  constructor(cancel: () => void) {
    this.#cancel = cancel;
  }

  push(piece: NativePiece): void {
    const last = this.#pieces.at(-1);
    // A reader who is behind gets larger pieces.
    const joins = last?.kind === piece.kind && last.scores === undefined && piece.scores === undefined;
    if (joins) last.text += piece.text;
    else this.#pieces.push(piece);
    this.#wake();
  }

  end(end: { error?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Piece>> {
    for (;;) {
      const piece = this.#next();
      if (piece !== undefined) return { done: false, value: piece };
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** The next piece. One with many log-probabilities becomes several, with the text in the last one. */
  #next(): Piece | undefined {
    const [first] = this.#pieces;
    if (first === undefined) return undefined;
    const { kind, text, scores } = first;
    if (scores !== undefined) {
      this.#parts ??= logprobsOf(scores);
      const logprobs = this.#part ?? (this.#parts.next().value || []);
      this.#part = this.#parts.next().value || undefined;
      if (this.#part !== undefined) return { kind, text: '', logprobs };
      this.#parts = undefined;
      this.#pieces.shift();
      return { kind, text, logprobs };
    }
    this.#pieces.shift();
    return { kind, text };
  }

  async return(): Promise<IteratorResult<Piece>> {
    this.#cancel();
    return { done: true, value: undefined };
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

type Run<T> = (call: (native: NativeLanguageModel) => Promise<T>) => Promise<T>;

/** Signals that end a request: the caller's and the model's. */
type Ends = readonly [signal: AbortSignal | undefined, ending: AbortSignal];

/** Calls `stop` when either is aborted, until the result is called. */
function stopAt(ends: Ends, stop: () => void): () => void {
  const listening = ends.map((signal) => onAbort(signal, stop));
  return () => {
    for (const stopListening of listening) stopListening();
  };
}

/** Computes a prompt without a reply. */
export async function startPrefix(
  request: Pick<GenerateRequest, 'prompt' | 'class'>,
  ends: Ends,
  vocabularySize: number,
  run: Run<Prefix>,
): Promise<Prefix> {
  const [signal] = ends;
  signalArgument(signal);
  if (signal?.aborted) throw new AbortError(signal.reason);
  const native = { ...nativeRequest(request, vocabularySize), maxTokens: 0 };
  return run(async (model) => {
    const [promise, stop] = model.prefix(native, () => {});
    const stopListening = stopAt(ends, stop);
    try {
      return new Prefix(await promise, model);
    } catch (error) {
      throw signal?.aborted ? new AbortError(signal.reason) : translateError(error);
    } finally {
      stopListening();
    }
  });
}

/** Starts a generation. `run` calls the addon and makes close() wait for the promise. @throws INVALID_ARGUMENT */
export function startGeneration(
  request: GenerateRequest,
  ends: Ends,
  vocabularySize: number,
  run: Run<GenerationResult>,
): Generation {
  const [signal] = ends;
  signalArgument(signal);
  const native = nativeRequest(request, vocabularySize);
  const { prefix, logprobs, schema } = request;
  let cancelNative: (() => void) | undefined;
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
    cancelNative?.();
  };
  const queue = new PieceQueue(cancel);
  const result = run(async (model) => {
    const grammar = schema === undefined ? native.grammar : await schemaGrammar(schema);
    if (signal?.aborted) throw new AbortError(signal.reason);
    prefix?.requireOpen(model);
    const [promise, stop] = model.generate({ ...native, grammar }, (text, thinking, scores) =>
      queue.push({
        kind: thinking ? 'thinking' : 'text',
        text,
        scores,
      }),
    );
    cancelNative = stop;
    if (cancelled) stop();
    const stopListening = stopAt(ends, cancel);
    try {
      return toResult(await promise, logprobs !== undefined);
    } catch (error) {
      throw translateError(error);
    } finally {
      stopListening();
    }
  });
  result.then(
    () => queue.end({}),
    (error: unknown) => queue.end({ error }),
  );
  return { result, cancel, [Symbol.asyncIterator]: () => queue };
}
