/// <reference lib="esnext.disposable" preserve="true" />
/** `lorekeep/knowledge-base`: opens knowledge bases from files. The server uses the same code. */

export type { ColumnType, TableMapping } from '../documents/tables/mapping.js';
export { CatalogModels } from '../models/catalog-models.js';
export { fusionFor, type ModelFusion } from '../search/model-fusion.js';
export { buildKnowledgeBase, type KnowledgeBaseBuild } from './build.js';
export type { Calibrations, FittedCalibration } from './calibrate.js';
export type { FlushSetting, ForgetResult, KnowledgeBaseBackup } from './changes/public.js';
export {
  type CheckKnowledgeBaseOptions,
  checkKnowledgeBase,
  type KnowledgeBaseCheck,
  type KnowledgeBaseFinding,
} from './check.js';
export type { KnowledgeBaseConfig } from './config-schema.js';
export { type CreateStorageOptions, createStorage } from './create-storage.js';
export type { Embedder, EmbedOptions, TextEmbedder } from './embedder.js';
export type { EmbeddingCounts } from './embeddings.js';
export {
  type EvaluatedSetting,
  type Evaluation,
  evaluate,
  evaluationSettings,
  type WorstQuestion,
} from './evaluate.js';
export { type Measures, measureNames } from './evaluation-measures.js';
export type { EvaluateOptions, EvaluationSetting } from './evaluation-options.js';
export {
  type DraftSource,
  draftQuestions,
  type EvaluationQuestion,
  questionLine,
  readQuestions,
} from './evaluation-questions.js';
export type { RelevanceSummary } from './evaluation-relevance.js';
export {
  type CreateKnowledgeBaseOptions,
  createKnowledgeBase,
  FolderKnowledgeBase,
} from './folder/create.js';
export {
  type FileProblem,
  type FolderIndex,
  indexFolder,
  type LeftOut,
  type UnfitModel,
} from './folder/index-folder.js';
export type { IndexFolderOptions } from './folder/options.js';
export { type WatchFolderOptions, watchFolder } from './folder/watch/watch-folder.js';
export type { WatchedChange } from './folder/watch/watch-session.js';
export { type ChangeOptions, KnowledgeBase } from './knowledge-base.js';
export {
  type CachedOpenOptions,
  KnowledgeBaseCache,
  type KnowledgeBaseCacheOptions,
  type KnowledgeBaseFacts,
} from './knowledge-base-cache.js';
export type { KnowledgeLog } from './log.js';
export type { GivenModel, KnowledgeModel, ModelResolver, ModelSource } from './model.js';
export { openKnowledgeBase } from './open.js';
export type { QuotingHistory } from './operator/messages.js';
export type { Forgotten, OnForgotten } from './operator/operator-socket.js';
export type { ConfigFiles, ConfigPlace, PathResolver } from './paths.js';
export type { Pin } from './pin.js';
export type { EntryFacts, EntryState } from './pin-cache.js';
export type { PostgresConnection } from './postgres/connection.js';
export { PostgresConnections, type PostgresConnectionsOptions } from './postgres/connections.js';
export type { KnowledgePhase, KnowledgeProgress, PhaseTimes, ProgressListener } from './progress.js';
export type { RankingModel, RerankFacts, RerankOptions } from './rerank.js';
export type { OpenKnowledgeBaseOptions } from './resolve.js';
export type { ResultOptions } from './result-options.js';
export type { ContextRecord, HitContext } from './results.js';
export type { SaveStorageOptions } from './save-storage.js';
export type { KnowledgeSearchOptions } from './search-options.js';
export {
  type StoragesHit,
  type StoragesOutcome,
  type StoragesSearchOptions,
  searchStorages,
} from './search-storages.js';
export { SearchableStorage, type SearchHit, type SearchOutcome } from './searchable.js';
