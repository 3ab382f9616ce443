import { describe, expect, it } from 'vitest';
import type { ClientSession, Graph } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { TestServer } from './test-server.js';

const storage = 'memory';

/** An agent that looks into its memory, and then remembers the message. */
const graph = (params: object = {}, retrieve: object = {}): Graph => ({
  nodes: [
    {
      id: 'recall',
      type: 'retrieve',
      params: { embeddedStringStorage: storage, topK: 5, mode: 'lexical', emit: true, ...retrieve },
    },
    { id: 'keep', type: 'remember', params: { storage, embeddingModel: 'tiny', ...params } },
  ],
});

async function made(params: object = {}, config: object = {}) {
  const session = await (await TestServer.start({ config })).session();
  return { session, agent: await session.createAgent({ graph: graph(params), enableDiagnostics: true }) };
}

const textsOf = async (session: ClientSession) =>
  (await session.listRecords({ name: storage })).records.map(({ text }) => text);

describe('a node remember', () => {
  it('adds what was said as records that the agent and requests find', async () => {
    const { session, agent } = await made();
    expect(agent.memories).toEqual([{ node: 'keep', storage, scope: 'session', created: true }]);
    const first = await agent.turn('Bees dance in the hive.');
    expect(first).toMatchObject({ status: 'completed', hits: [] });
    expect(first.memory).toMatchObject([
      {
        node: 'keep',
        storage,
        version: 1,
        remembered: [{ text: 'Bees dance in the hive.', change: 'added' }],
      },
    ]);
    const { hits } = await agent.turn('Who does dance?');
    expect(hits?.map(({ text }) => text)).toEqual(['Bees dance in the hive.']);
    expect(hits?.[0]?.metadata).toMatchObject({
      kind: 'said',
      speaker: 'user',
      scope: 'session',
      turn: expect.stringMatching(/^s\d+\.t1$/),
      count: 1,
      importance: 0.5,
    });
    const time = Date.parse(String(hits?.[0]?.metadata?.time));
    expect(Math.abs(Date.now() - time)).toBeLessThan(600_000);
    expect(await textsOf(session)).toEqual(['Bees dance in the hive.']);
    const all = await session.createAgent({ graph: graph({ questions: true }) });
    for (const text of ['Who does dance?', '誰が踊る？', '(Who sings?) ']) await all.turn(text);
    for (const text of ['Who hums?', '誰が歌う？', '("Why?")']) await agent.turn(text);
    expect(await textsOf(session)).toEqual([
      'Bees dance in the hive.',
      'Who does dance?',
      '誰が踊る？',
      '(Who sings?)',
    ]);
  });

  it('merges the same statement, whatever its case, blanks and final mark', async () => {
    const { session, agent } = await made();
    await agent.turn('Glaciers grind valleys.');
    const again = await agent.turn('  glaciers   GRIND valleys!');
    expect(again.memory?.[0]?.remembered).toMatchObject([{ change: 'merged' }]);
    const { records, total } = await session.listRecords({ name: storage });
    expect(total).toBe(1);
    expect(records[0]).toMatchObject({ text: 'glaciers   GRIND valleys!', metadata: { count: 2 } });
    expect(Date.parse(String(records[0]?.metadata?.since))).toBeLessThanOrEqual(
      Date.parse(String(records[0]?.metadata?.time)),
    );
  });

  it('keeps contradictions with their times, or replaces them', async () => {
    for (const onConflict of ['keep', 'replace']) {
      const { session, agent } = await made({ subject: '{{variables.about}}', onConflict });
      const say = (text: string, about = '') => agent.turn(text, { variables: { about } });
      await say('The hive is yellow.', 'Colour of the hive');
      await say('Glaciers grind valleys.');
      const later = await say('The hive is blue.', 'colour of the  HIVE');
      expect(later.memory?.[0]?.remembered[0]?.replaced).toHaveLength(1);
      const { records } = await session.listRecords({ name: storage });
      const byText = new Map(records.map(({ text, metadata }) => [text, metadata]));
      expect(byText.get('The hive is blue.')).toMatchObject({ subject: 'colour of the hive' });
      expect(byText.get('The hive is blue.')).not.toHaveProperty('until');
      expect(byText.has('The hive is yellow.')).toBe(onConflict === 'keep');
      if (onConflict === 'keep')
        expect(byText.get('The hive is yellow.')?.until).toBe(byText.get('The hive is blue.')?.time);
      expect(byText.has('Glaciers grind valleys.')).toBe(true);
    }
  });

  it('succeeds the earlier statement also after more than a hundred others about its subject', async () => {
    const { session, agent } = await made({ subject: 'tide' });
    const ended = Array.from({ length: 120 }, (_, n) => ({
      id: `t${n}`,
      text: `The tide was ${n}.`,
      metadata: { subject: 'tide', until: n + 1 },
    }));
    await session.updateEmbeddedStringStorage({ name: storage, add: ended });
    await agent.turn('Bees dance.');
    await agent.turn('Glaciers grind valleys.');
    const filter = { until: { exists: false } };
    const { records } = await session.listRecords({ name: storage, filter });
    expect(records.map(({ text }) => text)).toEqual(['Glaciers grind valleys.']);
  });

  it('keeps the same words about different subjects apart', async () => {
    for (const mergeSimilarity of [0.97, 1]) {
      const { session, agent } = await made({ subject: '{{variables.about}}', mergeSimilarity });
      for (const about of ['', 'Ann', 'Bob', 'Ann', 'Carl', 'ann'])
        await agent.turn('The hive is empty.', { variables: { about } });
      const { records } = await session.listRecords({ name: storage });
      const counts = records.map(({ metadata }) => [metadata?.subject, metadata?.count]);
      expect(new Map(counts as [string, number][])).toEqual(
        new Map([
          ['ann', 4],
          ['bob', 1],
          ['carl', 1],
        ]),
      );
    }
  });

  it('remembers only what its condition, template, kinds and speakers let through', async () => {
    const { session, agent } = await made({
      condition: '{{#variables.keep}}yes{{/variables.keep}}',
      template: '{{speaker}} ({{kind}}): {{text}}',
      speaker: '{{variables.player}}',
    });
    await agent.turn('Bees dance.', { variables: { player: 'Ann' } });
    await agent.turn('Glaciers grind.', { variables: { keep: true, player: 'Bob' } });
    expect(await textsOf(session)).toEqual(['Bob (said): Glaciers grind.']);
    const [record] = (await session.listRecords({ name: storage })).records;
    expect(record?.metadata).toMatchObject({ speaker: 'Bob' });
  });

  it('remembers replies of nodes before it, unless told to hear the user alone', async () => {
    for (const speakers of [undefined, ['user'] as const, ['agent'] as const]) {
      const session = await (await TestServer.start()).session();
      const params = { storage, embeddingModel: 'tiny', ...(speakers && { speakers }) };
      const nodes = [
        { id: 'quote', type: 'quote', params: { fallback: 'I know nothing.' } },
        { id: 'keep', type: 'remember', params },
      ] as Graph['nodes'];
      const agent = await session.createAgent({ graph: { nodes } });
      await agent.turn('Bees dance.');
      const all = speakers ?? ['user', 'agent'];
      const texts = all.map((speaker) => (speaker === 'user' ? 'Bees dance.' : 'I know nothing.'));
      expect(await textsOf(session)).toEqual(texts);
    }
  });

  it('fails a turn whose template costs too much, and remembers nothing of it', async () => {
    const nested = `${'{{#knowledge}}'.repeat(12)}x${'{{/knowledge}}'.repeat(12)}`;
    const records = Array.from({ length: 40 }, (_, index) => ({ id: `r${index}`, text: `bees ${index}` }));
    const hostile: [object, string][] = [
      [{ template: nested }, 'template'],
      [{ condition: nested }, 'condition'],
      [{ subject: nested }, 'subject'],
      [{ speaker: nested }, 'speaker'],
      [{ template: `{{variables}}${'{{text}}'.repeat(2000)}` }, 'template'],
    ];
    for (const [params, param] of hostile) {
      const session = await (await TestServer.start()).session();
      const agent = await session.createAgent({ graph: graph(params, { topK: 40 }) });
      await session.updateEmbeddedStringStorage({ name: storage, add: records });
      const { status, error } = await agent.turn('bees '.repeat(40));
      expect(
        [status, error?.code, (error?.details as { path?: string } | undefined)?.path],
        JSON.stringify(params).slice(0, 80),
      ).toEqual(['failed', 4003, `graph.nodes[1].params.${param}`]);
      expect((await session.listRecords({ name: storage })).total).toBe(40);
    }
  });

  it('reads only data in its templates', async () => {
    const { session, agent } = await made({
      template:
        '{{constructor}}{{__proto__}}{{variables.constructor}}{{{variables.html}}}|{{> /etc/passwd}}|{{text.length}}',
    });
    await agent.turn('Bees.', { variables: { html: '<b>&amp;' } });
    expect(await textsOf(session)).toEqual(['<b>&amp;||5']);
  });

  it('finds later and more important statements first, if told to', async () => {
    const session = await (await TestServer.start()).session();
    const agent = await session.createAgent({ graph: graph({ importance: 0.25 }) });
    await agent.turn('Bees dance.');
    const early = new Date(Date.now() - 86_400_000).toISOString();
    await session.updateEmbeddedStringStorage({
      name: storage,
      add: [{ id: 'old', text: 'Bees dance.', metadata: { time: early, importance: 1 } }],
    });
    const first = async (more: object) =>
      (await session.search({ name: storage, text: 'bees dance', topK: 2, mode: 'dense', ...more })).hits[0]
        ?.id;
    expect(await first({ recency: { halfLifeS: 3600 } })).not.toBe('old');
    expect(await first({ importance: {} })).toBe('old');
    expect(await first({ recency: { halfLifeS: 3600, weight: 0.1 }, importance: { weight: 0.9 } })).toBe(
      'old',
    );
    const recall = graph({}, { mode: 'dense', importance: { weight: 1 } });
    const other = await session.createAgent({ graph: { nodes: recall.nodes.slice(0, 1) } });
    expect((await other.turn('bees dance')).hits?.[0]?.id).toBe('old');
    const refused = await refusal(
      session.search({ name: storage, text: 'bees', recency: { field: 'kind' } }),
    );
    expect([refused.code, refused.details.path]).toEqual([1004, 'recency.field']);
  });

  it('changes nothing in a turn of the past or a dry run', async () => {
    const { session, agent } = await made();
    await agent.turn('Bees dance.');
    const past = await agent.turn('Bees sing.', { asOf: { [storage]: 0 } });
    expect([past.status, past.hits, past.memory]).toEqual(['completed', [], undefined]);
    await agent.turn('Bees hum.', { dryRun: true });
    expect(await textsOf(session)).toEqual(['Bees dance.']);
  });

  it('makes several records of a text that is too long for the model', async () => {
    const { session, agent } = await made();
    const long = Array.from({ length: 200 }, (_, index) => `Bees dance in hive number ${index}.`).join(' ');
    const turn = await agent.turn(long);
    expect(turn.status).toBe('completed');
    const texts = await textsOf(session);
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.join(' ')).toBe(long);
    for (const text of texts) expect(text.endsWith('.')).toBe(true);
  });

  it('is refused where its params contradict, where the name is taken, and where nobody may write', async () => {
    const { session } = await made();
    const create = (params: object) => session.createAgent({ graph: graph(params) });
    const cases: [object, number, string][] = [
      [{ scope: 'name' }, 4003, 'name'],
      [{ name: 'x' }, 4003, 'name'],
      [{ secret: 'x' }, 4003, 'secret'],
      [{ onConflict: 'replace' }, 4003, 'on_conflict'],
      [{ embeddingModel: 'nobody' }, 4003, 'embedding_model'],
      [{ storage: '../up' }, 8001, 'storage'],
      [{ storage, embeddingModel: 'prefixed' }, 8002, 'storage'],
      [{ template: '{{#open}}' }, 4003, 'template'],
      [{ kinds: ['heard'] }, 4003, 'kinds[0]'],
    ];
    for (const [params, code, param] of cases) {
      const error = await refusal(create(params));
      expect([error.code, error.details.path], JSON.stringify(params)).toEqual([
        code,
        `graph.nodes[1].params.${param}`,
      ]);
    }
    await session.createEmbeddedStringStorage({ name: 'inline', strings: ['x'], embeddingModel: 'tiny' });
    expect((await refusal(create({ storage: 'inline' }))).code).toBe(8002);
    const closed = await (await TestServer.start({ config: { storage_writes: 'none' } })).session();
    expect((await refusal(closed.createAgent({ graph: graph() }))).code).toBe(8012);
  });

  it('is the memory of all agents of the session with that storage, and goes with the session', async () => {
    const server = await TestServer.start();
    const client = await server.connect();
    const session = await client.createSession();
    const [one, two] = [
      await session.createAgent({ graph: graph() }),
      await session.createAgent({ graph: graph() }),
    ];
    expect([one.memories[0]?.created, two.memories[0]?.created]).toEqual([true, false]);
    await one.turn('Bees dance.');
    expect((await two.turn('Who does dance?')).hits?.map(({ text }) => text)).toEqual(['Bees dance.']);
    const other = await client.createSession();
    const stranger = await other.createAgent({ graph: graph() });
    expect((await stranger.turn('Who does dance?')).hits).toEqual([]);
    await session.destroyEmbeddedStringStorage(storage);
    expect((await one.turn('Who does dance?')).status).toBe('completed');
    const fresh = await session.createAgent({ graph: graph() });
    expect(fresh.memories[0]?.created).toBe(true);
    expect((await fresh.turn('Who does dance?')).hits).toEqual([]);
  });
});
