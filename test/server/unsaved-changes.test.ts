/** The log says why a change of a client was not saved; the client learns no path. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openKnowledgeBase } from '../../src/knowledge/index.js';
import { silentLog } from '../../src/log/log.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();

/** A session that may change a knowledge base in a folder of its own, and what the server warns of. */
async function writing(name: string, prepare: (config: string) => Promise<void> = async () => {}) {
  const folder = file(name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'records.json'), JSON.stringify([{ id: 'a', text: 'Honey bees dance.' }]));
  writeFileSync(
    join(folder, 'kb.json'),
    JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }),
  );
  await prepare(join(folder, 'kb.json'));
  const warned: { facts: Record<string, unknown>; message: string }[] = [];
  const log = silentLog();
  const warn = (facts: Record<string, unknown>, message: string) => void warned.push({ facts, message });
  Object.assign(log, { warn, child: () => log });
  const config = { storage_root: file(), storage_writes: 'files' as const, session_folders: [folder] };
  const server = await TestServer.start({ config, log });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'kb', configPath: `${name}/kb.json` });
  const add = () => session.updateEmbeddedStringStorage({ name: 'kb', add: [{ id: 'b', text: 'Ice.' }] });
  return { folder, warned, add, session };
}

test('8013: another process holds the change log', async () => {
  const { folder, warned, add } = await writing('busy');
  const models = await CatalogModels.open(catalogPath);
  const other = await openKnowledgeBase(join(folder, 'kb.json'), { models });
  onTestFinished(async () => {
    await other.close();
    await models.close();
  });
  await other.add([{ id: 'c', text: 'Wild yeast.' }]);
  const error = await add().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 8013 });
  expect(JSON.stringify(error) + (error as Error).message).not.toContain(folder);
  const told = warned.filter(({ message }) => message === 'a change was not saved');
  expect(told).toMatchObject([{ facts: { code: 8013, err: { detail: { holder: process.pid } } } }]);
});

test('8014: the change log is damaged', async () => {
  const { folder, warned, add } = await writing('damaged', async (config) => {
    await using models = await CatalogModels.open(catalogPath);
    await using kb = await openKnowledgeBase(config, { models });
    for (const id of ['c', 'd']) await kb.add([{ id, text: 'Wild yeast.' }]);
    const log = `${join(config, '..')}/records.json.changes`;
    const bytes = readFileSync(log);
    bytes[140] = (bytes[140] as number) ^ 1;
    writeFileSync(log, bytes);
  });
  const error = await add().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 8014 });
  expect(JSON.stringify(error) + (error as Error).message).not.toContain(folder);
  const told = warned.filter(({ message }) => message === 'a change was not saved');
  expect(String(told[0]?.facts.err)).toContain('records.json.changes: is damaged at byte');
});

test('a build whose records file was replaced takes no change, and the next one does', async () => {
  const { folder, add, session } = await writing('replaced');
  await add();
  const path = 'replaced/kb.json';
  const replaced = [
    { id: 'a', text: 'Honey bees sleep.' },
    { id: 'n', text: 'Ice flows.' },
  ];
  writeFileSync(join(folder, 'records.json'), JSON.stringify(replaced));
  await session.updateEmbeddedStringStorage({ name: path, add: [{ id: 'c', text: 'Wild yeast.' }] });
  expect(await refusal(session.forgetRecords({ name: 'kb', ids: ['a'] }))).toMatchObject({ code: 8014 });
  await session.forgetRecords({ name: path, ids: ['n'] });
  const { records } = await session.listRecords({ name: path });
  expect(records.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

test('8014: the change log cannot be written', async () => {
  const { folder, warned, add } = await writing('unwritable');
  mkdirSync(join(folder, 'records.json.changes.lock'));
  const error = await add().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 8014 });
  expect(JSON.stringify(error) + (error as Error).message).not.toContain(folder);
  const told = warned.filter(({ message }) => message === 'a change was not saved');
  expect(told).toMatchObject([{ facts: { code: 8014 } }]);
  expect(String(told[0]?.facts.err)).toContain('records.json.changes.lock');
});
