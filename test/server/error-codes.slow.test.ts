import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel, type EmbedResult, LorekeepError } from '../../lib/index.js';
import { type ErrorCode, errorTable } from '../../src/protocol/errors.js';
import type { ServerFrame, ServerFrames } from '../../src/protocol/frames.js';
import { handlers } from '../../src/server/handlers.js';
import { keyedSocket } from '../doors/web-socket.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { retrieveGraph, TestServer } from './test-server.js';

const file = temporaryFolder();

/** A session of a raw client, with the storage "docs" and the agent `agent_id`. */
interface Scene {
  server: TestServer;
  raw: RawClient;
  session_id: string;
  agent_id: string;
  /** Sends a request of the session and gives its reply. */
  ask(type: string, fields?: object): Promise<ServerFrame>;
  /** Sends a turn of the agent and gives its TurnComplete's error. */
  turn(text: string, graph?: object): Promise<Failure>;
}

type Failure = Omit<ServerFrames['Error'], 'type' | 'reply_to'>;

const docs = { name: 'docs', strings, embedding_model: 'tiny' };

async function makeScene(): Promise<Scene> {
  writeFileSync(file('bad.txt'), '(');
  const server = await TestServer.start({
    config: {
      storage_root: file(),
      memories_dir: file('memories'),
      memories_client_max_mb: 0,
      default_canned_responses_path: file('absent.txt'),
    },
    loadLanguageModel: async () => new FakeTextModel({ fail: () => failGeneration }),
  });
  const raw = await server.raw();
  let asked = 0;
  const ask = (type: string, fields: object = {}) =>
    raw.request<never>({ session_id, ...fields, type, id: asked++ });
  let session_id: string | undefined;
  ({ session_id } = (await ask('CreateSessionRequest')) as { session_id: string } & ServerFrame);
  await ask('CreateEmbeddedStringStorageRequest', docs);
  const agentOf = async (graph: object) =>
    (await ask('CreateAgentRequest', { graph })) as ServerFrames['CreateAgentResponse'];
  const { agent_id } = await agentOf(retrieveGraph());
  const turn = async (text: string, graph?: object) => {
    const id = graph === undefined ? agent_id : (await agentOf(graph)).agent_id;
    const started = await ask('TurnRequest', { agent_id: id, text });
    const { turn_id } = started as ServerFrames['TurnStarted'];
    const ends = (frame: ServerFrame) => frame.type === 'TurnComplete' && frame.turn_id === turn_id;
    const { error } = await raw.next<ServerFrames['TurnComplete']>(ends);
    return error ?? expect.fail('the turn did not fail');
  };
  return { server, raw, session_id, agent_id, ask, turn };
}

/** What a turn fails with whose nodes find more than a frame holds. */
async function findTooMuch(): Promise<Failure> {
  const session = await (await TestServer.start({ config: { max_frame_mb: 1 } })).session();
  const long = Array.from({ length: 500 }, (_, index) => `bees ${index}${' '.repeat(1100)}`);
  await session.createEmbeddedStringStorage({ name: 'docs', strings: long, embeddingModel: 'tiny' });
  const params = { embedded_string_storage: 'docs', mode: 'lexical', top_k: 1000 } as const;
  const nodes = ['first', 'second'].map((id) => ({ id, type: 'retrieve' as const, params }));
  const { error } = await (await session.createAgent({ graph: { nodes } })).turn('bees');
  return error ?? expect.fail('the turn did not fail');
}

/** What a server says before it closes a connection whose framing it lost. */
async function lost(bytes: Buffer): Promise<ServerFrame> {
  const raw = await (await TestServer.start({ limits: { frameMs: 50 } })).raw();
  raw.bytes(bytes);
  const error = await raw.next<ServerFrame>(({ type }) => type === 'Error');
  await raw.closed;
  return error;
}

