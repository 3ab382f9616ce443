import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, type ClientSession, connect, type ServerFrames } from '../../src/client/index.js';
import { configSchema } from '../../src/config/schema.js';
import { silentLog } from '../../src/log/log.js';
import { LorekeepServer } from '../../src/server/server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';

const file = temporaryFolder();

const greedy = { temperature: 0 };

/** With a real language model, which continues a text: the story of a girl named Lily. */
describe.skipIf(!haveModels(stories))('a generate node with stories260K', () => {
  let server: LorekeepServer;
  let client: Client;
  let session: ClientSession;

  beforeAll(async () => {
    const model = (name: string, more: object = {}) => ({
      name,
      model_type: 'llm',
      variants: [{ file: realModel(stories), ...more }],
    });
    const models = [model('stories'), model('short', { context_size: 64 })];
    writeFileSync(file('models.json'), JSON.stringify({ version: 1, models }));
    const config = configSchema.parse({
      port: 0,
      models_catalog_path: file('models.json'),
      include_engine_diagnostics: true,
    });
    server = await LorekeepServer.start({ config, log: silentLog() });
    client = await connect({ port: server.port });
    session = await client.createSession();
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  const agentOf = (params: object, more: object = {}) =>
    session.createAgent({
      graph: { nodes: [{ id: 'talker', type: 'generate', params: { system: '', ...params } }] },
      enableDiagnostics: true,
      ...more,
    });

  async function pieces(params: object, text = 'Once upon a time') {
    const found: ServerFrames['TurnText'][] = [];
    let complete: ServerFrames['TurnComplete'] | undefined;
    for await (const event of (await agentOf(params)).stream(text)) {
      if (event.type === 'TurnText') found.push(event);
      if (event.type === 'TurnComplete') complete = event;
    }
    return { texts: found.map((piece) => piece.text), complete: complete as ServerFrames['TurnComplete'] };
  }

  it('tells its greedy story, cut at max_tokens', async () => {
    const { texts, complete } = await pieces({ ...greedy, max_tokens: 40 });
    expect(complete.text).toMatch(/^, there was a little girl named Lily\./);
    expect(texts.join('')).toBe(complete.text);
    expect(complete).toMatchObject({ finish: 'length', usage: { completion: 40 } });
  });

  it('stops before a stop text', async () => {
    const { complete } = await pieces({ ...greedy, max_tokens: 60, stop: [' Lily'] });
    expect(complete).toMatchObject({ finish: 'stop_string', text: ', there was a little girl named' });
  });

  it('sends sentences to buffered consumers, and all at once to the background', async () => {
    const buffered = await pieces({ ...greedy, max_tokens: 80, class: 'interactive_buffered' });
    expect(buffered.texts.length).toBeGreaterThan(1);
    for (const sentence of buffered.texts.slice(0, -1)) expect(sentence.trimEnd()).toMatch(/[.!?"]$/);
    const background = await pieces({ ...greedy, max_tokens: 80, class: 'background' });
    expect(background.texts).toEqual([buffered.texts.join('')]);
  });

  it('draws the same text for the same seed, another one for another, and cold text at temperature 0', async () => {
    const text = async (params: object) =>
      (await pieces({ max_tokens: 30, temperature: 1, ...params })).complete.text;
    expect(await text({ seed: 1 })).toBe(await text({ seed: 1 }));
    expect(await text({ seed: 1 })).not.toBe(await text({ seed: 2 }));
    const cold = await text(greedy);
    for (const params of [{ top_k: 1 }, { top_p: 0.0001 }, { min_p: 1 }]) {
      expect(await text({ seed: 3, ...params }), JSON.stringify(params)).toBe(cold);
    }
    // Each penalty keeps the model from repeating itself as it does cold.
    for (const penalty of [{ repeat_penalty: 3 }, { frequency_penalty: 2 }, { presence_penalty: 2 }]) {
      expect(await text({ ...greedy, ...penalty }), JSON.stringify(penalty)).not.toBe(cold);
      expect(await text({ ...greedy, ...penalty, penalty_last_n: 0 })).toBe(cold);
    }
  });

  it('has the context that it asks for, and refuses a longer prompt with both numbers', async () => {
    const { complete } = await pieces({ ...greedy, context_size: 32, max_tokens: 16 }, 'Once '.repeat(40));
    expect(complete).toMatchObject({ status: 'failed', error: { code: 4016, details: { limit: 16 } } });
    expect(Number(complete.error?.code === 4016 && complete.error.details.tokens)).toBeGreaterThan(40);
    const roomy = await pieces({ ...greedy, max_tokens: 16 }, 'Once '.repeat(40));
    expect(roomy.complete.status).toBe('completed');
  });

  it('uses the model that it names, with the context of the catalog', async () => {
    const { complete } = await pieces({ ...greedy, model: 'short' });
    expect(complete.debugInfo?.nodes[0]?.diagnostics.engine).toMatchObject({
      kind: 'generation',
      model: 'short',
      contextSize: 64,
      finish: 'length',
      decodeTokens: 16,
    });
    const other = await pieces({ ...greedy, max_tokens: 1 });
    expect(other.complete.debugInfo?.nodes[0]?.diagnostics.engine).toMatchObject({ contextSize: 512 });
  });

  it('ends at its deadline with what there is', async () => {
    const { complete } = await pieces({ ...greedy, max_tokens: 400, deadline_ms: 1 });
    expect(complete).toMatchObject({ status: 'completed', finish: 'deadline' });
    expect(complete.usage?.completion).toBeLessThan(400);
  });

  it('computes only what is new when a turn repeats the history', async () => {
    const agent = await agentOf({ ...greedy, max_tokens: 20, context_size: 400 });
    await agent.turn('Once upon a time there was a dog. It had a big red ball.');
    const { usage, debugInfo } = await agent.turn('Then it ran.');
    expect(usage?.cached).toBeGreaterThan((usage?.prompt ?? 0) / 2);
    const engine = debugInfo?.nodes[0]?.diagnostics.engine;
    expect(engine).toMatchObject({ kind: 'generation', model: 'stories', device: 'CPU', finish: 'length' });
    if (engine?.kind !== 'generation') throw new Error('no generation');
    expect(engine.prefillTokens + engine.reusedTokens).toBe(usage?.prompt);
  });

  it('is cancelled in the middle, and its agent goes on', async () => {
    const agent = await agentOf({ ...greedy, max_tokens: 300 });
    for await (const event of agent.stream('Once upon a time')) if (event.type === 'TurnText') break;
    expect((await agent.turn('One day')).status).toBe('completed');
    const { turns } = await agent.export();
    expect(turns.map(({ text }) => text)).toEqual(['Once upon a time', 'One day']);
  });
});
