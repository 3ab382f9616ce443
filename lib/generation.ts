import { randomInt } from 'node:crypto';
import { choiceArgument, integerArgument, numberArgument } from './arguments.js';
import { AbortError, LorekeepError, translateError } from './errors.js';
import type {
  NativeGenerationRequest,
  NativeGenerationResult,
  NativeLanguageModel,
  NativeMessage,
} from './native.js';
import { describe, signalArgument } from './native-call.js';
import { Prefix } from './prefix.js';
import { schemaGrammar } from './schema-grammar.js';

/**
 * Who consumes a reply. `interactive_visible` (default): somebody reads it as it appears; `interactive_buffered`: somebody
 * waits for it; `background`: nobody waits.
 */
export type ConsumerClass = 'interactive_visible' | 'interactive_buffered' | 'background';

export const consumerClasses = ['interactive_visible', 'interactive_buffered', 'background'] as const;

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  /** Plain text: spellings of control tokens in it stay text. */
  content: string;
}

export interface RenderOptions {
  /** Switches the model's thinking, if its chat template can. Default: as the template has it. */
  thinking?: 'on' | 'off' | undefined;
  /** Whether the prompt ends with the beginning of the assistant's reply. Default: true. */
  addGenerationPrompt?: boolean | undefined;
}

/** A prompt as tokens. */
export interface RenderedPrompt {
  readonly tokens: Int32Array;
  /** `input`: text from a message, which is never searched for control tokens; `message`: the index of its message. */
  readonly parts: readonly { text: string; input: boolean; message?: number }[];
  /** Tokens that each message adds, template text around it included. */
  readonly messageTokens: readonly number[];
}

export interface Sampling {
  /** 0: always the most likely token. Default 0.8; at least 0. */
  temperature?: number | undefined;
  /** Candidates: the most likely tokens. Default 40; 0: all. */
  topK?: number | undefined;
  /** Candidates: the fewest most likely tokens whose probabilities reach this sum. Default 0.95, from 0 to 1 (all). */
  topP?: number | undefined;
  /** Candidates: tokens at least this likely, relative to the most likely one. Default 0.05, from 0 (all) to 1. */
  minP?: number | undefined;
  /** Divides the logits of tokens that occurred. Default 1 (off); at least 0.01. */
  repeatPenalty?: number | undefined;
  /** Subtracted from a token's logit for each occurrence. Default 0; -100 to 100. */
  frequencyPenalty?: number | undefined;
  /** Subtracted from the logit of tokens that occurred. Default 0; -100 to 100. */
  presencePenalty?: number | undefined;
  /** Latest tokens that penalties look at, those of the prompt included. Default 64. */
  penaltyLastN?: number | undefined;
}

/** Plain text, in which spellings of control tokens stay text; or tokens; or the result of render(). */
export type Prompt = string | Int32Array | RenderedPrompt;

export interface GenerateRequest {
  /** A conversation, rendered by the model's chat template. Either this or `prompt`. */
  messages?: readonly ChatMessage[] | undefined;
  prompt?: Prompt | undefined;
  class?: ConsumerClass | undefined;
  /** Most tokens of the reply, thinking included. Default 1024; the context limits it too. */
  maxTokens?: number | undefined;
  sampling?: Sampling | undefined;
  /** 0 to 2^53 - 1. Default: random. The result has the one in use. */
  seed?: number | undefined;
  /** The reply ends before the first of these texts. At most 64, of at most 1024 bytes. */
  stop?: readonly string[] | undefined;
  /** A JSON Schema that the reply conforms to, after thinking. A keyword that cannot be enforced is refused. */
  schema?: object | undefined;
  /** A GBNF grammar (llama.cpp) that the reply conforms to, after thinking. */
  grammar?: string | undefined;
  /** Whatever the reply has between `open` and `close` is a span of one of the texts. Of schema, grammar and quotes, one. */
  quotes?: { open: string; close: string; texts: readonly string[] } | undefined;
  /** Added to the logits of tokens; -Infinity excludes a token. */
  logitBias?: Readonly<Record<number, number>> | undefined;
  /**
   * With messages or a rendered prompt. `{ budget }`: after this many tokens of thinking, its end is forced. Default: as
   * the template has it; a quarter of maxTokens is left for the reply in any case.
   */
  thinking?: 'off' | 'on' | { budget: number } | undefined;
  /** Returns log-probabilities: of each token, and of this many most likely alternatives. 0 to 100. Default: none. */
  logprobs?: number | undefined;
  /** Milliseconds after which the reply ends with what there is. */
  deadlineMs?: number | undefined;
  /**
   * Whether a reply that is alone on its model may be sped up by prompt lookup: tokens that followed the same words in the
   * prompt are verified several at a time, where that is measured to be faster. The reply stays the same, up to the rounding
   * of `llama.cpp`. Default: true. Never with `deterministic`.
   */
  drafts?: boolean | undefined;
}

