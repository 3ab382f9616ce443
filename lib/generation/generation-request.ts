import { randomInt } from 'node:crypto';
import {
  booleanArgument,
  choiceArgument,
  integerArgument,
  isPlainObject,
  numberArgument,
  refuse,
  refuseHalfCharacters,
  refuseUnknownFields,
} from '../boundary/arguments.js';
import { consumerClasses, roles, thinkingModes } from '../boundary/layout.gen.js';
import type { NativeGenerationRequest, NativeMessage } from '../boundary/native.js';
import { describe } from '../boundary/native-call.js';
import { type Sampling, samplingNumbers } from '../boundary/options.gen.js';
import { Prefix } from './prefix.js';
import { apostrophes, quotationMarks } from './quotation-marks.js';
import { samplingOptions } from './sampling-options.js';

/**
 * Who consumes a reply. `interactive_visible` (default): somebody reads it as it appears; `interactive_buffered`: somebody
 * waits for it; `background`: nobody waits.
 */
export type ConsumerClass = 'interactive_visible' | 'interactive_buffered' | 'background';

export interface ChatMessage {
  /** Author of the message. */
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
  /** Tokens of the whole prompt. */
  readonly tokens: Int32Array;
  /** `input`: text from a message, which is never searched for control tokens; `message`: the index of its message. */
  readonly parts: readonly { text: string; input: boolean; message?: number }[];
  /** Tokens that each message adds, template text around it included. */
  readonly messageTokens: readonly number[];
}

/** Plain text, in which spellings of control tokens stay text; or tokens; or the result of render(). */
export type Prompt = string | Int32Array | RenderedPrompt;

export interface GenerateRequest {
  /** A conversation, rendered by the model's chat template. Either this or `prompt`. */
  messages?: readonly ChatMessage[] | undefined;
  /** A prompt to continue as it is. */
  prompt?: Prompt | undefined;
  /** Class in the scheduler. Default "interactive_visible". */
  class?: ConsumerClass | undefined;
  /** Maximum number of tokens of the reply, thinking included. Default 1024; the context limits it too. */
  maxTokens?: number | undefined;
  /** Maximum number of tokens after thinking. Default: what thinking leaves of maxTokens. */
  maxReplyTokens?: number | undefined;
  /** How tokens are chosen. */
  sampling?: Sampling | undefined;
  /** 0 to 2^53 - 1. Default: random. The result has the one in use. */
  seed?: number | undefined;
  /** The reply ends before the first of these texts. At most 64, of at most 1024 bytes. */
  stop?: readonly string[] | undefined;
  /** A JSON Schema that the reply conforms to, after thinking. A keyword that cannot be enforced is refused. */
  schema?: object | undefined;
  /** A GBNF grammar (llama.cpp) that the reply conforms to, after thinking. */
  grammar?: string | undefined;
  /** Makes every quotation in the reply a span of one of the texts. Cannot be combined with a schema or a grammar. */
  quotes?: { texts: readonly string[] } | undefined;
  /** Added to the logits of tokens; -Infinity excludes a token. */
  logitBias?: Readonly<Record<number, number>> | undefined;
  /**
   * With messages or a rendered prompt. `{ budget }`: after this many tokens of thinking, its end is forced. Default: as
   * the template has it; maxReplyTokens, or a quarter of all tokens, are left for the reply in any case. A reply after
   * thinking is not empty, and it has no tags of thinking.
   */
  thinking?: 'off' | 'on' | { budget: number } | undefined;
  /** Returns log-probabilities: of each token, and of this many most likely alternatives. 0 to 100. Default: none. */
  logprobs?: number | undefined;
  /** Milliseconds after which the reply ends with what there is. */
  deadlineMs?: number | undefined;
  /**
   * A prefix of this model that must be open. Prompts find prefixes by their tokens: naming one makes sure that it is
   * still there.
   */
  prefix?: Prefix | undefined;
  /**
   * Whether a reply that is alone on its model may be sped up by prompt lookup: tokens that followed the same words in the
   * prompt are verified several at a time, where that is measured to be faster. The reply stays the same, up to the rounding
   * of `llama.cpp`. Default: true. Never with `deterministic`.
   */
  drafts?: boolean | undefined;
}

const defaultMaxTokens = 1024;
const tokenLimit = 1 << 24;
const maxAlternatives = 100;
function samplingArgument(sampling: Sampling = {}): Float64Array {
  refuseUnknownFields('sampling', sampling, samplingOptions);
  return Float64Array.from(samplingNumbers(sampling));
}