/** The answers to sessions with these tokens; the last one. */
async function sessionWith(...tokens: (string | undefined)[]): Promise<ServerFrame> {
  writeFileSync(file('token'), 'a secret of 16 characters');
  const raw = await (await TestServer.start({ config: { access_token_file: file('token') } })).raw();
  let answer: ServerFrame | undefined;
  for (const [id, access_token] of tokens.entries())
    answer = await raw.request<never>({ type: 'CreateSessionRequest', id, access_token });
  return answer as ServerFrame;
}

const agentWith =
  (graph: object) =>
  ({ ask }: Scene) =>
    ask('CreateAgentRequest', { graph });

const search =
  (fields: object) =>
  ({ ask }: Scene) =>
    ask('SearchEmbeddedStringStorageRequest', { name: 'docs', text: 'bees', ...fields });

const update =
  (fields: object) =>
  ({ ask }: Scene) =>
    ask('UpdateEmbeddedStringStorageRequest', { name: 'docs', ...fields });

const storage =
  (fields: object) =>
  ({ ask }: Scene) =>
    ask('CreateEmbeddedStringStorageRequest', { ...docs, name: 'other', ...fields });

/** Makes the next embedding fail. */
function failEmbedding(outcome: () => Promise<never>): void {
  const spy = vi.spyOn(EmbeddingModel.prototype, 'embedSettled').mockImplementationOnce(outcome);
  onTestFinished(() => spy.mockRestore());
}

/** Makes a model refuse all texts as too long, the shortest parts of them, too. */
function refuseTexts(): void {
  const spy = vi.spyOn(EmbeddingModel.prototype, 'embedSettled').mockImplementation(async (texts) => {
    const error = { code: 'TEXT_TOO_LONG', message: 'too long', tokens: 9, limit: 8 } as const;
    const errors = texts.map((_, index) => ({ ...error, index }));
    return {
      vectors: new Float32Array(0),
      errors,
      truncated: [],
      tokens: 0,
      batches: 0,
    } as unknown as EmbedResult;
  });
  onTestFinished(() => spy.mockRestore());
}

const remember = (params: object) =>
  agentWith({
    nodes: [{ id: 'n', type: 'remember', params: { storage: 'memory', embedding_model: 'tiny', ...params } }],
  });

const talker = (params: object = {}) => ({ id: 'talker', type: 'generate', params });

/** What the language model fails with; undefined: it replies. */
let failGeneration: Error | undefined;

const guard = { id: 'guard', type: 'regex_guardrail', params: {} };

type Case = [provoke: (scene: Scene) => Promise<ServerFrame | Failure>, message: RegExp, path?: string];

/**
 * Codes of what has a number too large to be reached here: limits.test.ts, memory.test.ts and descriptors.test.ts do; of
 * downloads: model-pulls.test.ts; and of streams of audio: speech.slow.test.ts. Codes of changed files: test/storages/change-error.test.ts.
 */
type Counted =
  | 5008
  | 5009
  | 5010
  | 2003
  | 4013
  | 8006
  | 6001
  | 6002
  | 6003
  | 6004
  | 2014
  | 2015
  | 2016
  | 2017
  | 6005
  | 7002
  | 8013
  | 8014
  | 8022;