/** A part of a reply. The pieces concatenate to the result's `text` and `thinking`; none ends inside a character. */
export interface Piece {
  kind: 'text' | 'thinking';
  text: string;
}

/** Tokens. `cached`: those of the prompt that were not computed, because they were in the cache. */
export interface Usage {
  prompt: number;
  cached: number;
  completion: number;
}

/** Tokens that prompt lookup suggested, and those of them that the model agreed with. */
export interface DraftCounts {
  drafted: number;
  accepted: number;
}

/** Milliseconds, except prefillChunks. */
export interface GenerationTiming {
  /** From the request to the first step. */
  queuedMs: number;
  /** Computing the prompt, and waiting for other requests meanwhile. */
  prefillMs: number;
  /** Steps that the prompt took. */
  prefillChunks: number;
  /** From the request to the first token. */
  firstMs: number;
  /** From the first token to the last. */
  decodeMs: number;
  /** Longest time between two tokens. */
  longestGapMs: number;
  /** Pauses of the throttle. */
  pausedMs: number;
}

/**
 * `stop`: the model ended its reply; `stop_string`; `length`: maxTokens; `context`: the context is full; `cancelled`;
 * `deadline`.
 */
export type Finish = 'stop' | 'stop_string' | 'length' | 'context' | 'cancelled' | 'deadline';

/** Natural logarithms. */
export interface TokenLogprobs {
  token: number;
  logprob: number;
  /** Most likely first. */
  top: readonly { token: number; logprob: number }[];
}

export interface GenerationResult {
  text: string;
  thinking: string;
  finish: Finish;
  usage: Usage;
  drafts: DraftCounts;
  timing: GenerationTiming;
  seed: number;
  /** Tokens of the reply, without the one that ended it. */
  tokens: Int32Array;
  /** One per token, if asked for. */
  logprobs: readonly TokenLogprobs[] | undefined;
}

/**
 * A reply on its way. Iterate over its pieces, or await `result`. Leaving the iteration early cancels. A cancelled
 * generation resolves with the text so far; a failed one rejects both.
 */
export interface Generation extends AsyncIterable<Piece> {
  readonly result: Promise<GenerationResult>;
  /** Settles the result at once; the computation ends within one operation. */
  cancel(): void;
}

const defaults = {
  temperature: 0.8,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  penaltyLastN: 64,
} as const;

const defaultMaxTokens = 1024;
const mostTokens = 1 << 24;
const mostAlternatives = 100;
const mostPenalty = 100;

function refuse(field: string, reason: string): never {
  throw new LorekeepError('INVALID_ARGUMENT', `${field}: ${reason}`, { field });
}

function limitedNumber(
  name: string,
  value: number | undefined,
  fallback: number,
  min: number,
  max: number,
): number {
  const number = numberArgument(name, value, fallback, min);
  if (number > max) refuse(name, `a number from ${min} to ${max} is expected, not ${number}`);
  return number;
}

function samplingArgument(sampling: Sampling = {}) {
  const number = (name: keyof Sampling, min: number, max: number) =>
    limitedNumber(`sampling.${name}`, sampling[name], defaults[name], min, max);
  const integer = (name: 'topK' | 'penaltyLastN') =>
    integerArgument(`sampling.${name}`, sampling[name], defaults[name], 0, mostTokens);
  for (const name of Object.keys(sampling)) {
    if (!Object.hasOwn(defaults, name)) refuse(`sampling.${name}`, 'unknown');
  }
  return {
    temperature: number('temperature', 0, 1000),
    topK: integer('topK'),
    topP: number('topP', 0, 1),
    minP: number('minP', 0, 1),
    repeatPenalty: number('repeatPenalty', 0.01, mostPenalty),
    frequencyPenalty: number('frequencyPenalty', -mostPenalty, mostPenalty),
    presencePenalty: number('presencePenalty', -mostPenalty, mostPenalty),
    penaltyLastN: integer('penaltyLastN'),
  };
}

function stopArgument(stop: readonly string[] = []): readonly string[] {
  if (!Array.isArray(stop)) refuse('stop', `an array of strings is expected, not ${describe(stop)}`);
  stop.forEach((text, index) => {
    if (typeof text !== 'string' || text === '') refuse(`stop[${index}]`, 'a non-empty string is expected');
  });
  return stop;
}

