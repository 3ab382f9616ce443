import { z } from 'zod';
import { defaultCacheBytes } from '../base/machine/default-cache-bytes.js';
import { defaultMemoryMiB } from '../base/machine/default-memory.js';
import { connectionsSchema } from './connections-schema.js';
import { crashDumpSchema, debugCommandsSchema } from './crash-schema.js';
import { llmEngineSchema } from './engine-schema.js';
import {
  boolean,
  choice,
  fieldFacts,
  foldersOr,
  integer,
  list,
  network,
  nonEmptyText,
  object,
  text,
} from './field-types.js';
import { httpSchema } from './http-schema.js';
import { limitsSchema } from './limits-schema.js';
import { metricsSchema } from './metrics-schema.js';
import { monitorSchema } from './monitor-schema.js';
import { sessionStoreSchema } from './session-store-schema.js';
import { telemetrySchema } from './telemetry-schema.js';

const path = { path: true } as const;
const writtenPath = { path: true, written: true } as const;

/** The longest delay of a timer: 2^31 - 1 ms. */
const longestTimerMs = 2_147_483_647;
const longestTimerSeconds = Math.floor(longestTimerMs / 1000);

const bytesPerMiB = 1024 * 1024;

/** server-config.json: the only source of its fields, types, defaults, ranges, flags and descriptions. */
export const configSchema = object({
  $schema: text().optional().describe('JSON Schema for editors; no effect on the server.'),

  port: integer(0, 65_535)
    .default(9100)
    .describe('TCP port; 0: any free port.')
    .register(fieldFacts, { flag: '--port <n>' }),
  network_access: choice('local', 'local_network')
    .default('local')
    .describe(
      '`local`: loopback (127.0.0.1) only. `local_network`: all interfaces; connections from outside the local network are refused.',
    )
    .register(fieldFacts, { flag: '--network-access <value>' }),
  proxy_protocol: list(network())
    .default([])
    .describe(
      'Addresses and networks of balancers. Each of their connections must begin with a PROXY header, and the client that it states counts: docs/guides/many-servers.md.',
    )
    .register(fieldFacts, { extension: true }),
  access_token_file: text()
    .default('')
    .describe('File with the secret that clients must send to create a session; empty: no token needed.')
    .register(fieldFacts, { ...path, extension: true }),
  session_folders: foldersOr('any', 'storage_root')
    .optional()
    .describe(
      'Folders that sessions may use as `storage_data_folder`: `"any"` readable folder, folders inside `"storage_root"`, or a list of folders besides `storage_root`.',
    )
    .register(fieldFacts, {
      folders: true,
      computedDefault: '`"any"` for `local`, `"storage_root"` for `local_network`',
      extension: true,
    }),
  thread_count: integer(1, 1024)
    .default(4)
    .describe(
      'Number of search threads and, separately, of file I/O threads. One of several search threads is kept for clients whose searches are short. Embedding and index building have their own threads.',
    ),

  models_catalog_path: nonEmptyText()
    .default('data/models.json')
    .describe('The model catalog. The server does not start if it is missing or invalid.')
    .register(fieldFacts, path),
  models_download_dir: nonEmptyText()
    .default('data/.models/')
    .describe('Folder of downloaded models and their list, downloads.json; created if absent.')
    .register(fieldFacts, writtenPath),
  embedding_model_idle_timeout: integer(0, longestTimerSeconds)
    .default(600)
    .describe('Seconds until an unused embedding model is unloaded; 0: never.')
    .register(fieldFacts, { extension: true }),
  allow_model_pulls: boolean()
    .default(false)
    .describe(
      'true: clients may have models of the catalog downloaded (PullModelRequest). Everybody who may create a session may then use the disk and the network: docs/guides/models.md.',
    )
    .register(fieldFacts, { extension: true }),
  models_download_max_mb: integer(0, 1_073_741_824)
    .default(0)
    .describe('Limit of `models_download_dir` for downloads by clients, in MiB; 0: no limit but the disk.')
    .register(fieldFacts, { extension: true }),
  models_download_min_speed: integer(0, 1_073_741_824)
    .default(1024)
    .describe(
      'Bytes per second. A server that sends less for 30 s is treated as broken; after six such attempts in a row the download ends with an error. 0: any speed will do.',
    )
    .register(fieldFacts, { extension: true }),
  reranker_idle_timeout: integer(0, longestTimerSeconds)
    .default(600)
    .describe('Seconds until an unused reranker is unloaded; 0: never.')
    .register(fieldFacts, { extension: true }),
  models_cache_max_mb: integer(0, 1_073_741_824)
    .default(0)
    .describe(
      'MiB of memory that loaded models may take together: docs/guides/operations.md, "Memory of models". 0: what is free, control groups included, less 64 MiB.',
    )
    .register(fieldFacts, { extension: true }),
  language_model_idle_timeout: integer(0, longestTimerSeconds)
    .default(600)
    .describe('Seconds until a language model that no agent uses is unloaded; 0: never.')
    .register(fieldFacts, { extension: true }),

  logs_dir: text()
    .default('data/logs')
    .describe('Folder of the log files; created if absent. Empty: console only.')
    .register(fieldFacts, writtenPath),
  log_mode: choice('production', 'dev')
    .default('production')
    .describe(
      '`production`: service.log, rotated at 10 MiB, 5 files. `dev`: one `service_<timestamp>.log` per start, not rotated.',
    ),
  log_level: choice('trace', 'debug', 'info', 'warn', 'error')
    .default('info')
    .describe('Minimum level. `trace` logs every node and may log user texts.'),
  log_flush_on: choice('off', 'trace', 'debug', 'info', 'warn', 'error')
    .default('warn')
    .describe(
      'Lines of this level or higher are written to the file at once, with all earlier lines; `off`: never.',
    ),
  log_flush_every_ms: integer(0, longestTimerMs)
    .default(5000)
    .describe('Interval of writing buffered lines to the file, in ms; 0: no timer.'),

  storage_root: text()
    .default('')
    .describe('Root folder of storage paths; empty: the folder of the package.')
    .register(fieldFacts, path),
  default_canned_responses_path: nonEmptyText()
    .default('data/default-canned-responses.txt')
    .describe('Responses of canned_response nodes without `string_storage`; read on first use.')
    .register(fieldFacts, path),
  default_guardrail_patterns_path: nonEmptyText()
    .default('data/default-guardrail-patterns.txt')
    .describe('Patterns of regex_guardrail nodes without `string_storage`; read on first use.')
    .register(fieldFacts, path),
  storage_cache_max_mb: integer(0, 1_073_741_824)
    .default(() => Math.max(1, Math.floor(defaultCacheBytes() / bytesPerMiB)))
    .describe('MiB of file storages kept in memory. Unused ones are evicted first.')
    .register(fieldFacts, { computedDefault: '25 % of memory', extension: true }),
  read_only_storages: boolean()
    .default(false)
    .describe(
      'true: opening a storage writes no text index and no embeddings file, and computes missing ones each time.',
    )
    .register(fieldFacts, { extension: true }),

  storage_writes: z
    .enum(['none', 'own', 'files'])
    .default('own')
    .describe(
      'Storages that clients may change. `own`: inline storages of their session. `files`: also knowledge bases, inside the folders that `session_folders` allows, but not if that is `"any"`; at the doors those of `http.storages` with `writable`.',
    )
    .register(fieldFacts, { extension: true }),
  storage_writes_max_mb: integer(0, 1024 * 1024 * 1024)
    .default(4096)
    .describe(
      'MiB by which changes of clients may let knowledge bases grow on disk, with their change logs, indexes and kept embeddings, since the server started.',
    )
    .register(fieldFacts, { extension: true }),
  storage_writes_client_max_mb: integer(0, 1024 * 1024 * 1024)
    .default(1024)
    .describe('MiB of these by which the knowledge bases may grow that one client has changed.')
    .register(fieldFacts, { extension: true }),
  storage_versions: integer(0, 100_000)
    .default(16)
    .describe('Older versions of a changed storage that are kept for `as_of`.')
    .register(fieldFacts, { extension: true }),
  storage_versions_max_mb: integer(0, 1024 * 1024)
    .default(64)
    .describe('MiB that the older versions of one storage may take.')
    .register(fieldFacts, { extension: true }),

  storage_versions_max_hours: integer(0, 876_000)
    .default(0)
    .describe('Hours for which an older version is kept after the next one was made; 0: without a limit.')
    .register(fieldFacts, { extension: true }),

  memories_dir: nonEmptyText()
    .default('data/memories')
    .describe(
      'Folder of the memories of agents that outlive their session; created when the first one is made. Requests cannot open its files.',
    )
    .register(fieldFacts, { ...writtenPath, extension: true }),
  memories_max_mb: integer(0, 1024 * 1024 * 1024)
    .default(1024)
    .describe('MiB that these memories may take on disk, with their change logs and indexes.')
    .register(fieldFacts, { extension: true }),
  memories_client_max_mb: integer(0, 1024 * 1024 * 1024)
    .default(64)
    .describe('MiB of these that the memories which one client has opened may take on disk.')
    .register(fieldFacts, { extension: true }),

  include_interaction_in_diagnostics: boolean()
    .default(false)
    .describe("Adds the interaction's components to diagnostics, for agents with `enable_diagnostics`."),
  include_engine_diagnostics: boolean()
    .default(false)
    .describe('Adds engine metrics per node (`debug_info`), for agents with `enable_diagnostics`.'),

  telemetry: telemetrySchema,

  default_vad_model: text()
    .default('Silero VAD')
    .describe('Catalog name of the voice activity model, for streams of audio that name none.'),
  stt_debug_dump_dir: text()
    .default('')
    .describe(
      'Folder for one WAV file per speech segment, for debugging; empty: none. At most 10,000 files and 1 GiB are written.',
    )
    .register(fieldFacts, writtenPath),
  idle_shutdown_timeout: integer(0, longestTimerSeconds)
    .default(0)
    .describe('The server exits after this many seconds without a session and without a download; 0: never.')
    .register(fieldFacts, { flag: '--idle-shutdown-timeout <sec>' }),

  connections: connectionsSchema,
  session_store: sessionStoreSchema,
  monitor: monitorSchema,
  metrics: metricsSchema,
  http: httpSchema,
  crash_dump: crashDumpSchema,
  debug_commands: debugCommandsSchema,
  engines: object({ llm_engine: llmEngineSchema.prefault({}) }).prefault({}),

  max_frame_mb: integer(1, 1024)
    .default(64)
    .describe('Largest frame payload in either direction, in MiB.')
    .register(fieldFacts, { extension: true }),
  max_memory_mb: integer(1, 1_073_741_824)
    .default(() => defaultMemoryMiB())
    .describe('Memory budget of all clients together, in MiB: docs/guides/operations.md, "Memory".')
    .register(fieldFacts, {
      computedDefault: 'half of the available memory beyond 128 MiB',
      extension: true,
    }),
  max_client_memory_mb: integer(0, 1_073_741_824)
    .default(0)
    .describe('Memory budget of one client, in MiB; 0: half of `max_memory_mb`.')
    .register(fieldFacts, { extension: true }),
  limits: limitsSchema,
});

export type ServerConfig = z.output<typeof configSchema>;
