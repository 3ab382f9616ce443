import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/client/index.js';
import { createLog } from '../../src/log/log.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { isRealDatabase, testDatabase } from '../helpers/postgres.js';
import { strings } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { TestServer, type TestServerOptions } from './test-server.js';

const database = testDatabase();
const graph = { nodes: [{ id: 'g', type: 'generate', params: { model: 'talker' } }] } as const;
const table = 'public.sessions';
type Created = ServerFrames['CreateSessionResponse'];

/** A server on the shared database. Its model says how many messages it was sent. */
async function start(store: object = {}, more: TestServerOptions = {}) {
  const models: FakeTextModel[] = [];
  const server = await TestServer.start({
    loadLanguageModel: async () => {
      const model = new FakeTextModel();
      models.push(model);
      return model;
    },
    ...more,
    config: {
      connections: { main: database.connection({ writes: false }) as never },
      session_store: { connection: 'main', table, ...store },
      ...more.config,
    },
  });
  return { server, models };
}

let requests = 0;
const ask = <Reply>(client: RawClient, type: string, fields: object = {}) =>
  client.request<never>({ type, id: `r${++requests}`, ...fields }) as Promise<Reply>;

async function turn(client: RawClient, session_id: string, agent_id: string, text: string) {
  const started = await ask<ServerFrames['TurnStarted']>(client, 'TurnRequest', {
    session_id,
    agent_id,
    text,
  });
  // A session that another connection has resumed may have ended already.
  if (started.type !== 'TurnStarted') return { not_kept: started } as unknown as ServerFrames['TurnComplete'];
  const { turn_id } = started;
  return client.next<ServerFrames['TurnComplete']>(
    (frame) => frame.type === 'TurnComplete' && frame.turn_id === turn_id,
  );
}

const texts = async (client: RawClient, session_id: string, agent_id: string) => {
  const { history } = await ask<ServerFrames['ExportAgentResponse']>(client, 'ExportAgentRequest', {
    session_id,
    agent_id,
  });
  return history.turns.map(({ text }) => text);
};

/** A kept session with an agent and a turn. */
async function kept(server: TestServer) {
  const client = await server.raw();
  const { session_id, resume } = await ask<Created>(client, 'CreateSessionRequest', { keep: true });
  const made = await ask<ServerFrames['CreateAgentResponse']>(client, 'CreateAgentRequest', {
    session_id,
    graph,
    enable_diagnostics: true,
  });
  expect(made).toMatchObject({ kept: 1 });
  expect(made.not_kept).toBeUndefined();
  const complete = await turn(client, session_id, made.agent_id, 'My name is Ann.\0\ud800');
  expect(complete).toMatchObject({ status: 'completed' });
  expect(complete.not_kept).toBeUndefined();
  return { client, session_id, resume: resume as string, agent_id: made.agent_id };
}

const resumeAt = async (server: TestServer, resume: string) => {
  const client = await server.raw();
  return { client, reply: await ask<Created>(client, 'CreateSessionRequest', { resume }) };
};

it('one request with the secret resumes agents and histories on another server, and the first one ends', async () => {
  const first = await start();
  const second = await start();
  const before = await kept(first.server);
  const { client, reply } = await resumeAt(second.server, before.resume);
  const [agent] = reply.agents ?? [];
  expect(reply).toMatchObject({ resume: before.resume, agents: [{ kept: 1, turns: 1 }] });
  const agent_id = agent?.agent_id as string;
  expect(await texts(client, reply.session_id, agent_id)).toEqual(['My name is Ann.\0\ud800']);
  const complete = await turn(client, reply.session_id, agent_id, 'Who am I?');
  expect(complete).toMatchObject({ status: 'completed', diagnostics: expect.anything() });
  expect(second.models[0]?.prompts.at(-1)).toHaveLength(3);
  // The first server notices when it writes: the answer is not lost, and the client learns where it stands.
  const late = await turn(before.client, before.session_id, before.agent_id, 'And here?');
  expect(late).toMatchObject({ status: 'completed', not_kept: { code: 2014 } });
  const after = await ask(before.client, 'CreateAgentRequest', { session_id: before.session_id, graph });
  expect(after).toMatchObject({ type: 'Error', code: 2014 });
  const third = await resumeAt(first.server, before.resume);
  const [again] = third.reply.agents ?? [];
  expect(await texts(third.client, third.reply.session_id, again?.agent_id as string)).toEqual([
    'My name is Ann.\0\ud800',
    'Who am I?',
  ]);
});