function biasArgument(bias: Readonly<Record<number, number>> = {}, vocabularySize: number) {
  const entries = Object.entries(bias);
  for (const [token, value] of entries) {
    const id = Number(token);
    if (!Number.isInteger(id) || id < 0 || id >= vocabularySize)
      refuse(`logitBias.${token}`, `a token from 0 to ${vocabularySize - 1} is expected`);
    if (typeof value !== 'number' || Number.isNaN(value) || value === Number.POSITIVE_INFINITY)
      refuse(`logitBias.${token}`, 'a finite number or -Infinity is expected');
  }
  return {
    biasTokens: Int32Array.from(entries, ([token]) => Number(token)),
    biasValues: Float32Array.from(entries, ([, value]) => value),
  };
}

const roles = ['system', 'user', 'assistant'] as const;
const thinkingModes = ['default', 'on', 'off'] as const;

export function messagesArgument(messages: readonly ChatMessage[]): NativeMessage[] {
  if (!Array.isArray(messages)) refuse('messages', `an array is expected, not ${describe(messages)}`);
  if (messages.length === 0) refuse('messages', 'it is empty');
  return messages.map((message: ChatMessage, index) => {
    if (typeof message?.content !== 'string')
      refuse(`messages[${index}].content`, `a string is expected, not ${describe(message?.content)}`);
    choiceArgument(`messages[${index}].role`, message.role, 'user', roles);
    return { role: roles.indexOf(message.role), content: message.content };
  });
}

export const thinkingArgument = (thinking: 'on' | 'off' | undefined): number =>
  thinkingModes.indexOf(choiceArgument('thinking', thinking, 'default', thinkingModes));

function budgetArgument(thinking: GenerateRequest['thinking']) {
  if (typeof thinking !== 'object')
    return { thinking: thinkingArgument(thinking), thinkingBudget: undefined };
  const budget = integerArgument('thinking.budget', thinking?.budget, 0, 0, mostTokens);
  return { thinking: thinkingArgument('on'), thinkingBudget: budget };
}

function promptArgument(request: GenerateRequest, vocabularySize: number) {
  const { prompt, messages } = request;
  if ((prompt === undefined) === (messages === undefined))
    refuse('prompt', 'either prompt or messages is expected');
  if (messages !== undefined)
    return { prompt: undefined, messages: messagesArgument(messages), parts: undefined };
  const rendered = typeof prompt === 'string' || prompt instanceof Int32Array ? undefined : prompt;
  const found = rendered ? rendered.tokens : (prompt as string | Int32Array);
  if (typeof found !== 'string' && !(found instanceof Int32Array))
    refuse('prompt', `a string, an Int32Array or a rendered prompt is expected, not ${describe(prompt)}`);
  if (found.length === 0) refuse('prompt', 'it is empty');
  if (found instanceof Int32Array) {
    const bad = found.findIndex((token) => token < 0 || token >= vocabularySize);
    if (bad >= 0) refuse(`prompt[${bad}]`, `a token from 0 to ${vocabularySize - 1} is expected`);
  }
  return { prompt: found, messages: undefined, parts: rendered?.parts };
}

function quotesArgument(quotes: GenerateRequest['quotes']): GenerateRequest['quotes'] {
  if (quotes === undefined) return undefined;
  for (const name of ['open', 'close'] as const) {
    if (typeof quotes[name] !== 'string') refuse(`quotes.${name}`, 'a string is expected');
  }
  if (!Array.isArray(quotes.texts) || quotes.texts.some((text) => typeof text !== 'string'))
    refuse('quotes.texts', 'an array of strings is expected');
  return quotes;
}

function replyArgument({ schema, grammar, quotes }: GenerateRequest) {
  if (grammar !== undefined && typeof grammar !== 'string') refuse('grammar', 'a string is expected');
  if (schema !== undefined && (typeof schema !== 'object' || schema === null))
    refuse('schema', `an object is expected, not ${describe(schema)}`);
  const given = Object.entries({ schema, grammar, quotes }).filter(([, value]) => value !== undefined);
  if (given.length > 1) refuse(given[1]?.[0] as string, `it cannot be combined with ${given[0]?.[0]}`);
  return {
    grammar: schema === undefined ? grammar : schemaGrammar(schema),
    quotes: quotesArgument(quotes),
  };
}

