import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Client, type ClientSession, connect, type Graph } from '../../src/client/index.js';
import { configFields, setValue } from '../../src/config/fields.js';
import { lorekeep } from '../cli/command.js';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from './corpus.js';
import { Program } from './program.js';
import { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

/**
 * Every field of server-config.json that has an effect, set in a file to something else than its default and seen at work in
 * a server of its own process. What is not looked at here says where it is.
 */
const inFolder = temporaryFolder();
const project = join(import.meta.dirname, '../..');
const cli = 'dist/src/cli/main.js';

interface Effect {
  /** What stands in the file. */
  value: unknown;
  /** Fails when the running server does not do what the value says. */
  seen(): unknown;
}

interface Elsewhere {
  value: unknown;
  /** A test file that names the field. */
  elsewhere: string;
}

const records = [{ id: 'blob', text: strings[0], metadata: { blob: 'x'.repeat(900_000) } }];
const knowledge = {
  embedding_model: 'tiny',
  records_file: 'records.json',
  bm25_file: 'kb.bm25',
  fields: [{ name: 'blob', type: 'string', optional: true, filterable: false }],
};
const otherFiles: Record<string, string> = {
  'kbs/deep/kb.json': JSON.stringify(knowledge),
  'kbs/deep/records.json': JSON.stringify(records),
  'lists/canned.txt': '# one\nThat is all I say.\n',
  'lists/patterns.txt': 'zebra+\n',
  'token.txt': 'the secret of this test\n',
  'open/sub/note.txt': 'read me\n',
};

let program: Program;
let client: Client;
let session: ClientSession;
let port: number;
const tasks = (of: Program) => readdirSync(`/proc/${of.child.pid}/task`).length;
const logFiles = () => readdirSync(inFolder('made/logs'));
/** A turn of an agent of one node, which is gone afterwards. */
const turn = async (text: string, type: string, params: object = {}) => {
  const graph = { nodes: [{ id: 'n', type, params }] } as Graph;
  const agent = await session.createAgent({ graph, enableDiagnostics: true });
  const complete = await agent.turn(text);
  await agent.destroy();
  return complete;
};
const retrieve = () => turn('bees', 'retrieve', { embedded_string_storage: 'deep/kb.json' });

const scheduling = 'engines.llm_engine.inference.scheduler';
const options = 'test/config/scheduler-options.test.ts';
const telemetry = 'test/telemetry/telemetry.test.ts';
const modelOptions = 'test/config/model-options.test.ts';

const effects: Record<string, Effect | Elsewhere> = {
  port: { value: 0, seen: () => expect(port).toBeGreaterThan(0) },
  network_access: { value: 'local_network', seen: () => program.printed(/"host":"(::|0\.0\.0\.0)"/) },
  proxy_protocol: { value: ['192.0.2.1'], elsewhere: 'test/server/proxy-protocol.test.ts' },
  access_token_file: {
    value: 'token.txt',
    seen: () => expect(client.createSession({ accessToken: 'wrong' })).rejects.toMatchObject({ code: 2011 }),
  },
  session_folders: {
    value: ['open'],
    async seen() {
      await (await client.createSession({ storageDataFolder: inFolder('open/sub') })).destroy();
      await (await client.createSession({ storageDataFolder: 'deep' })).destroy();
      const refused = client.createSession({ storageDataFolder: inFolder('lists') });
      await expect(refused).rejects.toMatchObject({ code: 3011 });
    },
  },
  thread_count: { value: 11, seen: () => program.printed(/"threads":11,"msg":"search threads"/) },
  models_catalog_path: {
    value: 'catalog/models.json',
    seen: () => program.printed(/"embeddingModels":\["tiny"/),
  },
  embedding_model_idle_timeout: {
    value: 1,
    async seen() {
      await session.createEmbeddedStringStorage({ name: 'a', strings, embeddingModel: 'prefixed' });
      await session.destroyEmbeddedStringStorage('a');
      await program.printed(/"model":"prefixed","msg":"model unloaded: nothing used it"/);
    },
  },
  allow_model_pulls: { value: true, elsewhere: 'test/server/model-pulls.test.ts' },
  connections: {
    value: { main: { hosts: ['localhost'], database: 'd', user: 'u', tls: 'off', serves: ['kb'] } },
    elsewhere: 'test/server/postgres.slow.test.ts',
  },
  ...Object.fromEntries(
    Object.entries({
      connection: 'main',
      table: 'kept.sessions',
      expiry_hours: 7,
      max_sessions: 7,
      max_sessions_per_address: 7,
      max_session_mb: 7,
    }).map(([name, value]) => [
      `session_store.${name}`,
      { value, elsewhere: 'test/server/kept-sessions.test.ts' },
    ]),
  ),
  default_vad_model: { value: 'Silero VAD', elsewhere: 'test/server/speech.slow.test.ts' },
  stt_debug_dump_dir: {
    value: 'made/speech',
    seen: () => program.printed(/"msg":"stt_debug_dump_dir: every segment of speech is written/),
  },
  models_download_min_speed: { value: 7, elsewhere: 'test/server/model-pulls.test.ts' },
  models_download_max_mb: { value: 7, elsewhere: 'test/server/model-pulls.test.ts' },
  reranker_idle_timeout: { value: 1, elsewhere: 'test/server/rerank.test.ts' },
  models_cache_max_mb: { value: 512, elsewhere: 'test/server/rerank.test.ts' },
  language_model_idle_timeout: { value: 1, elsewhere: modelOptions },
  logs_dir: { value: 'made/logs', seen: () => expect(logFiles()).toHaveLength(1) },
  log_mode: { value: 'dev', seen: () => expect(logFiles()[0]).toMatch(/^service_.*Z\.log$/) },
  log_level: {
    value: 'trace',
    async seen() {
      await turn('hello', 'canned_response');
      await program.printed(/"level":"trace",.*"agent":"s\d+\.a\d+","turn":"s\d+\.t\d+",.*"msg":"node ran"/);
    },
  },
  log_flush_on: { value: 'off', elsewhere: 'test/log/open.test.ts' },
  log_flush_every_ms: {
    value: 10,
    seen: () =>
      vi.waitFor(() => {
        const [name = ''] = logFiles();
        expect(readFileSync(join(inFolder('made/logs'), name), 'utf8')).toContain('"msg":"listening"');
      }, 10_000),
  },
  storage_root: { value: 'kbs', seen: async () => expect((await retrieve()).status).toBe('completed') },
  default_canned_responses_path: {
    value: 'lists/canned.txt',
    seen: async () => expect((await turn('hello', 'canned_response')).text).toBe('That is all I say.'),
  },
  default_guardrail_patterns_path: {
    value: 'lists/patterns.txt',
    async seen() {
      const { diagnostics } = await turn('A ZEBRAA', 'regex_guardrail');
      expect(diagnostics?.nodes[0]).toMatchObject({ matches: 1 });
    },
  },
  storage_cache_max_mb: {
    value: 0,
    async seen() {
      const other = await client.createSession();
      await other.createEmbeddedStringStorage({ name: 'kb', configPath: 'deep/kb.json' });
      await other.destroy();
      await program.printed(/kb\.json","bytes":\d+,"msg":"storage closed"/);
    },
  },
  read_only_storages: {
    value: true,
    async seen() {
      await retrieve();
      expect(existsSync(inFolder('kbs/deep/kb.bm25'))).toBe(false);
    },
  },
  storage_writes: { value: 'none', elsewhere: 'test/server/changing-storages.test.ts' },
  storage_writes_max_mb: { value: 7, elsewhere: 'test/server/grown-bases.test.ts' },
  storage_writes_client_max_mb: { value: 7, elsewhere: 'test/server/grown-bases.test.ts' },
  storage_versions: { value: 7, elsewhere: 'test/server/changing-storages.test.ts' },
  storage_versions_max_mb: { value: 7, elsewhere: 'test/server/changing-storages.test.ts' },
  storage_versions_max_hours: { value: 7, elsewhere: 'test/server/as-of-files.test.ts' },
  memories_dir: { value: 'memories', elsewhere: 'test/server/memories.test.ts' },
  memories_max_mb: { value: 7, elsewhere: 'test/server/memories.test.ts' },
  memories_client_max_mb: { value: 7, elsewhere: 'test/server/memories.test.ts' },
  include_interaction_in_diagnostics: {
    value: true,
    seen: async () => expect((await retrieve()).diagnostics?.interaction).toHaveLength(2),
  },
  include_engine_diagnostics: {
    value: true,
    seen: async () => expect((await retrieve()).debugInfo?.nodes).toHaveLength(1),
  },
  models_download_dir: { value: 'downloads', elsewhere: 'test/server/catalog.test.ts' },
  'telemetry.enabled': { value: true, elsewhere: telemetry },
  'telemetry.include_user_content': { value: true, elsewhere: telemetry },
  'telemetry.sinks': {
    value: [{ endpoint: 'http://127.0.0.1:1', project_api_key: 'key' }],
    seen: () => program.printed(/"sinks":1,"userContent":true,"msg":"telemetry is on/),
  },
  ...Object.fromEntries(
    ['kind', 'batch_max_records', 'batch_max_ms', 'queue_capacity', 'shutdown_flush_ms'].map((name) => [
      `telemetry.sinks[].${name}`,
      { value: undefined, elsewhere: 'test/telemetry/sink.test.ts' },
    ]),
  ),
  ...Object.fromEntries(
    ['enabled', 'endpoint', 'project_api_key'].map((name) => [
      `telemetry.sinks[].${name}`,
      { value: undefined, elsewhere: telemetry },
    ]),
  ),
  'metrics.enabled': { value: true, seen: () => program.printed(/"msg":"metrics are served"/) },
  'metrics.bind': { value: '0.0.0.0', seen: () => program.printed(/http:\/\/0\.0\.0\.0:\d+\/metrics/) },
  'metrics.port': { value: 0, elsewhere: 'test/server/metrics.test.ts' },
  'metrics.allow_remote': { value: true, elsewhere: 'test/server/metrics.test.ts' },
  'http.enabled': { value: true, seen: () => program.printed(/"msg":"http: listening"/) },
  'http.bind': { value: '127.0.0.1', elsewhere: 'test/doors/listener.slow.test.ts' },
  'http.port': { value: 0, elsewhere: 'test/doors/rest.test.ts' },
  'http.page': { value: true, seen: () => program.printed(/"msg":"page: open this file/) },
  'http.allow_remote': { value: false, elsewhere: 'test/doors/listener.slow.test.ts' },
  'http.tls_cert': { value: '', elsewhere: 'test/doors/listener.slow.test.ts' },
  'http.tls_key': { value: '', elsewhere: 'test/doors/listener.slow.test.ts' },
  'http.keys_file': { value: '', elsewhere: 'test/doors/keys.test.ts' },
  'http.agents': { value: {}, elsewhere: 'test/doors/openai.slow.test.ts' },
  'http.storages': { value: {}, elsewhere: 'test/doors/rest.test.ts' },
  'http.cors_origins': { value: [], elsewhere: 'test/doors/listener.slow.test.ts' },
  'monitor.enabled': { value: true, seen: () => program.printed(/"msg":"monitor"/) },
  'monitor.bind': { value: '0.0.0.0', seen: () => program.printed(/http:\/\/0\.0\.0\.0:\d+\/"/) },
  'monitor.port': { value: 0, elsewhere: 'test/monitor/page.slow.test.ts' },
  'monitor.turn_ring_size': { value: 10, elsewhere: 'test/monitor/page.slow.test.ts' },
  'monitor.memory_tick_interval_ms': { value: 100, elsewhere: 'test/monitor/page.slow.test.ts' },
  'monitor.allow_remote': { value: true, elsewhere: 'test/monitor/stream.test.ts' },
  'debug_commands.enabled': { value: true, seen: () => program.printed(/debug commands are on/) },
  'crash_dump.enabled': { value: true, elsewhere: 'test/crash/server.test.ts' },
  'crash_dump.dir': { value: 'dumps', elsewhere: 'test/crash/server.test.ts' },
  idle_shutdown_timeout: { value: 0, elsewhere: 'test/server/configured.test.ts' },
  'engines.llm_engine.n_threads_batch': {
    value: 9,
    seen: () => process.platform === 'linux' && expect(tasks(program)).toBeGreaterThan(11 + 9),
  },
  'engines.llm_engine.embedding.default_n_ctx': {
    value: 40,
    async seen() {
      const long = session.createEmbeddedStringStorage({
        name: 'long',
        strings: ['bees '.repeat(60)],
        embeddingModel: 'tiny',
      });
      await expect(long).rejects.toMatchObject({ code: 8003, details: { limit: 40 } });
    },
  },
  'engines.llm_engine.backend': { value: 'cpu', elsewhere: 'test/server/backend.test.ts' },
  'engines.llm_engine.vram_reserve_mb': { value: 64, elsewhere: 'test/server/backend.test.ts' },
  'engines.llm_engine.inference.offload_kqv': { value: false, elsewhere: modelOptions },
  'engines.llm_engine.inference.runtime': { value: 'decoder', elsewhere: modelOptions },
  'engines.llm_engine.inference.kv_cells': { value: 1000, elsewhere: modelOptions },
  'engines.llm_engine.inference.kv_cache_type': { value: 'q8_0', elsewhere: modelOptions },
  'engines.llm_engine.n_threads': { value: 1, elsewhere: modelOptions },
  'engines.llm_engine.inference.default_n_ctx': { value: 1000, elsewhere: modelOptions },
  'engines.llm_engine.inference.n_batch': { value: 100, elsewhere: modelOptions },
  [`${scheduling}.enabled`]: { value: false, elsewhere: options },
  [`${scheduling}.prefill_yield_enabled`]: { value: false, elsewhere: options },
  [`${scheduling}.prefill_quantum_tokens`]: { value: 100, elsewhere: options },
  [`${scheduling}.step_target_ms`]: { value: 100, elsewhere: options },
  ...Object.fromEntries(
    ['interactive_visible', 'interactive_buffered', 'background'].flatMap((name) => [
      [`${scheduling}.${name}.prefill_quantum_tokens`, { value: 100, elsewhere: options }],
      [`${scheduling}.${name}.contention_scaling`, { value: true, elsewhere: options }],
      [`${scheduling}.${name}.max_pause_ms`, { value: 5, elsewhere: options }],
    ]),
  ),
  max_frame_mb: {
    value: 1,
    async seen() {
      const raw = await RawClient.connect(port);
      raw.bytes(Buffer.from([1, 0, 0x10, 0, 1]));
      expect(await raw.next(({ type }) => type === 'Error')).toMatchObject({ code: 1003 });
      await raw.closed;
    },
  },
  max_memory_mb: { value: 500, elsewhere: 'test/server/memory.test.ts' },
  max_client_memory_mb: { value: 300, elsewhere: 'test/server/memory.test.ts' },
  'limits.max_connections': { value: 100, elsewhere: 'test/server/memory.test.ts' },
  'limits.max_connections_per_address': { value: 90, elsewhere: 'test/server/memory.test.ts' },
  'limits.max_sessions_per_connection': { value: 80, elsewhere: 'test/server/limits.test.ts' },
  'limits.idle_connection_timeout_ms': { value: 60_000, elsewhere: 'test/server/memory.test.ts' },
  'limits.memory_wait_ms': { value: 1500, elsewhere: 'test/server/memory.test.ts' },
  'limits.drain_timeout_ms': { value: 5000, elsewhere: 'test/server/stop.test.ts' },
  'limits.frame_timeout_ms': {
    value: 1000,
    async seen() {
      const raw = await RawClient.connect(port);
      raw.bytes(Buffer.from([1, 0]));
      expect(await raw.next(({ type }) => type === 'Error')).toMatchObject({
        code: 1006,
        details: { limit_ms: 1000 },
      });
      await raw.closed;
    },
  },
  'limits.unread_timeout_ms': {
    value: 1000,
    async seen() {
      const raw = await RawClient.connect(port);
      const access_token = 'the secret of this test';
      const created = await raw.request<never>({ id: 0, type: 'CreateSessionRequest', access_token });
      const { session_id } = created as { session_id: string };
      raw.socket.pause();
      const search = {
        type: 'SearchEmbeddedStringStorageRequest',
        session_id,
        name: 'deep/kb.json',
        text: 'bees',
      };
      raw.send(...Array.from({ length: 64 }, (_, index) => ({ id: index + 1, ...search })));
      await program.printed(/"msg":"client dropped: it does not read"/);
      raw.socket.destroy();
    },
  },
};

async function writeFiles(): Promise<string> {
  // Makes the models, which stay where they are when the server is closed.
  await TestServer.start();
  const catalog = JSON.parse(readFileSync(catalogPath, 'utf8')) as {
    models: { variants: { file?: string }[] }[];
  };
  for (const variant of catalog.models.flatMap(({ variants }) => variants)) {
    if (variant.file !== undefined) variant.file = join(dirname(catalogPath), variant.file);
  }
  const config = { engines: { llm_engine: { n_gpu_layers: 99 } } };
  for (const [path, { value }] of Object.entries(effects))
    if (!path.includes('[]')) setValue(config, path.split('.'), value);
  const files = {
    ...otherFiles,
    'catalog/models.json': JSON.stringify(catalog),
    'server-config.json': JSON.stringify(config),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(inFolder(name)), { recursive: true });
    writeFileSync(inFolder(name), text);
  }
  return inFolder('server-config.json');
}

it('a server does what each field of its config file says', async () => {
  program = Program.run(cli, 'serve', '--config', await writeFiles());
  port = Number((await program.printed(/"port":(\d+)/))[1]);
  client = await connect({ port, accessToken: 'the secret of this test' });
  onTestFinished(() => client.close());
  session = await client.createSession();
  for (const [path, effect] of Object.entries(effects)) {
    if ('seen' in effect) await expect(Promise.resolve(effect.seen()), path).resolves.not.toThrow();
    else
      expect(readFileSync(join(project, effect.elsewhere), 'utf8'), path).toContain(path.split('.').at(-1));
  }
  await program.printed(/n_gpu_layers: deprecated and ignored/);
});

it('every field has an effect that is looked at here', () => {
  const withEffect = configFields.filter(({ path, facts }) => !facts.deprecated && path !== '$schema');
  expect(Object.keys(effects).sort()).toEqual(withEffect.map(({ path }) => path).sort());
});

it('flags and variables reach the server, which exits with 0 when nobody uses it', async () => {
  const flags = ['--config', await writeFiles(), '--crash-dump-dir', 'dumps', '--enable-debug-commands'];
  const { status, stdout } = await lorekeep(['serve', ...flags], {
    env: {
      LOREKEEP_PORT: '0',
      LOREKEEP_NETWORK_ACCESS: 'local',
      LOREKEEP_IDLE_SHUTDOWN_TIMEOUT: '1',
      LOREKEEP_LLM_BACKEND: 'hip',
    },
  });
  expect(status).toBe(0);
  expect(stdout).toMatch(/"host":"127\.0\.0\.1","port":[1-9]\d*,"access":"local"/);
  expect(stdout).toContain('debug commands are on');
  expect(stdout).toContain('"seconds":1,"msg":"stopping: no session for this long"');
});
