import type { z } from 'zod';
import { defaultCacheBytes } from '../limits/default-cache-bytes.js';
import { defaultMemoryMiB } from '../limits/default-memory.js';
import { llmEngineSchema } from './engine-schema.js';
import {
  boolean,
  choice,
  fieldFacts,
  foldersOr,
  integer,
  nonEmptyText,
  object,
  text,
} from './field-types.js';
import { crashDumpSchema, debugCommandsSchema, monitorSchema, telemetrySchema } from './later-schema.js';
import { limitsSchema } from './limits-schema.js';

const path = { path: true } as const;

/** The longest wait that a timer takes is 2^31 - 1 ms. */
const longestTimerMs = 2_147_483_647;
const longestTimerSeconds = Math.floor(longestTimerMs / 1000);

const bytesPerMiB = 1024 * 1024;

/** server-config.json: the one source of its fields, types, defaults, ranges, flags and descriptions. */
export const configSchema = object({
  $schema: text().optional().describe('For editors; no effect.'),

  port: integer(0, 65_535)
    .default(9100)
    .describe('TCP port; 0 takes a free one.')
    .register(fieldFacts, { flag: '--port <n>' }),
  network_access: choice('local', 'local_network')
    .default('local')
    .describe(
      '`local`: loopback (127.0.0.1) only. `local_network`: all interfaces; connections from outside the local network are refused.',
    )
    .register(fieldFacts, { flag: '--network-access <value>' }),
  access_token_file: text()
    .default('')
    .describe('A file with a secret that clients must send to create a session; empty: none is asked for.')
    .register(fieldFacts, { ...path, extension: true }),
  session_folders: foldersOr('any', 'storage_root')
    .optional()
    .describe(
      'Folders that `storage_data_folder` of a session may name: any that the server may read, those inside storage_root, or those inside it and inside the listed folders.',
    )
    .register(fieldFacts, {
      folders: true,
      computedDefault: '`"any"` for `local`, `"storage_root"` for `local_network`',
      extension: true,
    }),
  thread_count: integer(1, 1024)
    .default(4)
    .describe(
      'Threads that serve searches, and as many that read and write files. Embedding and index building have threads of their own.',
    ),

  models_catalog_path: nonEmptyText()
    .default('data/models.json')
    .describe('The model catalog. Missing or invalid, the server does not start.')
    .register(fieldFacts, path),
  models_download_dir: nonEmptyText()
    .default('data/.models/')
    .describe('Where downloaded models go; created if absent.')
    .register(fieldFacts, { ...path, later: 'downloads' }),
  embedding_model_idle_timeout: integer(0, longestTimerSeconds)
    .default(600)
    .describe('Seconds after which an embedding model that nothing uses is unloaded; 0: never.')
    .register(fieldFacts, { extension: true }),

  logs_dir: text()
    .default('data/logs')
    .describe('Folder of the log files, created if absent; empty: console only.')
    .register(fieldFacts, path),
  log_mode: choice('production', 'dev')
    .default('production')
    .describe(
      '`production`: one service.log, rotated at 10 MiB, 5 files kept. `dev`: service_<timestamp>.log per start, not rotated.',
    ),
  log_level: choice('trace', 'debug', 'info', 'warn', 'error')
    .default('info')
    .describe('Least level logged. `trace` has what each node does, and texts of users.'),
  log_flush_on: choice('off', 'trace', 'debug', 'info', 'warn', 'error')
    .default('warn')
    .describe(
      'A line of this level or higher is written to the file at once, with all before it; `off`: none is.',
    ),
  log_flush_every_ms: integer(0, longestTimerMs)
    .default(5000)
    .describe('What waits is written to the file this often, in ms; 0: no timer.'),

  storage_root: text()
    .default('')
    .describe('What the paths of storages start at; empty: the folder of the package.')
    .register(fieldFacts, path),
  default_canned_responses_path: nonEmptyText()
    .default('data/default-canned-responses.txt')
    .describe('Responses of canned-response nodes without a storage of their own; read on first use.')
    .register(fieldFacts, path),
  default_guardrail_patterns_path: nonEmptyText()
    .default('data/default-guardrail-patterns.txt')
    .describe('Patterns of regex-guardrail nodes without a storage of their own; read on first use.')
    .register(fieldFacts, path),
  storage_cache_max_mb: integer(0, 1_073_741_824)
    .default(() => Math.max(1, Math.floor(defaultCacheBytes() / bytesPerMiB)))
    .describe('MiB of storages from files kept in memory; those that nothing holds go first.')
    .register(fieldFacts, { computedDefault: '25 % of memory', extension: true }),
  read_only_storages: boolean()
    .default(false)
    .describe(
      'true: opening a storage writes neither its text index nor its embeddings file; what they would hold is computed on every opening.',
    )
    .register(fieldFacts, { extension: true }),

  include_interaction_in_diagnostics: boolean()
    .default(false)
    .describe("Whether diagnostics carry the interaction's components, for agents that enabled diagnostics."),
  include_engine_diagnostics: boolean()
    .default(false)
    .describe(
      'Whether diagnostics carry metrics of the engine per node, for agents that enabled diagnostics.',
    ),

  telemetry: telemetrySchema,

  default_vad_model: text()
    .default('Silero VAD')
    .describe('Catalog name of the model that detects voice activity.')
    .register(fieldFacts, { later: 'speech' }),
  stt_debug_dump_dir: text()
    .default('')
    .describe('One WAV per segment of speech is written here; empty: none.')
    .register(fieldFacts, { ...path, later: 'speech' }),
  idle_shutdown_timeout: integer(0, longestTimerSeconds)
    .default(0)
    .describe('Seconds without a session after which the server exits; 0: never.')
    .register(fieldFacts, { flag: '--idle-shutdown-timeout <sec>' }),

  monitor: monitorSchema,
  crash_dump: crashDumpSchema,
  debug_commands: debugCommandsSchema,
  engines: object({ llm_engine: llmEngineSchema.prefault({}) }).prefault({}),

  max_frame_mb: integer(1, 1024)
    .default(64)
    .describe('Largest frame payload, either way, in MiB.')
    .register(fieldFacts, { extension: true }),
  max_memory_mb: integer(1, 1_073_741_824)
    .default(() => defaultMemoryMiB())
    .describe('MiB that all clients together may make the server hold: docs/operations.md, "Memory".')
    .register(fieldFacts, {
      computedDefault: 'half of the memory that the process may use, after 128 MiB for itself',
      extension: true,
    }),
  max_client_memory_mb: integer(0, 1_073_741_824)
    .default(0)
    .describe('MiB that one client may make the server hold; 0: half of `max_memory_mb`.')
    .register(fieldFacts, { extension: true }),
  limits: limitsSchema,
});

export type ServerConfig = z.output<typeof configSchema>;
