import { boolean, fieldFacts, object, text } from './field-types.js';

export const crashDumpSchema = object({
  enabled: boolean().default(true).describe('Write a minidump on a fatal crash.'),
  dir: text()
    .default('')
    .describe('Folder of the dumps; empty: `logs_dir`, else the data folder.')
    .register(fieldFacts, { path: true, written: true, flag: '--crash-dump-dir <path>' }),
}).prefault({});

export const debugCommandsSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Serves DebugCommandRequest: docs/guides/diagnostics.md. Not in the production edition.')
    .register(fieldFacts, { flag: '--enable-debug-commands' }),
}).prefault({});