// A database in memory has one session: its transactions do not overlap.
it.runIf(isRealDatabase)('of servers that resume at once, the last alone can write', async () => {
  const servers = await Promise.all([start(), start(), start()]);
  const { resume } = await kept((servers[0] as { server: TestServer }).server);
  const resumed = await Promise.all(
    [...servers, ...servers, ...servers].map(({ server }) => resumeAt(server, resume)),
  );
  const ended = await Promise.all(
    resumed.map(({ client, reply }) =>
      turn(client, reply.session_id, reply.agents?.[0]?.agent_id as string, 'Hello'),
    ),
  );
  const codes = ended.map(({ not_kept }) => not_kept?.code);
  expect(codes.filter((code) => code === undefined)).toHaveLength(1);
  expect(codes.filter((code) => code === 2014)).toHaveLength(8);
  const { client, reply } = await resumeAt((servers[0] as { server: TestServer }).server, resume);
  expect(await texts(client, reply.session_id, reply.agents?.[0]?.agent_id as string)).toHaveLength(2);
});

it('the table has a digest of the secret, and wrong, unknown and expired ones are the same error', async () => {
  const { server } = await start();
  const { resume, client, session_id } = await kept(server);
  const [id, key] = resume.split('.') as [string, string];
  const rows = JSON.stringify(await database.run(`select * from ${table}`));
  expect(rows).toContain(id);
  expect(rows).not.toContain(key);
  const wrong = `${id}.${'A'.repeat(43)}`;
  const unknown = `${'0'.repeat(16)}.${key}`;
  const errors = [];
  for (const secret of [wrong, unknown, 'x', `${resume}x`, "' or true --"])
    errors.push((await resumeAt(server, secret)).reply);
  // Guesses take nothing from the one who has the session.
  expect((await turn(client, session_id, `${session_id}.a1`, 'Still here?')).not_kept).toBeUndefined();
  await database.run(`update ${table} set expires = now() - interval '1 second' where id = '${id}'`);
  errors.push((await resumeAt(server, resume)).reply);
  for (const error of errors)
    expect({ ...error, reply_to: 0 }).toEqual({ ...(errors[0] as object), reply_to: 0 });
  expect(errors[0]).toMatchObject({ type: 'Error', code: 2015 });
  // The next kept session removes it.
  await kept(server);
  expect(await database.run(`select 1 from ${table} where id = '${id}'`)).toEqual([]);
  expect(await database.run(`select 1 from ${table}_agents where session = '${id}'`)).toEqual([]);
});

it('a destroyed session and a destroyed agent leave nothing; a lost connection does', async () => {
  const { server } = await start();
  const { client, session_id, agent_id, resume } = await kept(server);
  const [id] = resume.split('.');
  const agents = () => database.run(`select number from ${table}_agents where session = '${id}'`);
  expect(await agents()).toHaveLength(1);
  expect(await ask(client, 'DestroyAgentRequest', { session_id, agent_id })).toMatchObject({ type: 'Ack' });
  expect(await agents()).toEqual([]);
  expect(await ask(client, 'DestroySessionRequest', { session_id })).toMatchObject({ type: 'Ack' });
  expect((await resumeAt(server, resume)).reply).toMatchObject({ code: 2015 });
  const lost = await kept(server);
  lost.client.destroy();
  expect((await resumeAt(server, lost.resume)).reply.agents).toHaveLength(1);
});

