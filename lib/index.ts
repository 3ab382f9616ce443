/// <reference lib="esnext.disposable" preserve="true" />
/** The typed library for embedding, indexing and searching. The server in src/ uses this and lib/internal.ts. */
export type { BackendCandidate, CandidateState, GpuDevice } from './backend-candidate.js';
export {
  type BackendChoice,
  type BackendName,
  findBackend,
  type UseBackendOptions,
  useBackend,
} from './backend-choice.js';
export type { Calibration } from './calibration.js';
export { type DistanceKernels, distanceKernels } from './distance-kernels.js';
export {
  type BackendInfo,
  backends,
  EmbeddingModel,
  type EmbedResult,
  type ItemError,
  type LoadModelOptions,
  type ModelFacts,
  type Pooling,
} from './embedding-model.js';
export {
  type ErrorCode,
  type ErrorDetail,
  type ErrorDetailByCode,
  type ErrorFacts,
  errorCodes,
} from './error-details.js';
export { AbortError, LorekeepError } from './errors.js';
export {
  type FieldDefinition,
  Filter,
  type FilterExpression,
  type FilterOperand,
  type Metadata,
  type MetadataOf,
  type MetadataValue,
} from './filter.js';
export type {
  ChatMessage,
  ConsumerClass,
  Finish,
  GenerateRequest,
  Generation,
  GenerationResult,
  GenerationTiming,
  Piece,
  Prompt,
  RenderedPrompt,
  RenderOptions,
  Sampling,
  TokenLogprobs,
  Usage,
} from './generation.js';
export type { SnippetPart } from './highlights.js';
export {
  type FileInspection,
  type FileSection,
  type InspectFileOptions,
  inspectFile,
} from './inspect-file.js';
export {
  LanguageModel,
  type LanguageModelFacts,
  type LanguageModelNumbers,
  type LanguageModelOptions,
  type MemoryEstimate,
  type PrefixPart,
} from './language-model.js';
export type { LexicalOptions, QuerySyntax } from './lexical-options.js';
export type { CallOptions, ProgressOptions } from './native-call.js';
export { Prefix } from './prefix.js';
export type { RecallMeasurement } from './recall-report.js';
export { type ReadRecordsOptions, Records } from './records.js';
export {
  type LoadRerankerOptions,
  type Ranking,
  type RankOptions,
  Reranker,
  type RerankerFacts,
} from './reranker.js';
export {
  type SchedulerClassOptions,
  type SchedulerClassStats,
  type SchedulerOptions,
  type SchedulerStats,
  scheduler,
  setThrottle,
} from './scheduler.js';
export { type AssembleOptions, Storage, type StorageOptions, type StorageRecord } from './storage.js';
export type {
  LexicalPlan,
  SearchTimes,
  StorageHit,
  StoragePlan,
  StorageSearchResult,
  TimedSearchResult,
} from './storage-hits.js';
export {
  type FusionMethod,
  type FusionOptions,
  type ScoreFusionOptions,
  type SearchMode,
  type StorageSearchOptions,
  searchModes,
} from './storage-request.js';
export type { CountOptions, ListOptions, StoredRecord } from './stored-records.js';
export {
  type LoadTextIndexOptions,
  type TextHits,
  TextIndex,
  type TextIndexOptions,
  type TextSearchOptions,
  type Tokenizer,
  type TokenizerFit,
  tokenize,
} from './text-index.js';
export { setSearchThreads } from './threads.js';
export {
  type BuildIndexOptions,
  type HnswOptions,
  type LoadIndexOptions,
  type SaveIndexOptions,
  type VectorHits,
  VectorIndex,
  type VectorPlan,
  type VectorSearchOptions,
  type VectorType,
} from './vector-index.js';
