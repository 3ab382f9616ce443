/** Heap snapshots collect garbage first: a string in one is held by a reference. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { dumpsExist, dumpsIn } from './crash.js';

const inFolder = temporaryFolder();
const secret = 'The owl hides the amber key below the third stone of the harbour.';
const needle = 'hides the amber key';

/** Starts a server that writes a heap snapshot when it gets SIGUSR2. */
async function start() {
  mkdirSync(inFolder('heap'));
  const path = inFolder('server-config.json');
  const config = {
    port: 0,
    monitor: { enabled: true, port: 0 },
    logs_dir: '',
    crash_dump: { dir: 'dumps' },
    storage_writes: 'files',
  };
  writeFileSync(path, JSON.stringify({ ...config, session_folders: ['.'], storage_root: inFolder() }));
  const options = `NODE_OPTIONS=--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${inFolder('heap')}`;
  const program = Program.runIn(['env', options], 'dist/src/cli/main.js', 'serve', '--config', path);
  const [line] = await program.printed(/.*"msg":"listening".*/);
  const client = await connect({ port: JSON.parse(line).port });
  onTestFinished(() => client.close());
  return { program, client };
}

/** Returns the strings of the server's heap after a garbage collection. */
async function heapStrings({ child }: Program): Promise<string[]> {
  const before = readdirSync(inFolder('heap')).length;
  child.kill('SIGUSR2');
  return vi.waitFor(
    () => {
      const files = readdirSync(inFolder('heap'));
      expect(files.length).toBeGreaterThan(before);
      const [latest] = files.sort().slice(-1) as [string];
      return JSON.parse(readFileSync(join(inFolder('heap'), latest), 'utf8')).strings as string[];
    },
    { timeout: 60_000, interval: 200 },
  );
}

const having = (needle: string, strings: readonly string[]) =>
  strings.filter((text) => text.includes(needle));

/** The files of the knowledge base and its change log with these bytes. */
const filesWith = (needle: string) =>
  readdirSync(inFolder(), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(kb|records)/.test(entry.name))
    .map(({ name }) => name)
    .filter((name) => readFileSync(inFolder(name)).includes(needle));

const retrieve = (id: string, embeddedStringStorage: string) => ({
  id,
  type: 'retrieve' as const,
  params: { embeddedStringStorage, mode: 'hybrid' as const, topK: 2, emit: true },
});

/** Has its agent keep a turn, and remembers nothing. */
const remember = {
  id: 'keep',
  type: 'remember' as const,
  params: { storage: 'notes', embeddingModel: 'lorekeep-mini', kinds: ['observed' as const] },
};

it.runIf(dumpsExist)('a forgotten text is in no file, no string of the heap and no crash dump', async () => {
  const { program, client } = await start();
  const kept = { id: 'bees', text: 'Bees dance in the hive.' };
  const records = [{ id: 'secret', text: secret }, kept];
  writeFileSync(inFolder('records.json'), JSON.stringify([kept]));
  const kb = {
    embedding_model: 'lorekeep-mini',
    records_file: 'records.json',
    embeddings_file: 'kb.embeddings',
  };
  writeFileSync(inFolder('kb.json'), JSON.stringify(kb));
  const session = await client.createSession();
  await session.createEmbeddedStringStorage({ name: 'docs', records, embeddingModel: 'lorekeep-mini' });
  await session.createEmbeddedStringStorage({
    name: 'other',
    records: [kept],
    embeddingModel: 'lorekeep-mini',
  });
  await session.createEmbeddedStringStorage({ name: 'kb', configPath: 'kb.json' });
  await session.updateEmbeddedStringStorage({ name: 'kb', add: records.slice(0, 1) });
  const nodes = [
    retrieve('one', 'docs'),
    retrieve('two', 'kb'),
    { id: 'quote', type: 'quote' as const, params: {} },
    remember,
  ];
  const agent = await session.createAgent({ graph: { nodes } });
  const { hits } = await agent.turn('Where is the key of the harbour?');
  expect(hits?.filter(({ text }) => text === secret)).toHaveLength(2);
  const other = await session.createAgent({
    graph: {
      nodes: [retrieve('one', 'other'), { ...remember, params: { ...remember.params, storage: 'others' } }],
    },
  });
  await other.turn('Who dances in the wooden hive?');
  // What these look into has the text as long as it is not forgotten.
  expect(filesWith(needle)).toEqual(['records.json.changes']);
  expect(having(needle, await heapStrings(program))).not.toEqual([]);

  for (const name of ['docs', 'kb']) await session.forgetRecords({ name, ids: ['secret'], histories: true });
  expect(filesWith(needle)).toEqual([]);
  expect(filesWith(kept.text)).toEqual(['records.json']);
  const strings = await heapStrings(program);
  expect(having(needle, strings)).toEqual([]);
  expect(having('wooden hive', strings)).not.toEqual([]);

  program.child.kill('SIGSEGV');
  expect(await program.ended).toMatchObject({ signal: 'SIGSEGV' });
  const [dump] = dumpsIn(inFolder('dumps')) as [string];
  for (const encoding of ['utf8', 'utf16le'] as const)
    expect(readFileSync(dump).includes(Buffer.from(needle, encoding))).toBe(false);
});
