/// <reference lib="esnext.disposable" preserve="true" />
/** The typed library for embedding, indexing and searching. The server in src/ uses this and lib/internal.ts. */

export {
  type ErrorCode,
  type ErrorDetail,
  type ErrorDetailByCode,
  type ErrorFacts,
  errorCodes,
} from './boundary/error-details.js';
export { AbortError, LorekeepError } from './boundary/errors.js';
export type { CallOptions, ProgressOptions } from './boundary/native-call.js';
export type {
  Calibration,
  FusionOptions,
  LegMinimum,
  LexicalOptions,
  Sampling,
  ScoreFusionOptions,
} from './boundary/options.gen.js';
export type { BackendCandidate, CandidateState, GpuDevice } from './devices/backend-candidate.js';
export {
  type BackendChoice,
  type BackendName,
  findBackend,
  type UseBackendOptions,
  useBackend,
} from './devices/backend-choice.js';
export {
  type SchedulerClassOptions,
  type SchedulerClassStats,
  type SchedulerOptions,
  type SchedulerStats,
  scheduler,
  setThrottle,
  type ThreadReason,
} from './devices/scheduler.js';
export { setSearchThreads } from './devices/threads.js';
export {
  type BackendInfo,
  backends,
  EmbeddingModel,
  type EmbedResult,
  type ItemError,
  type LoadModelOptions,
  type ModelFacts,
  type Pooling,
} from './embedding/embedding-model.js';
export {
  type LoadRerankerOptions,
  type Ranking,
  type RankOptions,
  Reranker,
  type RerankerFacts,
} from './embedding/reranker.js';
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
  TokenLogprob,
  TokenLogprobs,
  Usage,
} from './generation/generation.js';
export {
  LanguageModel,
  type LanguageModelFacts,
  type LanguageModelNumbers,
  type LanguageModelOptions,
  type MemoryEstimate,
  type PrefixPart,
} from './generation/language-model.js';
export { Prefix } from './generation/prefix.js';
export { type DistanceKernels, distanceKernels } from './search/distance-kernels.js';
export {
  type FieldDefinition,
  Filter,
  type FilterExpression,
  type FilterOperand,
  type Metadata,
  type MetadataOf,
  type MetadataValue,
} from './search/filter.js';
export type { SnippetPart } from './search/highlights.js';
export {
  type FileInspection,
  type FileSection,
  type InspectFileOptions,
  inspectFile,
} from './search/inspect-file.js';
export type { QuerySyntax } from './search/lexical-options.js';
export type { RecallMeasurement } from './search/recall-report.js';
export { type ReadRecordsOptions, Records } from './search/records.js';
export { type AssembleOptions, Storage, type StorageOptions } from './search/storage.js';
export type {
  ForgetOptions,
  MergingState,
  StorageChanges,
  StorageVersion,
  UpdateResult,
  VersionLimits,
} from './search/storage-changes.js';
export type {
  LexicalPlan,
  SearchTimes,
  StorageHit,
  StoragePlan,
  StorageSearchResult,
  TimedSearchResult,
} from './search/storage-hits.js';
export type { StorageRecord } from './search/storage-record.js';
export {
  type FusionMethod,
  type SearchMode,
  type StorageSearchOptions,
  searchModes,
} from './search/storage-request.js';
export type { CountOptions, ListOptions, StoredRecord } from './search/stored-records.js';
export {
  type LoadTextIndexOptions,
  type TextHits,
  TextIndex,
  type TextIndexOptions,
  type TextSearchOptions,
  type Tokenizer,
  type TokenizerFit,
  tokenize,
} from './search/text-index.js';
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
} from './search/vector-index.js';
export {
  type LoadRecogniserOptions,
  type RecognisedSpeech,
  type RecogniseOptions,
  SpeechRecogniser,
  type SpeechRecogniserFacts,
  type SpeechWord,
} from './speech/speech-recogniser.js';
export {
  VoiceDetector,
  type VoiceDetectorFacts,
  type VoiceEnded,
  type VoiceEvent,
  type VoiceOptions,
  type VoiceResult,
  type VoiceStarted,
  VoiceStream,
} from './speech/voice-detector.js';
