/**
 * The whole library with its internals, for src/. Not exported by the package; may change at any time. Importing it loads the
 * addon; lib/basics.ts does not.
 */
export { booleanArgument, integerArgument, refuse } from './boundary/arguments.js';
export { addonFile } from './boundary/binding.js';
export { translateError } from './boundary/errors.js';
export type {
  ChangeLogFacts,
  CrashKind,
  CrashThread,
  FileContent,
  RecordDefect,
} from './boundary/native.js';
export { optionsCheck } from './boundary/option-numbers.js';
export { threadMs } from './boundary/thread-time.js';
export { type ComputeSettings, cacheFolder, measuredSettings } from './devices/settings-cache.js';
export {
  EmbeddingRows,
  type EmbedRowsOptions,
  type MatchEmbeddingsOptions,
} from './embedding/embedding-rows.js';
export { type EmbeddingsKind, findEmbeddings, uniteEmbeddings } from './embedding/kept-embeddings.js';
export { checkGrammar, type GrammarMatch, matchGrammar } from './generation/grammar.js';
export { Work } from './generation/languages/work.js';
export { anyQuotationMark } from './generation/quotation-marks.js';
export { literal } from './generation/schema/grammar-rules.js';
export { schemaGrammar } from './generation/schema/schema-grammar.js';
export * from './index.js';
export { installCrashHandler } from './os/crash.js';
export { checkDestination, type FileOwner, removeStrayFiles, type WrittenKind } from './os/destination.js';
export { releaseFreeMemory } from './os/free-memory.js';
export { type BeneathRequest, type BeneathResult, openBeneath } from './os/open-beneath.js';
export { BackgroundMerges, mergesRest } from './search/background-merges.js';
export * from './search/change-log.js';
export { formerRecords } from './search/former-records.js';
export { describeModel, type ModelDescription } from './search/inspect-file.js';
export { isoDate } from './search/iso-date.js';
export { nativeLexical, textToEmbed } from './search/lexical-options.js';
export type { ConvertedBatch } from './search/storage-batch.js';
export { checkHighlight, fusionMethod, storageRequest } from './search/storage-request.js';
export { idsArgument, listRange } from './search/stored-records.js';
export { queryTokens, tokensOfDocument } from './search/text-index.js';
export { CallQueue } from './speech/call-queue.js';
export { isSpoken, promptProblem } from './speech/speech-recogniser.js';

/** Imports the code that crashes the process on request. The production edition lacks it. */
export const forcedCrashes = () => import('./os/forced-crash.js');

/** Imports the watch for work that takes too long. The production edition lacks it. */
export const stepWatch = () => import('./os/long-steps.js');
