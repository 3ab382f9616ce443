import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientAgent, connect, type Graph } from '../../src/client/index.js';
import { configSchema } from '../../src/config/schema.js';
import { silentLog } from '../../src/log/log.js';
import { LorekeepServer } from '../../src/server/server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, smolLm } from '../helpers/real-models.js';

const file = temporaryFolder();

const notes = [
  'The lamp of the harbour is lit at dusk by Mara, who keeps the log.',
  'Bread rises faster in a warm kitchen than in a cold one.',
  'The ferry to the island leaves at seven in the morning.',
];

/** Lexical search, so that the only model is the language model. */
const graph = (cite: 'verbatim' | 'none'): Graph => ({
  nodes: [
    {
      id: 'kb',
      type: 'retrieve',
      params: { embeddedStringStorage: 'kb.json', mode: 'lexical', topK: 1 },
    },
    { id: 'talker', type: 'generate', params: { cite, temperature: 0, maxTokens: 24, seed: 1 } },
  ],
});

/** A server with SmolLM2, in which one thread computes, and a client. */
async function serving() {
  writeFileSync(
    file('records.json'),
    JSON.stringify(notes.map((text, index) => ({ id: `n${index}`, text }))),
  );
  writeFileSync(
    file('kb.json'),
    JSON.stringify({ embedding_model: 'lorekeep-mini', records_file: 'records.json' }),
  );
  const mini = { file: new URL('../../data/models/lorekeep-mini.gguf', import.meta.url).pathname };
  const models = [
    { name: 'lorekeep-mini', model_type: 'embedding', variants: [mini] },
    { name: 'talker', model_type: 'llm', variants: [{ file: realModel(smolLm), context_size: 1024 }] },
  ];
  writeFileSync(file('models.json'), JSON.stringify({ version: 1, models }));
  const config = configSchema.parse({
    port: 0,
    models_catalog_path: file('models.json'),
    storage_root: file(),
    engines: { llm_engine: { n_threads: 1, n_threads_batch: 1 } },
  });
  const server = await LorekeepServer.start({ config, log: silentLog() });
  const client = await connect({ port: server.port });
  const stop = async () => {
    await client.close();
    await server.close();
  };
  onTestFinished(stop);
  const session = await client.createSession();
  const agentOf = (cite: 'verbatim' | 'none', history?: Awaited<ReturnType<ClientAgent['export']>>) =>
    session.createAgent({ graph: graph(cite), enableDiagnostics: true, ...(history && { history }) });
  return { agentOf, stop };
}

/** One streamed turn: what was sent while it ran, and its end. */
async function turn(agent: ClientAgent, text: string) {
  let streamed = '';
  for await (const event of agent.stream(text)) {
    if (event.type === 'TurnText') streamed += event.text;
    if (event.type === 'TurnComplete') {
      expect(event.status).toBe('completed');
      expect(streamed).toBe(event.text);
      return event;
    }
  }
  throw new Error('the turn did not end');
}

describe.skipIf(!haveModels(smolLm))('a conversation with SmolLM2', { timeout: 600_000 }, () => {
  it('is grounded, remembers, and continues after a restart of the server', async () => {
    const first = await serving();
    const agent = await first.agentOf('none');
    const answer = await turn(agent, 'Who lights the lamp of the harbour?');
    expect(answer.text).toContain('Mara');
    const second = await turn(agent, 'When does the ferry leave?');
    expect(second.text.trim()).not.toBe('');
    expect(second.diagnostics?.nodes[1]).toMatchObject({ historyTurns: 1, knowledgeRecords: 1 });
    // The second prompt begins as the first one: the model's own system text is not computed again.
    expect(second.usage?.cached).toBeGreaterThan(10);
    const history = await agent.export();
    expect(history.turns).toEqual([
      { text: 'Who lights the lamp of the harbour?', reply: answer.text },
      { text: 'When does the ferry leave?', reply: second.text },
    ]);
    const { dryRun: expected } = await agent.turn('Where does bread rise faster?', { dryRun: true });
    await first.stop();

    const next = await serving();
    const restored = await next.agentOf('none', JSON.parse(JSON.stringify(history)));
    const { dryRun } = await restored.turn('Where does bread rise faster?', { dryRun: true });
    expect(dryRun).toEqual(expected);
    const third = await turn(restored, 'Where does bread rise faster?');
    expect(third.text.trim()).not.toBe('');
    expect(third.diagnostics?.nodes[1]).toMatchObject({ historyTurns: 2 });
    expect((await restored.export()).turns).toHaveLength(3);
  });

  it('cites what it quotes', async () => {
    const { agentOf } = await serving();
    // Earlier turns show the model how to quote.
    const turns = [
      ['When does the ferry leave?', notes[2]],
      ['Where does bread rise faster?', notes[1]],
    ].map(([text, note]) => ({ text: text as string, reply: `The note says: "${note}"` }));
    const agent = await agentOf('verbatim', { version: 1, turns });
    const { text, citations = [] } = await turn(agent, 'Who lights the lamp of the harbour?');
    const quoted = text.split('"').filter((part, index) => index % 2 === 1 && part !== '');
    expect(quoted.length, text).toBeGreaterThan(0);
    expect(citations.map(({ replyStart, replyEnd }) => text.slice(replyStart, replyEnd))).toEqual(quoted);
    for (const { id, start, end, replyStart, replyEnd, kind } of citations) {
      expect(kind).toBe('quote');
      expect(notes[Number(id.slice(1))]?.slice(start, end)).toBe(text.slice(replyStart, replyEnd));
    }
  });
});
