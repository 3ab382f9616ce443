import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { homeFolder } from '../../src/base/files/home.js';
import { valueAt } from '../../src/base/schema/field-issue.js';
import { configFields } from '../../src/config/fields.js';
import { loadConfig } from '../../src/config/load.js';

const home = (path: string) => join(homeFolder, path);

/** Every field of the contract, with its built-in value. */
const contract = {
  port: 9100,
  network_access: 'local',
  thread_count: 4,
  models_catalog_path: home('data/models.json'),
  models_download_dir: home('data/.models'),
  logs_dir: home('data/logs'),
  log_mode: 'production',
  log_level: 'info',
  log_flush_on: 'warn',
  log_flush_every_ms: 5000,
  storage_root: '',
  default_canned_responses_path: home('data/default-canned-responses.txt'),
  default_guardrail_patterns_path: home('data/default-guardrail-patterns.txt'),
  include_interaction_in_diagnostics: false,
  include_engine_diagnostics: false,
  telemetry: {
    enabled: true,
    include_user_content: false,
    sinks: [
      {
        kind: 'analytics',
        enabled: true,
        endpoint: '',
        project_api_key: '',
        batch_max_records: 50,
        batch_max_ms: 2000,
        queue_capacity: 5000,
        shutdown_flush_ms: 5000,
      },
    ],
  },
  default_vad_model: 'Silero VAD',
  stt_debug_dump_dir: '',
  idle_shutdown_timeout: 0,
  metrics: { enabled: false, bind: '127.0.0.1', port: 9102, allow_remote: false },
  monitor: {
    enabled: false,
    bind: '127.0.0.1',
    port: 9101,
    turn_ring_size: 200,
    memory_tick_interval_ms: 0,
    allow_remote: false,
  },
  crash_dump: { enabled: true, dir: '' },
  debug_commands: { enabled: false },
  engines: {
    llm_engine: {
      backend: 'auto',
      n_threads: 0,
      n_threads_batch: 0,
      vram_reserve_mb: 0,
      inference: {
        default_n_ctx: 8192,
        n_batch: 512,
        offload_kqv: true,
        runtime: 'auto', // an extension
        kv_cells: 0, // an extension
        kv_cache_type: 'f16', // an extension
        scheduler: {
          enabled: true,
          prefill_yield_enabled: true,
          prefill_quantum_tokens: 512,
          interactive_visible: { prefill_quantum_tokens: 256, contention_scaling: true, max_pause_ms: 10 },
          interactive_buffered: { prefill_quantum_tokens: 512, contention_scaling: false, max_pause_ms: 50 },
          background: { prefill_quantum_tokens: 128, contention_scaling: true, max_pause_ms: 50 },
          step_target_ms: 'auto', // an extension
        },
      },
      embedding: { default_n_ctx: 512 },
    },
  },
};

/** lorekeep's own. */
const extensions = {
  access_token_file: '',
  proxy_protocol: [],
  session_folders: 'any',
  embedding_model_idle_timeout: 600,
  allow_model_pulls: false,
  connections: {},
  session_store: {
    connection: '',
    table: 'lorekeep.sessions',
    expiry_hours: 168,
    max_sessions: 10_000,
    max_sessions_per_address: 1000,
    max_session_mb: 4,
  },
  models_download_max_mb: 0,
  models_download_min_speed: 1024,
  reranker_idle_timeout: 600,
  models_cache_max_mb: 0,
  language_model_idle_timeout: 600,
  max_frame_mb: 64,
  max_client_memory_mb: 0,
  read_only_storages: false,
  storage_writes: 'own',
  storage_writes_max_mb: 4096,
  storage_writes_client_max_mb: 1024,
  storage_versions: 16,
  storage_versions_max_mb: 64,
  storage_versions_max_hours: 0,
  memories_dir: home('data/memories'),
  memories_max_mb: 1024,
  memories_client_max_mb: 64,
  http: {
    enabled: false,
    bind: '127.0.0.1',
    port: 9103,
    page: false,
    allow_remote: false,
    tls_cert: '',
    tls_key: '',
    keys_file: '',
    agents: {},
    storages: {},
    cors_origins: [],
  },
  limits: {
    drain_timeout_ms: 10_000,
    frame_timeout_ms: 30_000,
    unread_timeout_ms: 60_000,
    max_connections: 4096,
    max_connections_per_address: 1024,
    max_sessions_per_connection: 10_000,
    idle_connection_timeout_ms: 600_000,
    memory_wait_ms: 2000,
  },
};

describe('the config without a file', () => {
  it('has the built-in value of every field, with paths beside the program', async () => {
    const { config, file, place, warnings } = await loadConfig();
    expect(place).toBe(home('data/server-config.json'));
    expect([file, warnings]).toEqual([undefined, []]);
    const { storage_cache_max_mb: cache, max_memory_mb: memory, ...rest } = config;
    expect(rest).toEqual({ ...contract, ...extensions });
    expect(Math.min(cache, memory)).toBeGreaterThan(0);
  });

  it('has a description for every field, and a place for each in the config', async () => {
    const { config } = await loadConfig();
    for (const { path, keys, schema, facts } of configFields) {
      expect(schema.description, path).toBeTruthy();
      if (path === '$schema' || facts.deprecated || path.includes('[]')) continue;
      expect(valueAt(config, keys), path).not.toBeUndefined();
    }
  });
});
