import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { onStopSignal } from '../cli/stop-signal.js';
import { type ClientAgent, connect, type Knowledge, type TurnDiagnostics } from '../client/index.js';
import { homeFolder } from '../config/home.js';
import { configSchema } from '../config/schema.js';
import { StartupError } from '../config/startup-error.js';
import { createLog } from '../log/log.js';
import { LorekeepServer } from '../server/server.js';
import { type Paragraph, readParagraphs } from './paragraphs.js';
import { printHits, printPlan, printQuestion, printStep } from './report.js';
import { tinyModelName, writeTinyCatalog } from './tiny-catalog.js';

/** What the documentation can answer. */
const questions = [
  'Which error code says that a storage name is already taken?',
  'What happens to a client that does not read its replies?',
  'How are vectors searched when a storage holds few records?',
];

const storageName = 'docs';

try {
  await demonstrate();
} catch (error) {
  const message = error instanceof StartupError ? error.message : (error as Error).stack;
  process.stderr.write(`lorekeep: ${message}\n`);
  process.exit(1);
}

async function demonstrate(): Promise<void> {
  const { port, once } = flags();
  const paragraphs = await readParagraphs(join(homeFolder, 'docs'), [join(homeFolder, 'README.md')]);
  const server = await startServer(port, paragraphs);
  onStopSignal(() => server.close());
  await showTurns(server.port, paragraphs);
  if (once) {
    await server.close();
    return;
  }
  const address = `127.0.0.1:${server.port}`;
  process.stdout.write(`\nserver stays up on ${address}; press Ctrl-C to stop\n`);
}

function flags(): { port: number; once: boolean } {
  const options = {
    port: { type: 'string', default: '9100' },
    once: { type: 'boolean', default: false },
  } as const;
  let values: { port: string; once: boolean };
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new StartupError((error as Error).message);
  }
  const port = configSchema.shape.port.safeParse(Number(values.port));
  if (!port.success)
    throw new StartupError(`--port: an integer from 0 to 65535 is expected, not ${values.port}`);
  return { port: port.data, once: values.once };
}

async function startServer(port: number, paragraphs: readonly Paragraph[]): Promise<LorekeepServer> {
  const texts = paragraphs.map(({ text }) => text);
  const model = await writeTinyCatalog(homeFolder, texts);
  const size = `${(model.bytes / 1e6).toFixed(1)} MB`;
  printStep('model', `a tiny one made from these documents: ${model.tokens} tokens, ${size}`);
  const config = configSchema.parse({
    port,
    models_catalog_path: model.catalog,
    include_interaction_in_diagnostics: true,
  });
  const server = await LorekeepServer.start({ config, log: createLog('warn') });
  printStep('server', `listening on 127.0.0.1:${server.port}`);
  return server;
}

async function showTurns(port: number, paragraphs: readonly Paragraph[]): Promise<void> {
  await using client = await connect({ port });
  printStep(
    'client',
    `connected: ${client.hello.server} ${client.hello.version}, protocol ${client.hello.protocol}`,
  );
  const session = await client.createSession();
  printStep('session', session.id);
  const strings = paragraphs.map(({ text }) => text);
  const started = performance.now();
  const fields = { name: storageName, strings, embedding_model: tinyModelName };
  const { record_count, embedding_dim } = await session.createEmbeddedStringStorage(fields);
  const took = `embedded and indexed in ${Math.round(performance.now() - started)} ms`;
  const sources = new Set(paragraphs.map(({ source }) => source)).size;
  printStep(
    'storage',
    `"${storageName}": ${record_count} paragraphs of ${sources} files, ${embedding_dim} dimensions, ${took}`,
  );
  const params = { embedded_string_storage: storageName, mode: 'hybrid', top_k: 3 };
  const graph = { nodes: [{ id: 'kb', type: 'retrieve', params }] };
  const agent = await session.createAgent({ graph, enable_diagnostics: true });
  printStep(
    'agent',
    `${agent.id}: one Retrieve node, by meaning and by words (hybrid), the best ${params.top_k}`,
  );
  for (const [index, question] of questions.entries()) {
    printQuestion(index + 1, question);
    await showTurn(agent, question, ({ id }) => paragraphs[Number(id)]?.source ?? '');
  }
}

async function showTurn(
  agent: ClientAgent,
  text: string,
  sourceOf: (hit: Knowledge) => string,
): Promise<void> {
  const turn = await agent.turn(text);
  if (turn.status !== 'completed') throw new Error(`the turn ${turn.status}: ${turn.error?.message ?? ''}`);
  printHits(knowledge(turn.diagnostics), sourceOf);
  const [node] = turn.diagnostics?.nodes ?? [];
  printPlan(node?.plan, node?.embed_ms ?? 0, node?.search_ms ?? 0);
}

function knowledge(diagnostics: TurnDiagnostics | undefined): Knowledge[] {
  return (diagnostics?.interaction ?? []).filter((component) => component._type === 'knowledge');
}
