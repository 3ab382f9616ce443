import {
  type ClientAgent,
  type ClientSession,
  connect,
  type Graph,
  type Knowledge,
  type TurnDiagnostics,
} from '../client/index.js';
import { showAnswer } from './answer.js';
import { printHits, printPlan, printQuestion, printStep } from './report.js';

/** Notes that the documentation does not contain, sent to the server in a request. */
const notes = [
  'Our own server listens on port 9200, because the label printer has had 9100 for years.',
  'Names of storages begin with the region of the game they belong to: north, harbour or marsh.',
  'Before a release the knowledge base is built anew, and all of its files are copied together.',
];

/** Questions, and the documentation pages that may answer them. */
const turns = [
  { question: 'Which error code says that a storage name is already taken?', pages: ['errors.md'] },
  { question: 'What happens to a client that does not read its replies?', pages: ['protocol.md'] },
  { question: 'On which port does our server listen?', pages: ['configuration.md'] },
];

/** A dense Retrieve node over the notes, then a hybrid one over the pages that each turn names. */
const graph: Graph = {
  nodes: [
    { id: 'notes', type: 'retrieve', params: { embedded_string_storage: 'notes', top_k: 1, threshold: 0.6 } },
    {
      id: 'docs',
      type: 'retrieve',
      params: {
        embedded_string_storage: 'docs',
        mode: 'hybrid',
        top_k: 2,
        filter: { in: [{ knowledge: 'path' }, { variable: 'pages' }] },
        highlight: true,
      },
    },
  ],
};

/**
 * A session with a storage from files and one from strings, an agent over both, three turns, and an answer. `talker`: the
 * language model that gives it, if there is one.
 */
export async function showSession(port: number, model: string, talker: string | undefined): Promise<void> {
  await using client = await connect({ port });
  const { server, version, protocol } = client.hello;
  printStep('client', `connected: ${server} ${version}, protocol ${protocol}`);
  const session = await client.createSession();
  printStep('session', session.id);
  await makeStorages(session, model);
  const agent = await session.createAgent({ graph, enableDiagnostics: true });
  printStep(
    'agent',
    `${agent.id}: "notes" by meaning, then "docs" by meaning and by words, filtered by page`,
  );
  for (const [index, turn] of turns.entries()) {
    printQuestion(index + 1, turn.question, turn.pages);
    await showTurn(agent, turn);
  }
  await showAnswer(session, talker);
}

async function makeStorages(session: ClientSession, embedding_model: string): Promise<void> {
  const started = performance.now();
  const docs = await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'docs/kb.json' });
  const opened = performance.now();
  const counts = `${docs.recordCount} records, ${docs.embeddingDim} dimensions`;
  printStep('storage', `"docs" from files: ${counts}, opened in ${Math.round(opened - started)} ms`);
  const inline = await session.createEmbeddedStringStorage({
    name: 'notes',
    strings: notes,
    embeddingModel: embedding_model,
  });
  const took = `embedded and indexed in ${Math.round(performance.now() - opened)} ms`;
  printStep('storage', `"notes" from ${inline.recordCount} strings of the request, ${took}`);
}

async function showTurn(agent: ClientAgent, { question, pages }: (typeof turns)[number]): Promise<void> {
  const turn = await agent.turn(question, { variables: { pages } });
  if (turn.status !== 'completed') throw new Error(`the turn ${turn.status}: ${turn.error?.message ?? ''}`);
  printHits(knowledge(turn.diagnostics));
  for (const node of turn.diagnostics?.nodes ?? []) printPlan(node);
}

function knowledge(diagnostics: TurnDiagnostics | undefined): Knowledge[] {
  return (diagnostics?.interaction ?? []).filter((component) => component._type === 'knowledge');
}
