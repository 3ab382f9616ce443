/** Internals for the server in src/. Not exported by the package; may change at any time. */
export { booleanArgument, integerArgument, refuse } from './arguments.js';
export { addonFile } from './binding.js';
export { installCrashHandler } from './crash.js';
export { checkDestination, type FileOwner, removeStrayFiles, type WrittenKind } from './destination.js';
export { EmbeddingRows, type EmbedRowsOptions, type MatchEmbeddingsOptions } from './embedding-rows.js';
export { AnyLorekeepError, translateError } from './errors.js';
export { releaseFreeMemory } from './free-memory.js';
export { checkGrammar, type GrammarMatch, matchGrammar } from './grammar.js';
export { describeModel, type ModelDescription } from './inspect-file.js';
export { textToEmbed } from './lexical-options.js';
export { type BeneathRequest, type BeneathResult, openBeneath } from './open-beneath.js';
export { anyQuotationMark } from './quotation-marks.js';
export { literal, schemaGrammar } from './schema-grammar.js';
export { type ComputeSettings, cacheFolder, measuredSettings } from './settings-cache.js';
export { type NextSlice, Slices } from './slices.js';
export { checkHighlight, fusionMethod } from './storage-request.js';
export { threadMs } from './thread-time.js';
