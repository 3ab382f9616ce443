import type { ClientSession, Graph } from '../client/index.js';
import { printAnswer, printStep } from './report.js';

const question = 'What happens to a client that does not read its replies?';

/** The best paragraphs of a page for a question, by meaning and by words. */
const search = {
  id: 'docs',
  type: 'retrieve',
  params: {
    embedded_string_storage: 'docs',
    mode: 'hybrid',
    top_k: 2,
    filter: { '==': [{ knowledge: 'page' }, 'protocol.md'] },
  },
};

/** Shows a reply with its sources: of a language model, or without one of the quote node. */
export async function showAnswer(session: ClientSession, model: string | undefined): Promise<void> {
  const node =
    model === undefined
      ? { id: 'answer', type: 'quote', params: { max_sentences: 2 } }
      : { id: 'answer', type: 'generate', params: { model, cite: 'marks', max_tokens: 60, temperature: 0 } };
  const graph: Graph = { nodes: [search, node] };
  const agent = await session.createAgent({ graph });
  process.stdout.write('\n');
  printStep('answer', model === undefined ? 'the quote node, from the same documentation' : model);
  const complete = await agent.turn(question);
  if (complete.status !== 'completed')
    throw new Error(`the turn ${complete.status}: ${complete.error?.message}`);
  printAnswer(question, complete);
}
