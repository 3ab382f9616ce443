import type { ClientAgent, ClientSession, Graph, ServerFrames } from '../../src/client/index.js';
import type { ServerConfig } from '../../src/config/schema.js';
import { type FakeOptions, FakeTextModel } from '../helpers/fake-text-model.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

/** A retrieve node on the storage "docs". */
export const kb = (params: object = {}): Graph['nodes'][number] =>
  retrieveGraph({ mode: 'hybrid', top_k: 3, ...params }).nodes[0] as Graph['nodes'][number];
/** A generate node without a system text, greedy. */
export const talker = (params: object = {}, id = 'talker'): Graph['nodes'][number] => ({
  id,
  type: 'generate',
  params: { system: '', temperature: 0, ...params },
});

export interface Setting {
  model: FakeTextModel;
  session: ClientSession;
  agentOf(nodes: Graph['nodes'], more?: object): Promise<ClientAgent>;
}

/** A server with a fake model, and the storage "docs". */
export async function setting(
  options: FakeOptions = {},
  config: Partial<ServerConfig> = {},
): Promise<Setting> {
  const model = new FakeTextModel(options);
  const server = await TestServer.start({ config, loadLanguageModel: async () => model });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const agentOf = (nodes: Graph['nodes'], more: object = {}) =>
    session.createAgent({ graph: { nodes }, enableDiagnostics: true, ...more });
  return { model, session, agentOf };
}

/** The frames of a turn: the pieces of text, and its end. */
export async function streamed(
  agent: ClientAgent,
  text: string,
): Promise<{ pieces: ServerFrames['TurnText'][]; complete: ServerFrames['TurnComplete'] }> {
  const pieces: ServerFrames['TurnText'][] = [];
  let complete: ServerFrames['TurnComplete'] | undefined;
  for await (const event of agent.stream(text)) {
    if (event.type === 'TurnText') pieces.push(event);
    if (event.type === 'TurnComplete') complete = event;
  }
  if (complete === undefined) throw new Error('the turn did not end');
  return { pieces, complete };
}

/** The texts of the last prompt. */
export const contents = ({ prompts }: FakeTextModel): string[] =>
  prompts.at(-1)?.map(({ content }) => content) ?? [];
export const lastPrompt = (model: FakeTextModel): string => contents(model).at(-1) ?? '';