function stopArgument(stop: readonly string[] = []): readonly string[] {
  if (!Array.isArray(stop)) refuse('stop', `an array of strings is expected, not ${describe(stop)}`);
  stop.forEach((text, index) => {
    if (typeof text !== 'string' || text === '') refuse(`stop[${index}]`, 'a non-empty string is expected');
    refuseHalfCharacters(`stop[${index}]`, text);
  });
  return stop;
}

function biasArgument(bias: Readonly<Record<number, number>> = {}, vocabularySize: number) {
  if (!isPlainObject(bias)) refuse('logitBias', `an object of tokens is expected, not ${describe(bias)}`);
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
  if (typeof thinking !== 'object' || thinking === null)
    return { thinking: thinkingArgument(thinking), thinkingBudget: undefined };
  refuseUnknownFields('thinking', thinking, { budget: true });
  const budget = integerArgument('thinking.budget', thinking.budget, 0, 0, tokenLimit);
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

function quotesArgument(quotes: GenerateRequest['quotes']): NativeGenerationRequest['quotes'] {
  if (quotes === undefined) return undefined;
  refuseUnknownFields('quotes', quotes, { texts: true });
  if (!Array.isArray(quotes.texts) || quotes.texts.some((text) => typeof text !== 'string'))
    refuse('quotes.texts', 'an array of strings is expected');
  return { texts: quotes.texts, marks: quotationMarks, apostrophes };
}

function replyArgument({ schema, grammar, quotes }: GenerateRequest) {
  if (grammar !== undefined && typeof grammar !== 'string') refuse('grammar', 'a string is expected');
  if (grammar === '') refuse('grammar', 'it is empty');
  if (grammar !== undefined) refuseHalfCharacters('grammar', grammar);
  if (schema !== undefined && (typeof schema !== 'object' || schema === null))
    refuse('schema', `an object is expected, not ${describe(schema)}`);
  const given = Object.entries({ schema, grammar, quotes }).filter(([, value]) => value !== undefined);
  if (given.length > 1) refuse(given[1]?.[0] as string, `it cannot be combined with ${given[0]?.[0]}`);
  return {
    grammar,
    quotes: quotesArgument(quotes),
  };
}

const requestFields = {
  messages: true,
  prompt: true,
  class: true,
  maxTokens: true,
  maxReplyTokens: true,
  sampling: true,
  seed: true,
  stop: true,
  schema: true,
  grammar: true,
  quotes: true,
  logitBias: true,
  thinking: true,
  logprobs: true,
  deadlineMs: true,
  prefix: true,
  drafts: true,
} satisfies Record<keyof GenerateRequest, true>;

/** Checks a request and converts it for the addon, apart from its schema. @throws INVALID_ARGUMENT with the field */
export function nativeRequest(request: GenerateRequest, vocabularySize: number): NativeGenerationRequest {
  refuseUnknownFields('request', request, requestFields);
  const { deadlineMs, logprobs, seed, prefix, maxReplyTokens } = request;
  if (prefix !== undefined && !(prefix instanceof Prefix))
    refuse('prefix', `a Prefix is expected, not ${describe(prefix)}`);
  return {
    ...promptArgument(request, vocabularySize),
    ...budgetArgument(request.thinking),
    ...replyArgument(request),
    class: consumerClasses.indexOf(
      choiceArgument('class', request.class, 'interactive_visible', consumerClasses),
    ),
    maxTokens: integerArgument('maxTokens', request.maxTokens, defaultMaxTokens, 1, tokenLimit),
    maxReplyTokens:
      maxReplyTokens === undefined
        ? undefined
        : integerArgument('maxReplyTokens', maxReplyTokens, 1, 1, tokenLimit),
    sampling: samplingArgument(request.sampling),
    seed:
      seed === undefined ? randomInt(2 ** 32) : integerArgument('seed', seed, 0, 0, Number.MAX_SAFE_INTEGER),
    stop: stopArgument(request.stop),
    ...biasArgument(request.logitBias, vocabularySize),
    logprobs:
      logprobs === undefined ? undefined : integerArgument('logprobs', logprobs, 0, 0, maxAlternatives),
    deadlineMs: deadlineMs === undefined ? undefined : numberArgument('deadlineMs', deadlineMs, 0, 0),
    drafts: booleanArgument('drafts', request.drafts, true),
  };
}
