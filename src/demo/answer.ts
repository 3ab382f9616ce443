import type { ClientSession, Graph, GraphNode } from '../client/index.js';
import { printAnswer, printStep } from './report.js';

const question = 'On which port does our server listen?';

/** The notes that fit a question best. */
const search: GraphNode = {
  id: 'notes',
  type: 'retrieve',
  params: { embedded_string_storage: 'notes', mode: 'hybrid', top_k: 1 },
};

/** Shows a reply with its sources: of a language model, or without one of the quote node. */
export async function showAnswer(session: ClientSession, model: string | undefined): Promise<void> {
  const node: GraphNode =
    model === undefined
      ? { id: 'answer', type: 'quote', params: { max_sentences: 2 } }
      : { id: 'answer', type: 'generate', params: { model, max_tokens: 40, temperature: 0 } };
  const graph: Graph = { nodes: [search, node] };
  const agent = await session.createAgent({ graph });
  process.stdout.write('\n');
  printStep('answer', model === undefined ? 'the quote node, from the notes' : model);
  const complete = await agent.turn(question);
  if (complete.status !== 'completed')
    throw new Error(`the turn ${complete.status}: ${complete.error?.message}`);
  printAnswer(question, complete);
}