it('an agent that cannot be opened is named, and a CreateAgentRequest goes on with its history', async () => {
  const { server } = await start();
  const client = await server.raw();
  const { session_id, resume } = await ask<Created>(client, 'CreateSessionRequest', { keep: true });
  const docs = { name: 'docs', strings, embedding_model: 'tiny' };
  await ask(client, 'CreateEmbeddedStringStorageRequest', { session_id, ...docs });
  const nodes = [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs' } }, ...graph.nodes];
  const fields = { session_id, graph: { nodes } };
  const { agent_id } = await ask<{ agent_id: string }>(client, 'CreateAgentRequest', fields);
  await turn(client, session_id, agent_id, 'bees');
  const other = await resumeAt(server, resume as string);
  const { reply } = other;
  expect(reply.agents).toEqual([{ kept: 1, turns: 1, error: expect.objectContaining({ code: 3010 }) }]);
  const again = { ...fields, session_id: reply.session_id, kept: 1 };
  const create = () => ask<ServerFrames['CreateAgentResponse']>(other.client, 'CreateAgentRequest', again);
  expect(await create()).toMatchObject({ type: 'Error' });
  await ask(other.client, 'CreateEmbeddedStringStorageRequest', { ...docs, session_id: reply.session_id });
  const made = await create();
  expect(made).toMatchObject({ kept: 1 });
  expect(await texts(other.client, reply.session_id, made.agent_id)).toEqual(['bees']);
  expect(await create()).toMatchObject({ type: 'Error', code: 1004 });
});

it('the graph of an agent with a memory, which has its secret, is not kept', async () => {
  const { server } = await start();
  const client = await server.raw();
  const { session_id, resume } = await ask<Created>(client, 'CreateSessionRequest', { keep: true });
  const remember = {
    id: 'm',
    type: 'remember',
    params: { storage: 'm', embedding_model: 'tiny', scope: 'agent' },
  };
  const made = await ask<ServerFrames['CreateAgentResponse']>(client, 'CreateAgentRequest', {
    session_id,
    graph: { nodes: [remember, ...graph.nodes] },
  });
  const secret = made.memories?.[0]?.secret as string;
  const withSecret = { ...remember, params: { ...remember.params, secret } };
  await ask(client, 'CreateAgentRequest', { session_id, graph: { nodes: [withSecret, ...graph.nodes] } });
  const [id] = (resume as string).split('.');
  const rows = await database.run(`select * from ${table}_agents where session = '${id}'`);
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain(secret.split('.')[1]);
  expect((await resumeAt(server, resume as string)).reply.agents).toMatchObject([
    { kept: 1, error: { code: 2017 } },
    { kept: 2, error: { code: 2017 } },
  ]);
});

it('what was heard, and what was forgotten with its histories, is kept so', async () => {
  const { server } = await start();
  const { client, session_id, agent_id, resume } = await kept(server);
  const [id] = resume.split('.');
  const docs = { session_id, name: 'docs' };
  const secretText = 'The treasure lies under the third oak.';
  await ask(client, 'CreateEmbeddedStringStorageRequest', {
    ...docs,
    strings: [secretText, 'Something else.'],
    embedding_model: 'tiny',
  });
  const { turn_id, text } = await turn(client, session_id, agent_id, secretText);
  await ask(client, 'ReplyHeardRequest', { session_id, turn_id, characters: 1 });
  const turns = async () =>
    String((await database.run(`select turns from ${table}_agents where session = '${id}'`))[0]?.turns);
  expect(await turns()).toContain(`"reply":${JSON.stringify(text.slice(0, 1))},"interrupted":true`);
  expect(await turns()).toContain(secretText);
  await ask(client, 'ForgetEmbeddedStringStorageRequest', { ...docs, ids: ['0'], histories: true });
  expect(await turns()).not.toContain('treasure');
});

it('number, size and addresses are bounded', async () => {
  const { server } = await start({
    table: 'public.few',
    max_sessions: 2,
    max_session_mb: 1,
    expiry_hours: 7,
  });
  const one = await kept(server);
  const long = 'x'.repeat(700_000);
  expect((await turn(one.client, one.session_id, one.agent_id, long)).not_kept).toBeUndefined();
  const full = await turn(one.client, one.session_id, one.agent_id, long);
  expect(full).toMatchObject({
    status: 'completed',
    not_kept: { code: 2016, details: { field: 'session_store.max_session_mb', limit: 1_048_576 } },
  });
  const hours = `extract(epoch from expires - now()) / 3600`;
  const [expiry] = await database.run(`select ${hours} > 6.5 and ${hours} <= 7 as right from public.few`);
  expect(expiry?.right).toBe(true);
  await kept(server);
  const third = await ask(one.client, 'CreateSessionRequest', { keep: true });
  expect(third).toMatchObject({ code: 2016, details: { field: 'session_store.max_sessions', limit: 2 } });
  await ask(one.client, 'DestroySessionRequest', { session_id: one.session_id });
  await kept(server);
  const { server: narrow } = await start({ table: 'public.narrow', max_sessions_per_address: 1 });
  await kept(narrow);
  expect(await ask(await narrow.raw(), 'CreateSessionRequest', { keep: true })).toMatchObject({
    code: 2016,
    details: { field: 'session_store.max_sessions_per_address' },
  });
});

it('a client that keeps many sessions at once waits for itself, not others for it', async () => {
  const { server } = await start();
  const [greedy, other] = [await server.raw(), await server.raw()];
  let done = 0;
  const keep = () => ask<Created>(greedy, 'CreateSessionRequest', { keep: true }).then(() => done++);
  const flood = Array.from({ length: 60 }, keep);
  await Promise.race(flood);
  expect(await ask(other, 'CreateSessionRequest', { keep: true })).toMatchObject({
    resume: expect.any(String),
  });
  expect(done).toBeLessThan(60);
  await Promise.all(flood);
});

it('when the database is away, turns go on, and what was not kept is kept by the next turn', async () => {
  const lines: string[] = [];
  const { server } = await start({}, { log: createLog('warn', { write: (line) => void lines.push(line) }) });
  const { client, session_id, agent_id, resume } = await kept(server);
  await database.run(`alter table ${table}_agents rename to hidden`);
  const complete = await turn(client, session_id, agent_id, 'Are you there?');
  await database.run(`alter table hidden rename to sessions_agents`);
  expect(complete).toMatchObject({ status: 'completed', not_kept: { code: 2017 } });
  expect(complete.text).not.toBe('');
  expect(JSON.stringify(complete)).not.toMatch(/relation|sessions_agents|42P01/);
  expect(lines.join('')).toContain('session_store: the database could not be used');
  expect((await turn(client, session_id, agent_id, 'And now?')).not_kept).toBeUndefined();
  const other = await resumeAt(server, resume);
  expect(other.reply.agents).toMatchObject([{ turns: 3 }]);
  const away = await start(
    {},
    { config: { connections: { main: { ...database.connection(), hosts: ['127.0.0.1:1'] } as never } } },
  );
  expect((await resumeAt(away.server, resume)).reply).toMatchObject({ type: 'Error', code: 2017 });
  const plain = await away.server.session();
  expect((await (await plain.createAgent({ graph: graph as never })).turn('Hi')).status).toBe('completed');
});

it('a session that ends keeps what an outage has left', async () => {
  const { server } = await start();
  const { client, session_id, agent_id, resume } = await kept(server);
  await database.run(`alter table ${table}_agents rename to hidden`);
  expect(await turn(client, session_id, agent_id, 'Two')).toMatchObject({ not_kept: { code: 2017 } });
  await database.run(`alter table hidden rename to sessions_agents`);
  client.destroy();
  await vi.waitFor(async () =>
    expect((await resumeAt(server, resume)).reply.agents).toMatchObject([{ turns: 2 }]),
  );
});

it('tables of knowledge bases and of others are left alone', async () => {
  await database.run('create table public.notes_base (marker text, format int)');
  await database.run("insert into public.notes_base values ('lorekeep knowledge base', 1)");
  await database.run('create table public.later_base (marker text, format int)');
  await database.run("insert into public.later_base values ('lorekeep sessions', 2)");
  for (const name of ['public.notes', 'public.later']) {
    const { server } = await start({ table: name });
    const client = await server.raw();
    expect(await ask(client, 'CreateSessionRequest', { keep: true })).toMatchObject({ code: 2017 });
  }
  const [found] = await database.run("select to_regclass('public.notes') as there");
  expect(found?.there).toBeNull();
});

it('a client that reconnects resumes by itself, with storages, and a program started anew by its secret', async () => {
  const first = await start();
  const port = first.server.port;
  const client = await connect({ port, reconnect: { attempts: 200, minDelayMs: 10, maxDelayMs: 50 } });
  onTestFinished(() => client.close());
  const session = await client.createSession({ keep: true });
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const retrieve = { id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs' } };
  const own = await session.createAgent({ graph: { nodes: [retrieve, ...graph.nodes] } as never });
  const plain = await session.createAgent({ graph: graph as never });
  for (const agent of [own, plain]) await agent.turn('One');
  await first.server.server.close();
  const second = await start({}, { config: { port } });
  for (const agent of [own, plain]) {
    const complete = await agent.turn('Two');
    expect([complete.status, complete.notKept]).toEqual(['completed', undefined]);
  }
  expect(second.models[0]?.prompts.at(-1)).toHaveLength(3);
  await client.close();
  const later = await (await second.server.connect()).createSession({ resume: session.resume as string });
  expect(later.resumed.map(({ kept: number }) => number)).toEqual([2]);
  const { turns } = await (later.resumed[0] as typeof own).export();
  expect(turns.map(({ text }) => text)).toEqual(['One', 'Two']);
  expect(later.unopened).toMatchObject([{ kept: 1, turns: 2, error: { code: 3010 } }]);
  await later.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const again = await later.createAgent({ graph: { nodes: [retrieve, ...graph.nodes] } as never, kept: 1 });
  expect((await again.export()).turns).toHaveLength(2);
});

it('mistakes of the config stop the start, and other servers refuse by name', async () => {
  const failing = (config: object) => expect(TestServer.start({ config }));
  await failing({ session_store: { connection: 'x' } }).rejects.toThrow(/session_store.connection: .*"x"/);
  const main = database.connection({ session: 'prefer-standby' }) as never;
  await failing({ connections: { main }, session_store: { connection: 'main' } }).rejects.toThrow(
    /prefer-standby/,
  );
  const found = TestServer.start({
    configIsFound: true,
    config: { connections: { main }, session_store: { connection: 'main' } },
  });
  await expect(found).rejects.toThrow(/connections count only/);
  const client = await (await TestServer.start()).raw();
  for (const fields of [{ keep: true }, { resume: 'x' }])
    expect(await ask(client, 'CreateSessionRequest', fields)).toMatchObject({ code: 1004 });
  const { session_id } = await ask<Created>(client, 'CreateSessionRequest');
  expect(await ask(client, 'CreateAgentRequest', { session_id, graph, kept: 1 })).toMatchObject({
    code: 1004,
  });
});

it.runIf(isRealDatabase)(
  'a role with the rights of the guide can keep and resume, and nothing else',
  async () => {
    await (await kept((await start({ table: 'public.granted' })).server)).client.destroy();
    const role = `keeper_${process.pid}`;
    await database.run(`create role ${role} login`);
    await database.run(`grant usage on schema public to ${role}`);
    await database.run(`grant select on public.granted_base to ${role}`);
    await database.run(
      `grant select, insert, update, delete on public.granted, public.granted_agents to ${role}`,
    );
    const main = database.connection({ user: role }) as never;
    const { server } = await start({ table: 'public.granted' }, { config: { connections: { main } } });
    const { resume, client, session_id } = await kept(server);
    expect((await resumeAt(server, resume)).reply.agents).toHaveLength(1);
    expect(await ask(client, 'DestroySessionRequest', { session_id })).toMatchObject({ type: 'Ack' });
  },
);
