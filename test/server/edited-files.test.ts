import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { buildKnowledgeBase } from '../../src/knowledge/index.js';
import { createLog } from '../../src/log/log.js';
import { program, shell } from '../cli/command.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from './corpus.js';
import { catalogPath, TestServer } from './test-server.js';

const temporary = temporaryFolder();
const first = corpus.slice(0, 6).map(({ text }, index) => ({ id: `r${index}`, text }));
const owls = { id: 'owls', text: 'Owls hunt at night over sourdough and saffron.' };
const search = { text: owls.text, topK: 1 } as const;

/** A server with a built knowledge base in a folder of its own, as an operator has it. */
async function scene(name: string) {
  const folder = temporary(name);
  mkdirSync(folder, { recursive: true });
  const write = (file: string, content: unknown) =>
    writeFileSync(`${folder}/${file}`, JSON.stringify(content));
  const files = { index_file: 'kb.index', embeddings_file: 'kb.embeddings' };
  write('records.json', first);
  write('kb.json', { embedding_model: 'tiny', records_file: 'records.json', ...files });
  write('server-config.json', { models_catalog_path: catalogPath, port: 0 });
  const lines: string[] = [];
  const server = await TestServer.start({
    config: { storage_root: folder },
    configFile: `${folder}/server-config.json`,
    log: createLog('info', { write: (line) => void lines.push(line) }),
  });
  await using model = await EmbeddingModel.load(catalogPath.replace('models.json', 'tiny.gguf'));
  await buildKnowledgeBase(`${folder}/kb.json`, { models: async () => ({ model }) });
  const session = await server.session();
  return { folder, write, session, server, lines };
}

it('a search by path finds edited records, though nobody has built anything; a named storage stays as it is', async () => {
  const { folder, write, session, server, lines } = await scene('edited');
  const loads = () => lines.filter((line) => line.includes('storage loaded')).length;
  await session.createEmbeddedStringStorage({ name: 'kept', configPath: 'kb.json' });
  const found = async (name: string) => (await session.search({ name, ...search })).hits[0]?.id;
  expect(await found('kb.json')).not.toBe('owls');
  const before = readFileSync(`${folder}/kb.index`);
  write('records.json', [...first.slice(1), owls]);
  expect(await found('kb.json')).toBe('owls');
  expect(await found('kept')).not.toBe('owls');
  expect(readFileSync(`${folder}/kb.index`).equals(before)).toBe(false);
  // The load that wrote the index is found again: the files are as it left them.
  const loaded = loads();
  expect(await found('kb.json')).toBe('owls');
  expect(loads()).toBe(loaded);
  const other = await (await server.connect()).createSession();
  expect((await other.search({ name: 'kb.json', ...search })).hits[0]?.id).toBe('owls');
  expect(loads()).toBe(loaded);
});

it('with stale "serve" the last build answers while the new one is not there, and says so', async () => {
  const { folder, session } = await scene('served');
  const ask = () => session.search({ name: 'kb.json', ...search, stale: 'serve' });
  expect(await ask()).not.toHaveProperty('stale');
  await session.createEmbeddedStringStorage({ name: 'kept', configPath: 'kb.json' });
  // Half written: it cannot be loaded.
  writeFileSync(`${folder}/records.json`, JSON.stringify([...first, owls]).slice(0, -20));
  const waiting = await refusal(session.search({ name: 'kb.json', ...search }));
  expect(waiting).toMatchObject({ code: 8003 });
  for (let i = 0; i < 3; i++) {
    const served = await ask();
    expect([served.stale, served.hits[0]?.id === 'owls']).toEqual([true, false]);
  }
  expect(await session.search({ name: 'kept', ...search, stale: 'serve' })).toMatchObject({ stale: true });
  expect(await session.search({ name: 'kept', ...search })).not.toHaveProperty('stale');
  const configPath = 'kb.json';
  const made = await session.createEmbeddedStringStorage({ name: 'late', configPath, stale: 'serve' });
  expect(made).toMatchObject({ recordCount: first.length, stale: true });
  const params = { embeddedStringStorage: configPath, emit: true, stale: 'serve' } as const;
  const agent = await session.createAgent({
    graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] },
    enableDiagnostics: true,
  });
  const turn = await agent.turn(owls.text);
  expect(turn.hits?.map(({ stale }) => stale)).toEqual(turn.hits?.map(() => true));
  expect(turn.diagnostics?.nodes[0]).toMatchObject({ stale: true });
  // Once it is whole, it is loaded behind the searches' back.
  writeFileSync(`${folder}/records.json`, JSON.stringify([...first, owls]));
  let answer = await ask();
  while (answer.stale) answer = await ask();
  expect(answer.hits[0]?.id).toBe('owls');
});

it('the log has a command that mends an index that cannot be used; clients learn no paths', async () => {
  const { folder, session, lines } = await scene("with a 'blank");
  truncateSync(`${folder}/kb.index`, 100);
  const error = await refusal(session.search({ name: 'kb.json', ...search }));
  expect(error).toMatchObject({ code: 8003, message: expect.stringContaining('its log has the command') });
  expect(JSON.stringify([error.message, error.details])).not.toContain(folder);
  const logged = lines
    .map((line) => JSON.parse(line).msg as string)
    .find((msg) => msg.includes('lorekeep build'));
  const [, command = ''] = logged?.match(/(lorekeep build .*)$/) ?? [];
  const { status, stderr } = await shell(command.replace('lorekeep', `"${process.execPath}" "${program}"`), {
    cwd: temporary(),
  });
  expect(status, stderr).toBe(0);
  expect((await session.search({ name: 'kb.json', ...search })).hits).toHaveLength(1);
});
