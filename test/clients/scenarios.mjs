// What every client is proven to do, by the client in TypeScript: scenarios.mjs CLIENT PORT CUTTABLE_PORT NAME=PORT...
import assert from 'node:assert/strict';

const [from, port, cuttable, ...hostile] = process.argv.slice(2);
const { connect, ServerError, ServerStartError, startServer } = await import(from);
const weird = 'öfter 日本語 🐝 "quoted" back\\slash\ttab\u2028 İıſ';
const graph = { nodes: [{ id: 'talker', type: 'generate' }] };
const talker = (session) => session.createAgent({ graph });
const lost = { name: 'ConnectionLostError' };

const scenarios = {
  'creates a session': async (client) => {
    const session = await client.createSession();
    assert.ok((await client.status()).sessions >= 1);
    await session.destroy();
  },
  'searches a storage of records': async (client) => {
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({
      name: 'docs',
      records: [
        { id: 'b', text: 'Honey bees dance in the hive', metadata: { year: 1999 } },
        { id: 'g', text: 'Glaciers grind valleys', metadata: { year: 2005 } },
      ],
      fields: [{ name: 'year', type: 'int', optional: true }],
      embeddingModel: 'tiny',
    });
    const found = await session.search({ name: 'docs', text: 'bees', mode: 'lexical', topK: 1 });
    assert.deepEqual(
      found.hits.map(({ id, metadata }) => [id, metadata]),
      [['b', { year: 1999 }]],
    );
    const filter = { '>': [{ knowledge: 'year' }, 2000] };
    const later = await session.search({ name: 'docs', text: 'bees', threshold: 1.5, filter });
    assert.deepEqual(
      later.hits.map(({ id }) => id),
      ['g'],
    );
  },
  'streams a turn': async (client) => {
    const agent = await talker(await client.createSession());
    const events = [];
    for await (const event of agent.stream('hello')) events.push(event);
    assert.equal(events[0].type, 'TurnStarted');
    const pieces = events.filter(({ type }) => type === 'TurnText').map(({ text }) => text);
    assert.deepEqual([pieces.join(''), events.at(-1).text], ['one two three', 'one two three']);
  },
  'cancels a turn': async (client) => {
    const agent = await talker(await client.createSession());
    for await (const event of agent.stream('hang')) if (event.type === 'TurnText') break;
    assert.equal((await agent.turn('hello')).status, 'completed');
  },
  'tells errors by code': async (client) => {
    const session = await client.createSession();
    await assert.rejects(
      session.search({ name: 'nothing', text: 'x' }),
      (error) => error instanceof ServerError && error.code === 8005 && error.remedy.length > 0,
    );
    await assert.rejects(session.search({ name: 'nothing', text: 'x', topK: 0 }), {
      code: 1004,
      details: { path: 'top_k' },
    });
    await client.ping();
  },
  'updates and forgets records': async (client) => {
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({
      name: 'docs',
      strings: ['a bee', 'a glacier'],
      embeddingModel: 'tiny',
    });
    const add = [{ id: 'x', text: 'a loaf' }];
    const changed = await session.updateEmbeddedStringStorage({ name: 'docs', add, remove: ['0'] });
    assert.deepEqual([changed.added, changed.removed, changed.recordCount], [1, 1, 2]);
    await assert.rejects(session.updateEmbeddedStringStorage({ name: 'docs', add }), { code: 8007 });
    assert.equal((await session.forgetRecords({ name: 'docs', ids: ['x'] })).forgotten, 1);
    assert.deepEqual((await session.getRecords({ name: 'docs', ids: ['1', 'x'] })).missing, ['x']);
  },
  'sends and receives a large frame': async (client) => {
    const session = await client.createSession();
    const records = Array.from({ length: 16 }, (_, index) => ({
      ...{ id: `${index}`, text: 'bees', metadata: { blob: `${index}é`.repeat(100_000) } },
    }));
    const fields = [{ name: 'blob', type: 'string', optional: true, filterable: false }];
    await session.createEmbeddedStringStorage({ name: 'big', records, fields, embeddingModel: 'tiny' });
    const got = await session.getRecords({ name: 'big', ids: records.map(({ id }) => id) });
    assert.deepEqual(
      got.records.map(({ metadata }) => metadata.blob),
      records.map(({ metadata }) => metadata.blob),
    );
  },
  'keeps text that is not ASCII': async (client) => {
    const session = await client.createSession();
    const records = [{ id: weird, text: weird }];
    await session.createEmbeddedStringStorage({ name: 'docs', records, embeddingModel: 'tiny' });
    const { hits } = await session.search({ name: 'docs', text: 'öfter', mode: 'lexical' });
    assert.deepEqual([hits[0].id, hits[0].text], [weird, weird]);
    assert.equal((await (await talker(session)).turn(`echo ${weird}`)).text, weird);
  },
  'keeps integers of 64 bits': async (client) => {
    const session = await client.createSession();
    // JavaScript has no exact numbers of this size: they are written as texts.
    const values = [`${2n ** 63n - 1n}`, `${-(2n ** 63n)}`, `${2n ** 53n + 1n}`];
    await session.createEmbeddedStringStorage({
      name: 'docs',
      records: values.map((n) => ({ id: n, text: 'bees', metadata: { n } })),
      fields: [{ name: 'n', type: 'int', optional: true }],
      embeddingModel: 'tiny',
    });
    const { records } = await session.getRecords({ name: 'docs', ids: values });
    assert.deepEqual(
      records.map(({ metadata }) => metadata.n),
      values,
    );
  },
  'runs two turns at once': async (client) => {
    const session = await client.createSession();
    const [slow, quick] = [await talker(session), await talker(session)];
    const stop = new AbortController();
    const waiting = slow.turn('hang', { signal: stop.signal });
    assert.equal((await quick.turn('hello')).text, 'one two three');
    stop.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
  },
  throttles: async (client) => {
    for (const level of [0.5, 0]) {
      await client.reportThrottle(level);
      assert.equal((await client.status()).throttle, level);
    }
  },
  'forgets what is confirmed': async (client) => {
    const session = await client.createSession();
    const keep = { storage: 'memory', embeddingModel: 'tiny', condition: ' ' };
    const nodes = [
      { id: 'talker', type: 'generate', params: { memory: 'keep' } },
      { id: 'keep', type: 'remember', params: keep },
    ];
    const agent = await session.createAgent({ graph: { nodes } });
    const add = [{ id: 'bees', text: 'Bees dance.' }];
    await session.updateEmbeddedStringStorage({ name: 'memory', add });
    const complete = await agent.turn('forget Bees dance', { onForget: () => ['bees'] });
    assert.deepEqual(
      complete.memory.map(({ forget, forgotten }) => [forget, forgotten]),
      [['confirmed', ['bees']]],
    );
  },
  'says that the server went away': async () => {
    const client = await connect({ port: Number(cuttable) });
    const session = await client.createSession();
    const agent = await talker(session);
    await assert.rejects(hang(agent), lost);
    await assert.rejects(session.listModels(), lost);
    await (await connect({ port: Number(cuttable) })).close();
  },
  'makes everything again on another connection': async () => {
    const states = [];
    const client = await connect({
      port: Number(cuttable),
      reconnect: { minDelayMs: 10 },
      onState: (state) => states.push(state),
    });
    await (await client.createSession()).destroy();
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({
      name: 'docs',
      strings: ['a bee', 'a glacier'],
      embeddingModel: 'tiny',
    });
    await session.updateEmbeddedStringStorage({ name: 'docs', add: [{ id: 'x', text: 'a loaf' }] });
    await session.forgetRecords({ name: 'docs', ids: ['0'] });
    const [agent, other] = [await talker(session), await talker(session)];
    await agent.turn('hello');
    await assert.rejects(hang(other), lost);
    assert.equal((await agent.turn('recall')).text, 'hello|recall');
    assert.deepEqual(states, ['reconnecting', 'connected']);
    const { records } = await session.listRecords({ name: 'docs' });
    assert.deepEqual(
      records.map(({ id, text }) => [id, text]),
      [
        ['1', 'a glacier'],
        ['x', 'a loaf'],
      ],
    );
    await client.close();
  },
  'starts and ends a server': async () => {
    const { CHILD_CONFIG: config, CHILD_DATA: dataDir } = process.env;
    const server = await startServer({ config, dataDir, timeoutMs: 300_000 });
    const client = await connect(server);
    await client.createSession();
    const stranger = await connect({ port: server.port });
    await assert.rejects(stranger.createSession(), { code: 2010 });
    await Promise.all([client.close(), stranger.close()]);
    assert.equal((await server.close()).code, 0);
    await assert.rejects(startServer({ config: 'absent.json' }), ServerStartError);
  },
};