/** How each code is come by, what its message says, and the field that its details name. */
const cases: Record<Exclude<ErrorCode, Counted>, Case> = {
  1001: [() => lost(Buffer.from('GET /')), /^frame kind 71: 1 \(JSON\) is expected/],
  1002: [({ ask }) => ask('TurnRequst'), /^type: "TurnRequst" .* did you mean "TurnRequest"\?$/],
  1003: [() => lost(Buffer.from([1, 255, 0, 0, 0])), /over the limit of 67108864/],
  1004: [search({ top_k: 0 }), /^top_k: a number of at least 1 is expected, not 0$/, 'top_k'],
  1006: [() => lost(Buffer.from([1])), /^a frame was begun and not finished within 50 ms/],
  1008: [
    async ({ server, ask }) => {
      const ping = vi.spyOn(handlers, 'Ping').mockImplementation(() => new Promise(() => {}));
      onTestFinished(() => ping.mockRestore());
      void ask('Ping', { session_id: undefined }).catch(() => {});
      await vi.waitFor(() => expect(ping).toHaveBeenCalled());
      void server.server.stop();
      return ask('CreateSessionRequest', { session_id: undefined });
    },
    /^the server is stopping$/,
  ],
  1009: [
    ({ ask }) => {
      const ping = vi.spyOn(handlers, 'Ping').mockImplementationOnce(() => {
        throw new TypeError('/secret');
      });
      onTestFinished(() => ping.mockRestore());
      return ask('Ping', { session_id: undefined });
    },
    /^the server failed to do this; its log says why$/,
  ],
  2001: [
    ({ ask }) => ask('DestroySessionRequest', { session_id: 's0' }),
    /^session_id: .*"s0"/,
    'session_id',
  ],
  2002: [
    async ({ ask }) => {
      const making = storage({ strings: Array.from({ length: 2000 }, (_, n) => `bee ${n}`) })({
        ask,
      } as Scene);
      const [failure] = await Promise.all([making, ask('DestroySessionRequest')]);
      return failure;
    },
    /^the session was destroyed$/,
  ],
  2010: [() => sessionWith(undefined), /^access_token: is missing; the server requires one$/, 'access_token'],
  2011: [() => sessionWith('wrong'), /^access_token: is wrong$/, 'access_token'],
  2012: [
    () => sessionWith(...Array(11).fill('wrong')),
    /^access_token: too many were wrong; the next one is checked in \d+ ms$/,
    'access_token',
  ],
  2013: [
    async () => {
      const socket = await keyedSocket(['chat']);
      return socket.request({ type: 'PullModelRequest', id: 2, session_id: socket.session, model: 'tiny' });
    },
    /^PullModelRequest: the key has no right "files"$/,
  ],
  3009: [
    storage({ strings: undefined, config_path: '../kb.json' }),
    /^config_path: "\.\.\/kb\.json" .* leaves the storage root; a path inside it is expected$/,
    'config_path',
  ],
  3010: [
    storage({ strings: undefined, config_path: 'kb/kb.json' }),
    /^config_path: there is no file "kb\/kb\.json"/,
    'config_path',
  ],
  3011: [
    async () => {
      const config = { storage_root: file(), session_folders: 'storage_root' } as const;
      const raw = await (await TestServer.start({ config })).raw();
      return raw.request<never>({ type: 'CreateSessionRequest', id: 1, storage_data_folder: '/etc' });
    },
    /^storage_data_folder: sessions may not use "\/etc": .*\(session_folders\)$/,
    'storage_data_folder',
  ],
  4001: [
    agentWith({ nodes: [{ id: 'a', type: 'retreive' }] }),
    /^graph\.nodes\[0\]\.type: "retreive" .* did you mean "retrieve"\?$/,
    'graph.nodes[0].type',
  ],
  4002: [
    agentWith(retrieveGraph({ topk: 1 })),
    /^graph\.nodes\[0\]\.params\.topk: .* did you mean "top_k"\?$/,
    'graph.nodes[0].params.topk',
  ],
  4003: [
    agentWith(retrieveGraph({ top_k: 1001 })),
    /^graph\.nodes\[0\]\.params\.top_k: a number of at most 1000 is expected, not 1001$/,
    'graph.nodes[0].params.top_k',
  ],
  4004: [
    agentWith({ nodes: [guard, guard] }),
    /^graph\.nodes\[1\]\.id: "guard" is the id of graph\.nodes\[0\] already$/,
    'graph.nodes[1].id',
  ],
  4005: [
    agentWith({ nodes: [guard], edges: [['guard', 'gard']] }),
    /^graph\.edges\[0\]\[1\]: the graph has no node "gard"; did you mean "guard"\?$/,
    'graph.edges[0][1]',
  ],
  4006: [
    agentWith({ nodes: [guard], edges: [['guard', 'guard']] }),
    /form a cycle: guard -> guard$/,
    'graph.edges',
  ],
  4007: [
    ({ ask }) => ask('DestroyAgentRequest', { agent_id: 'a' }),
    /^agent_id: the session has no agent "a"/,
    'agent_id',
  ],
  4008: [
    ({ ask }) => ask('CancelTurnRequest', { turn_id: 't' }),
    /^turn_id: the turn "t" is not one of this session$/,
    'turn_id',
  ],
  4009: [
    ({ raw, session_id, agent_id }) => {
      const embed = vi.spyOn(EmbeddingModel.prototype, 'embedSettled').mockImplementation((_, options) => {
        const { signal } = options as { signal: AbortSignal };
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      });
      onTestFinished(() => embed.mockRestore());
      const turn = { type: 'TurnRequest', session_id, agent_id, text: 'bees' };
      raw.send(...Array.from({ length: 1025 }, (_, index) => ({ ...turn, id: `turn ${index}` })));
      return raw.next(({ type }) => type === 'Error');
    },
    /^the session has reached its limit of 1024 unfinished turns; wait for a TurnComplete$/,
  ],
  4010: [
    agentWith({ nodes: [{ ...guard, params: { string_storage: 'bad.txt' } }] }),
    /^graph\.nodes\[0\]\.params\.string_storage: "bad\.txt": line 1: "\(" is not a regular expression: /,
    'graph.nodes[0].params.string_storage',
  ],
  4011: [
    agentWith({ nodes: [{ id: 'reply', type: 'canned_response' }] }),
    /^graph\.nodes\[0\]\.params\.string_storage: .* \(default_canned_responses_path\) does not exist$/,
    'graph.nodes[0].params.string_storage',
  ],
  4012: [
    ({ turn }) => turn('a'.repeat(200_000), { nodes: [guard] }),
    /^text: has 200000 characters; the guardrail "guard" checks at most 131072$/,
    'text',
  ],
  4014: [
    findTooMuch,
    /^the hits and replies of one turn may have at most 1048576 bytes; ask for fewer hits, or in fewer nodes$/,
  ],
  4015: [
    ({ turn }) => turn('bees', { nodes: [talker({ on_no_knowledge: 'refuse' })] }),
    /^the node "talker": the best record has a relevance of 0\.00, and min_relevance is 0\.5$/,
  ],
  4016: [
    ({ turn }) => turn('bees '.repeat(2000), { nodes: [talker()] }),
    /^graph\.nodes\[0\]\.params\.context_size: the prompt has 2003 tokens without history and knowledge, and /,
    'graph.nodes[0].params.context_size',
  ],
  4020: [
    ({ ask }) => ask('ConfirmForgetRequest', { forget_id: 's1.t1.f1', confirm: true }),
    /^forget_id: nothing waits for "s1\.t1\.f1"; /,
    'forget_id',
  ],
  5001: [storage({ embedding_model: 'absent' }), /^model "absent": /],
  5002: [
    (scene) => {
      refuseTexts();
      return search({})(scene);
    },
    /^text: too long$/,
    'text',
  ],
  5003: [
    (scene) => {
      failEmbedding(() => Promise.reject(new LorekeepError('OUT_OF_MEMORY', 'out of memory', {})));
      return search({})(scene);
    },
    /^out of memory$/,
  ],
  5004: [search({ text: '\u200b' }), /^text: the text has no tokens/, 'text'],
  5005: [
    (scene) => {
      const item = {
        index: 0,
        code: 'MODEL_INVALID',
        message: 'the model computed values that are not numbers',
      };
      failEmbedding(() => Promise.resolve({ errors: [{ ...item, tokens: 1, limit: 9 }] } as never));
      return search({})(scene);
    },
    /^text: the model computed values that are not numbers$/,
    'text',
  ],
  5006: [
    ({ turn }) => {
      failGeneration = new LorekeepError('MODEL_INVALID', 'the model computed values that are not numbers');
      return turn('bees', { nodes: [talker()] });
    },
    /^the model computed values that are not numbers$/,
  ],
  5007: [
    ({ ask }) => ask('PullModelRequest', { model: 'tiny' }),
    /^allow_model_pulls: this server does not let clients download models$/,
  ],
  5011: [
    ({ turn }) => {
      failGeneration = new LorekeepError('DEVICE_LOST', 'Vulkan0 failed: ErrorDeviceLost');
      return turn('bees', { nodes: [talker()] });
    },
    /^Vulkan0 failed: ErrorDeviceLost$/,
  ],
  7001: [
    ({ ask }) => ask('CloseSpeechRequest', { stream: 7 }),
    /^stream: the session has no open stream 7$/,
    'stream',
  ],
  7003: [
    async ({ raw }) => {
      raw.bytes(Buffer.from([2, 0, 0, 0, 0]));
      return raw.next((frame) => frame.type === 'Error' && frame.code === 7003);
    },
    /^a binary frame of 0 bytes is no audio: /,
  ],
  8001: [storage({ name: 'a b' }), /^name: "a b" is malformed: /, 'name'],
  8002: [
    storage({ name: 'docs' }),
    /^name: the session has a storage "docs" already; use another name, or destroy that one first$/,
    'name',
  ],
  8003: [storage({ strings: [] }), /^strings: at least one string is expected$/, 'strings'],
  8004: [
    storage({ config_path: 'kb.json' }),
    /^config_path, strings, records: exactly one of them is expected, and config_path and strings are set$/,
  ],
  8005: [
    search({ name: 'dosc' }),
    /^name: the session has no storage "dosc"; did you mean "docs"\?$/,
    'name',
  ],
  8007: [update({ add: [{ id: '0', text: 'Bees.' }] }), /"0"/, 'ids'],
  8008: [update({ remove: ['none'] }), /"none"/, 'ids'],
  8009: [update({ remove: ['0', '0'] }), /"0"/, 'ids'],
  8010: [update({ remove: ['0'], if_version: 3 }), /^if_version: .*\b0\b/, 'if_version'],
  8011: [search({ as_of: 7 }), /^as_of: .*\b7\b/, 'as_of'],
  8012: [
    async () => {
      const session = await (await TestServer.start({ config: { storage_writes: 'none' } })).session();
      await session.createEmbeddedStringStorage({ ...docs, name: 'docs' } as never);
      return session.updateEmbeddedStringStorage({ name: 'docs' }).then(
        () => expect.fail('it may be changed'),
        (error) => error,
      );
    },
    /^name: clients may change no storage \(storage_writes is "none"\)$/,
    'name',
  ],
  8020: [
    remember({ scope: 'agent', secret: 'wrong' }),
    /^graph\.nodes\[0\]\.params\.secret: no memory /,
    'graph.nodes[0].params.secret',
  ],
  8021: [
    remember({ scope: 'agent' }),
    /^storage: the memories of this client may take 0 MiB on disk \(memories_client_max_mb\); /,
    'storage',
  ],
};

const table = Object.entries(cases).map(([code, [provoke, message, path]]) => {
  const { name } = errorTable[Number(code) as ErrorCode];
  return { code: Number(code), name, provoke, message, path };
});

it.each(table)('$code $name says what is wrong and where', async ({ code, name, provoke, message, path }) => {
  const error = await provoke(await makeScene());
  expect(error).toMatchObject({ code, name, message: expect.stringMatching(message) });
  const { details } = error as Failure;
  if (path !== undefined) expect(details.path).toBe(path);
  expect(JSON.stringify([(error as Failure).message, details])).not.toContain(file());
});
