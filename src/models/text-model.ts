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
    Partial<Pick<LanguageModelFacts, 'placementNote'>>;
  /** State of the KV cache. */
  numbers?(): Promise<LanguageModelNumbers>;
  /** Prefixes in it. */
  prefixes?(): Promise<PrefixPart[]>;
  render(
    messages: readonly ChatMessage[],
    options?: RenderOptions & { signal?: AbortSignal | undefined },
  ): Promise<RenderedPrompt>;
  generate(request: GenerateRequest, options?: { signal?: AbortSignal }): Generation;
}
