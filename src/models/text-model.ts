import type {
  ChatMessage,
  GenerateRequest,
  Generation,
  LanguageModel,
  LanguageModelFacts,
  LanguageModelNumbers,
  PrefixPart,
  RenderedPrompt,
  RenderOptions,
} from '../../lib/internal.js';

export type {
  ChatMessage,
  GenerateRequest,
  Generation,
  GenerationResult,
  Piece,
  TokenLogprob,
  TokenLogprobs,
} from '../../lib/internal.js';

/** The part of the library's LanguageModel that agents use. */
export interface TextModel
  extends Pick<LanguageModel, 'countTokens' | 'close'>,
    Partial<Pick<LanguageModel, 'lost'>> {
  readonly facts: Pick<
    LanguageModelFacts,
    | 'architecture'
    | 'contextSize'
    | 'trainedContextSize'
    | 'fingerprint'
    | 'device'
    | 'runtime'
    | 'chatTemplate'
    | 'thinking'
  > &
    Partial<Pick<LanguageModelFacts, 'placementNote' | 'tokenizerNote' | 'templateNote'>> & {
      /** Options of requests that the model cannot follow. Default: none. */
      readonly lacks?: readonly string[];
    };
  /** State of the KV cache. */
  numbers?(): Promise<LanguageModelNumbers>;
  /** Prefixes in it. */
  prefixes?(): Promise<PrefixPart[]>;
  /** Removes what has one of the texts from it. */
  forget?(texts: readonly string[]): Promise<number>;
  render(
    messages: readonly ChatMessage[],
    options?: RenderOptions & { signal?: AbortSignal | undefined },
  ): Promise<RenderedPrompt>;
  generate(request: GenerateRequest, options?: { signal?: AbortSignal }): Generation;
}
