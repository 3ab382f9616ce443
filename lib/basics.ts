/** The parts of lib/ that do not load the addon, for src/: a command starts at once, and runs where the addon does not load. */
export type { AddonAttempts } from './boundary/addon-attempts.js';
export type { ErrorDetail } from './boundary/error-details.js';
export { AnyLorekeepError, LorekeepError, messageOf } from './boundary/errors.js';
export { onAbort } from './boundary/on-abort.js';
export { type Option, type Options, snakeCase } from './boundary/option.js';
export type {
  ImportanceOptions,
  RankingFields,
  RankingOptions,
  RecencyOptions,
  ResultFields,
  ResultOptions,
  SamplingFields,
} from './boundary/options.gen.js';
export { bundledError, packageFolder, versionOfPackage } from './boundary/own-package.js';
export { type NextSlice, Slices } from './boundary/slices.js';
export { cacheFolder } from './devices/settings-cache.js';
export { samplingOptions } from './generation/sampling-options.js';
export type { FileFacts } from './os/file-facts.js';
export * from './os/file-stamp.js';
export { makeFolder } from './os/make-folder.js';
export { moveOver } from './os/move-over.js';
export * from './os/own-file.js';
export { processExists } from './os/process-exists.js';
export * from './os/regular-file.js';
export { systemReason } from './os/system-reason.js';
export * from './os/temporary-files.js';
export { userHome } from './os/user-home.js';
export {
  calibrationOptions,
  lexicalOptions,
  rankingOptions,
  resultOptions,
  searchOptions,
} from './search/options.js';
export { ineffectiveOptions, refuseIneffective } from './search/search-mode.js';

/** Imports the code that tries the files of the addon: only `doctor` needs it. */
export const addonAttempts = () => import('./boundary/addon-attempts.js');