function nativeRequest(request: GenerateRequest, vocabularySize: number): NativeGenerationRequest {
  const { deadlineMs, logprobs, seed, drafts = true } = request;
  if (typeof drafts !== 'boolean') refuse('drafts', `a boolean is expected, not ${describe(drafts)}`);
  return {
    ...promptArgument(request, vocabularySize),
    ...budgetArgument(request.thinking),
    ...replyArgument(request),
    class: consumerClasses.indexOf(
      choiceArgument('class', request.class, 'interactive_visible', consumerClasses),
    ),
    maxTokens: integerArgument('maxTokens', request.maxTokens, defaultMaxTokens, 1, mostTokens),
    ...samplingArgument(request.sampling),
    seed:
      seed === undefined ? randomInt(2 ** 32) : integerArgument('seed', seed, 0, 0, Number.MAX_SAFE_INTEGER),
    stop: stopArgument(request.stop),
    ...biasArgument(request.logitBias, vocabularySize),
    logprobs:
      logprobs === undefined ? undefined : integerArgument('logprobs', logprobs, 0, 0, mostAlternatives),
    deadlineMs: deadlineMs === undefined ? undefined : numberArgument('deadlineMs', deadlineMs, 0, 0),
    drafts,
  };
}

function toResult(native: NativeGenerationResult, logprobs: boolean): GenerationResult {
  const { promptTokens, cachedTokens, draftedTokens, acceptedTokens, ...timing } = native.numbers;
  return {
    text: native.text,
    thinking: native.thinking,
    finish: native.finish as Finish,
    usage: { prompt: promptTokens, cached: cachedTokens, completion: native.tokens.length },
    drafts: { drafted: draftedTokens, accepted: acceptedTokens },
    timing,
    seed: native.seed,
    tokens: native.tokens,
    logprobs: logprobs
      ? native.logprobs.map(([own, ...top]) => ({ ...(own as { token: number; logprob: number }), top }))
      : undefined,
  };
}

/** The pieces of one generation, between the addon, which pushes, and one reader, who pulls. */
class PieceQueue implements AsyncIterator<Piece> {
  readonly #cancel: () => void;
  readonly #pieces: Piece[] = [];
  #end: { error?: unknown } | undefined;
  #waiting: (() => void)[] = [];

  constructor(cancel: () => void) {
    this.#cancel = cancel;
  }

  push(piece: Piece): void {
    const last = this.#pieces.at(-1);
    // A reader who is behind gets larger pieces.
    if (last?.kind === piece.kind) last.text += piece.text;
    else this.#pieces.push(piece);
    this.#wake();
  }

  end(end: { error?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }

  async next(): Promise<IteratorResult<Piece>> {
    for (;;) {
      const piece = this.#pieces.shift();
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

  async return(): Promise<IteratorResult<Piece>> {
    this.#cancel();
    return { done: true, value: undefined };
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

type Run<T> = (call: (native: NativeLanguageModel) => Promise<T>) => Promise<T>;

/** Computes a prompt without a reply. */
export async function startPrefix(
  request: Pick<GenerateRequest, 'prompt' | 'class'>,
  signal: AbortSignal | undefined,
  vocabularySize: number,
  run: Run<Prefix>,
): Promise<Prefix> {
  signalArgument(signal);
  if (signal?.aborted) throw new AbortError(signal.reason);
  const native = { ...nativeRequest(request, vocabularySize), maxTokens: 0 };
  return run(async (model) => {
    const [promise, stop] = model.prefix(native, () => {});
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return new Prefix(await promise, model);
    } catch (error) {
      throw signal?.aborted ? new AbortError(signal.reason) : translateError(error);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  });
}

/** Starts a generation. `run` calls the addon and makes close() wait for the promise. @throws INVALID_ARGUMENT */
export function startGeneration(
  request: GenerateRequest,
  signal: AbortSignal | undefined,
  vocabularySize: number,
  run: Run<GenerationResult>,
): Generation {
  signalArgument(signal);
  const native = nativeRequest(request, vocabularySize);
  let cancelNative: (() => void) | undefined;
  let cancelled = false;
  const cancel = () => {
    cancelled = true;
    cancelNative?.();
  };
  const queue = new PieceQueue(cancel);
  const result = run(async (model) => {
    if (signal?.aborted) throw new AbortError(signal.reason);
    const [promise, stop] = model.generate(native, (text, thinking) =>
      queue.push({ kind: thinking ? 'thinking' : 'text', text }),
    );
    cancelNative = stop;
    if (cancelled) stop();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return toResult(await promise, request.logprobs !== undefined);
    } catch (error) {
      throw translateError(error);
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  });
  result.then(
    () => queue.end({}),
    (error: unknown) => queue.end({ error }),
  );
  return { result, cancel, [Symbol.asyncIterator]: () => queue };
}
