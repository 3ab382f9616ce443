/** The part of the library's LanguageModel that agents use. */
export type ConsumerClass = 'interactive_visible' | 'interactive_buffered' | 'background';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface RenderedPrompt {
  readonly tokens: Int32Array;
  readonly parts: readonly { text: string; input: boolean; message?: number }[];
  readonly messageTokens: readonly number[];
}

export interface Sampling {
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repeatPenalty?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  penaltyLastN?: number;
}

export interface GenerateRequest {
  messages?: readonly ChatMessage[];
  prompt?: string | RenderedPrompt;
  class?: ConsumerClass;
  maxTokens?: number;
  sampling?: Sampling;
  seed?: number;
  stop?: readonly string[];
  schema?: object;
  grammar?: string;
  quotes?: { open: string; close: string; texts: readonly string[] };
  thinking?: 'off' | 'on' | { budget: number };
  deadlineMs?: number;
  drafts?: readonly string[];
}

export interface Piece {
  kind: 'text' | 'thinking';
  text: string;
}

export interface GenerationResult {
  text: string;
  thinking: string;
  finish: 'stop' | 'stop_string' | 'length' | 'context' | 'cancelled' | 'deadline';
  usage: { prompt: number; cached: number; completion: number };
  timing: {
    queuedMs: number;
    prefillMs: number;
    prefillChunks: number;
    firstMs: number;
    decodeMs: number;
    longestGapMs: number;
    pausedMs: number;
  };
  seed: number;
}

export interface Generation extends AsyncIterable<Piece> {
  readonly result: Promise<GenerationResult>;
  cancel(): void;
}

export interface TextModel {
  readonly facts: {
    architecture: string;
    contextSize: number;
    trainedContextSize: number;
    fingerprint: string;
    device: string;
    chatTemplate: boolean;
    thinking: boolean;
  };
  countTokens(text: string): Promise<number>;
  render(
    messages: readonly ChatMessage[],
    options?: { thinking?: 'on' | 'off'; addGenerationPrompt?: boolean },
  ): Promise<RenderedPrompt>;
  generate(request: GenerateRequest, options?: { signal?: AbortSignal }): Generation;
  close(): Promise<void>;
}
