import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { EmbeddingModelV3, LanguageModelV3, RerankingModelV3 } from '@ai-sdk/provider';
import { citations } from './citations.js';
import { LorekeepRerankingModel } from './reranking-model.js';

export interface LorekeepProviderSettings {
  /** Address of the server's HTTP door. Default: http://127.0.0.1:9103 */
  url?: string;
  /** Key of `http.keys_file`, or the access token. Default: none. */
  apiKey?: string;
  /** Class of the scheduler. Default: visible for streams, else buffered. */
  schedulerClass?: 'interactive_visible' | 'interactive_buffered' | 'background';
  fetch?: typeof fetch;
}

/** A provider of the AI SDK. */
export interface LorekeepProvider {
  (modelId: string): LanguageModelV3;
  readonly specificationVersion: 'v3';
  /** A language model of the catalog, or an agent or knowledge base that the server shows. Citations are in providerMetadata. */
  languageModel(modelId: string): LanguageModelV3;
  embeddingModel(modelId: string): EmbeddingModelV3;
  textEmbeddingModel(modelId: string): EmbeddingModelV3;
  rerankingModel(modelId: string): RerankingModelV3;
  /** @throws always: there are none */
  imageModel(modelId: string): never;
}

const defaultUrl = 'http://127.0.0.1:9103';

/** Makes a provider for a server. */
export function createLorekeep(settings: LorekeepProviderSettings = {}): LorekeepProvider {
  const { url = defaultUrl, apiKey, schedulerClass, fetch } = settings;
  const baseURL = `${url.replace(/\/+$/, '')}/v1`;
  const headers = schedulerClass === undefined ? {} : { 'x-lorekeep-class': schedulerClass };
  const openai = createOpenAICompatible({
    name: 'lorekeep',
    baseURL,
    headers,
    includeUsage: true,
    supportsStructuredOutputs: true,
    metadataExtractor: citations,
    ...(apiKey !== undefined && { apiKey }),
    ...(fetch !== undefined && { fetch }),
  });
  const languageModel = (modelId: string) => openai.chatModel(modelId);
  const embeddingModel = (modelId: string) => openai.embeddingModel(modelId);
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: 'v3' as const,
    languageModel,
    embeddingModel,
    textEmbeddingModel: embeddingModel,
    rerankingModel: (modelId: string) =>
      new LorekeepRerankingModel(modelId, { baseURL, headers, apiKey, fetch: fetch ?? globalThis.fetch }),
    imageModel: (modelId: string): never => {
      throw new Error(`lorekeep has no image models, so not ${JSON.stringify(modelId)}`);
    },
  });
}

/** The provider for a server on this machine, at its usual port and without a key. */
export const lorekeep: LorekeepProvider = createLorekeep();