/** Takes a turn without end, whose connection is cut when it has begun. */
async function hang(agent) {
  for await (const event of agent.stream('hang')) if (event.type === 'TurnStarted') console.log('DROP');
}

/** A server that keeps no protocol: a call fails, and nothing hangs. Silent ones are left by the signal of the call. */
async function meets(name, at) {
  // JSON of any depth is JSON here, and unknown fields are ignored: the deep greeting is one.
  const isSilent = ['silent', 'mute', 'stall', 'deep'].includes(name);
  const signal = AbortSignal.timeout(isSilent ? 500 : 20_000);
  let client;
  try {
    client = await connect({ port: Number(at), signal });
    await client.ping({ signal });
    assert.equal(name, 'drip');
  } catch (error) {
    assert.notEqual(name, 'drip');
    if (isSilent) assert.equal(error.name, 'TimeoutError');
    else assert.equal(error.name, 'ConnectionLostError');
  } finally {
    await client?.close();
  }
}

const client = await connect({ port: Number(port) });
for (const [name, run] of Object.entries(scenarios)) {
  await run(client);
  console.log(`ok ${name}`);
}
for (const given of hostile) {
  const [name, at] = given.split('=');
  await meets(name, at);
  console.log(`ok hostile ${name}`);
}
await client.close();
