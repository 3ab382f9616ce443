// The demonstration of `npm start`: indexes docs/, serves it, and shows a client at work (docs/internals/building.md). `--port N`;
// `--once` ends it after the last answer.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeModel } from '../dist/lib/internal.js';
import { onStopSignal } from '../dist/src/cli/stop-signal.js';
import { connect } from '../dist/src/client/index.js';
import { configSchema } from '../dist/src/config/schema.js';
import { CatalogModels, indexFolder } from '../dist/src/knowledge/index.js';
import { createLog } from '../dist/src/log/log.js';
import { LorekeepServer } from '../dist/src/server/server.js';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';

const embeddingModel = 'lorekeep-mini';
const notes = [
  'Our own server listens on port 9200, because the label printer has had 9100 for years.',
  'Before a release the knowledge base is built anew, and all of its files are copied together.',
];
/** Questions, and the page of the documentation that each is asked of. */
const questions = [
  ['Which error code says that a storage name is already taken?', 'reference/errors.md'],
  ['What happens to a client that does not read its replies?', 'reference/protocol.md'],
  ['On which port does our server listen?', 'reference/configuration.md'],
];
const retrieve = (storage, params) => ({
  id: storage,
  type: 'retrieve',
  params: { embedded_string_storage: storage, mode: 'hybrid', ...params },
});
const print = (title, text) => console.log(title.padEnd(14) + text);
/** Indents a text, in lines of less than 100 columns. */
const wrapped = (text) => text.replace(/\s+/g, ' ').replace(/(.{1,88})( |$)/g, '       $1\n');

await runScript('lorekeep', async (args) => {
  const options = { port: { type: 'string', default: '9100' }, once: { type: 'boolean' } };
  const { values } = parseArgs({ options, args });
  const folder = join(root, '.cache', 'demo');
  await mkdir(folder, { recursive: true });
  const { catalog, talker } = await catalogWithLanguageModel(folder);
  print(
    'model',
    `${embeddingModel}; to answer: ${talker ?? 'none, so the quote node (see LOREKEEP_MODELS)'}`,
  );
  const models = await CatalogModels.open(catalog);
  const place = { folder: join(root, 'docs'), output: join(folder, 'docs'), chunkSize: 300 };
  const { files, records } = await indexFolder({ ...place, models, model: embeddingModel });
  await models.close();
  print('knowledge', `${records} passages of ${files} pages of documentation`);
  const access = { port: Number(values.port), storage_root: folder, models_catalog_path: catalog };
  const config = configSchema.parse({ ...access, include_interaction_in_diagnostics: true });
  const server = await LorekeepServer.start({ config, log: createLog('warn') }).catch((error) => {
    throw new Stop(error.message);
  });
  onStopSignal(() => server.close());
  print('server', `listening on 127.0.0.1:${server.port}`);
  await showClient(server.port, talker);
  if (values.once) return server.close();
  console.log(`\nserver stays up on 127.0.0.1:${server.port}; press Ctrl-C to stop`);
});

/** A storage of files and one of strings, an agent over both, a turn for each question, and an answer. */
async function showClient(port, talker) {
  const client = await connect({ port });
  const session = await client.createSession();
  const docs = await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'docs/kb.json' });
  print('storage', `"docs" from files: ${docs.recordCount} records, ${docs.embeddingDim} dimensions`);
  const inline = await session.createEmbeddedStringStorage({ name: 'notes', strings: notes, embeddingModel });
  print('storage', `"notes" from ${inline.recordCount} strings of the request`);
  const filter = { in: [{ knowledge: 'path' }, { variable: 'pages' }] };
  const search = [retrieve('notes', { top_k: 1 }), retrieve('docs', { top_k: 2, filter, highlight: true })];
  const agent = await session.createAgent({ graph: { nodes: search }, enableDiagnostics: true });
  print('agent', `${agent.id}: "notes", then "docs" filtered by page, both by meaning and by words`);
  for (const [index, [question, page]] of questions.entries()) {
    const { diagnostics } = await agent.turn(question, { variables: { pages: [page] } });
    console.log(`\n${index + 1}. "${question}" (page: ${page})`);
    for (const { _type, node, rank, score, id, text, snippet } of diagnostics.interaction) {
      if (_type !== 'knowledge') continue;
      const shown = snippet?.map((part) => part.text).join('') ?? text;
      process.stdout.write(`   ${node} #${rank}  score ${score.toFixed(4)}  ${id}\n${wrapped(shown)}`);
    }
  }
  const generate = { id: 'say', type: 'generate', params: { model: talker, max_tokens: 40, temperature: 0 } };
  const quote = { id: 'say', type: 'quote', params: { max_sentences: 2 } };
  const answering = await session.createAgent({ graph: { nodes: [search[0], talker ? generate : quote] } });
  const { status, error, text, citations = [] } = await answering.turn(questions[2][0]);
  if (status !== 'completed') throw new Error(`the turn ${status}: ${error?.message}`);
  print('\nanswer', ` by ${talker ?? 'the quote node'}, to question 3:`);
  process.stdout.write(`${wrapped(text)}${citations.map(({ id }) => `       - ${id}\n`).join('')}`);
  await client.close();
}

/** The package's catalog; with a language model of the folder of models if it has one, whose header promises enough context. */
async function catalogWithLanguageModel(folder) {
  const shipped = join(root, 'data', 'models.json');
  const place = resolve(process.env.LOREKEEP_MODELS || join(root, '..', 'shared', 'models'));
  const files = (await readdir(place).catch(() => [])).filter((name) => name.endsWith('.gguf'));
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(place, name))).size));
  const bySize = files.toSorted((a, b) => sizes[files.indexOf(a)] - sizes[files.indexOf(b)]);
  for (const name of bySize) {
    const header = await describeModel(join(place, name)).catch(() => ({ architecture: 'bert' }));
    if (header.architecture === 'bert' || header.poolingType || !(header.contextLength >= 2048)) continue;
    const { version, models } = JSON.parse(await readFile(shipped, 'utf8'));
    for (const variant of models.flatMap(({ variants }) => variants))
      variant.file &&= resolve(shipped, '..', variant.file);
    models.push({ name, model_type: 'llm', variants: [{ file: join(place, name), context_size: 2048 }] });
    await writeFile(join(folder, 'models.json'), JSON.stringify({ version, models }));
    return { catalog: join(folder, 'models.json'), talker: name };
  }
  return { catalog: shipped, talker: undefined };
}
