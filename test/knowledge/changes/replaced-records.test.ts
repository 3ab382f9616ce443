/** Versions of a base whose records file is replaced and built again. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { EmbeddingModel } from '../../../lib/index.js';
import { buildKnowledgeBase, indexFolder, openKnowledgeBase } from '../../../src/knowledge/index.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';
import { base, file, ids, knowledgeBase, models, open, rejection } from './changed-bases.js';

const write = (records: string, list: object[]) => writeFileSync(records, JSON.stringify(list));
const sea = { id: 'sea', text: 'Octopus in the sea' };

/** As another process sees it that writes nothing. */
async function versionOf(config: string): Promise<number> {
  await using kb = await open(config, { readOnly: true });
  return kb.version;
}

test('a build of other records is a version', async () => {
  const { config, records, log } = await knowledgeBase();
  await buildKnowledgeBase(config, { models });
  expect([existsSync(log), await versionOf(config)]).toEqual([false, 0]);
  write(records, [...base, sea]);
  await buildKnowledgeBase(config, { models });
  expect(await versionOf(config)).toBe(1);
  const [bees, ...others] = base;
  write(records, [{ ...bees, metadata: { year: 1 } }, ...others]);
  await buildKnowledgeBase(config, { models });
  await buildKnowledgeBase(config, { models });
  expect(await versionOf(config)).toBe(2);
  await using kb = await open(config);
  const late = { replace: [{ id: 'bees', text: 'Bees sleep' }], ifVersion: 0 };
  const refusal = { code: 'VERSION_MISMATCH', detail: { version: 2 } };
  expect(await rejection(kb.update(late))).toMatchObject(refusal);
  expect((await kb.update({ ...late, ifVersion: 2 })).version).toBe(3);
});

test('so is an opening that finds other records, with an index file or without', async () => {
  const withIndex = await knowledgeBase();
  const without = await knowledgeBase();
  const { index_file: _, ...config } = JSON.parse(readFileSync(without.config, 'utf8'));
  writeFileSync(without.config, JSON.stringify(config));
  {
    await using kb = await open(without.config);
    await kb.add([sea]);
    await kb.merge();
  }
  for (const { config, records, before } of [
    { ...withIndex, before: 0 },
    { ...without, before: 1 },
  ]) {
    const [bees, ...others] = base;
    const lists = [[sea], [bees], [{ ...bees, metadata: { year: 1 } }], others];
    for (const [at, list] of lists.entries()) {
      write(records, list as object[]);
      for (let opening = 0; opening < 2; opening++) {
        await using kb = await open(config);
        expect(kb.version).toBe(before + at + 1);
      }
      expect(await versionOf(config)).toBe(before + at + 1);
    }
  }
});

test('a process that has the former records open follows the build', async () => {
  const { config, records } = await knowledgeBase();
  await using kb = await open(config);
  for (const version of [1, 2]) {
    const id = `sea ${version}`;
    write(records, [...base, { ...sea, id }]);
    await buildKnowledgeBase(config, { models });
    await vi.waitFor(() => expect(kb.version).toBe(version), 10_000);
    expect(await ids(kb)).toEqual(['bees', 'ice', 'bread', id]);
    expect((await kb.search({ mode: 'lexical', text: 'octopus' })).hits[0]?.id).toBe(id);
  }
  expect((await kb.add([{ id: 'new', text: 'Honey' }])).version).toBe(3);
});

test("a version alone is no secret, and a change is its owner's again", async () => {
  const { config, records, log } = await knowledgeBase();
  chmodSync(records, 0o644);
  write(records, [sea]);
  await buildKnowledgeBase(config, { models });
  const mode = () => statSync(log).mode & 0o777;
  expect(mode()).toBe(0o644);
  await using kb = await open(config);
  await kb.add(base.slice(0, 1));
  expect([mode(), kb.version]).toEqual([0o600, 2]);
});

test('a log without batches is no obstacle to another model, nor to a backup of replaced records', async () => {
  const { config, records } = await knowledgeBase();
  {
    await using kb = await open(config);
    await kb.add([sea]);
    await kb.merge();
  }
  await createTinyModel({ texts: words, path: file('other.gguf'), dimension: 32 });
  await using other = await EmbeddingModel.load(file('other.gguf'));
  const { index_file: _, ...rest } = JSON.parse(readFileSync(config, 'utf8'));
  writeFileSync(config, JSON.stringify(rest));
  {
    await using kb = await openKnowledgeBase(config, { models: async () => ({ model: other }) });
    expect([kb.version, (await kb.add([{ id: 'new', text: 'Honey' }])).version]).toEqual([1, 2]);
  }
  expect((await rejection(open(config))).code).toBe('UNSUPPORTED');
  write(records, [sea]);
  await using kb = await openKnowledgeBase(config, {
    models: async () => ({ model: other }),
    readOnly: true,
  });
  const copied = await kb.backup(file('copied'));
  expect([kb.version, copied.version]).toEqual([3, 3]);
  await using copy = await openKnowledgeBase(copied.config, { models: async () => ({ model: other }) });
  expect([copy.version, await ids(copy)]).toEqual([3, ['sea', 'new']]);
});

test('each run of index that finds changes is a version', async () => {
  const folder = file('docs');
  mkdirSync(folder);
  const output = file('docs-index');
  const index = async (text?: string) => {
    if (text !== undefined) writeFileSync(join(folder, 'a.txt'), text);
    const { config } = await indexFolder({ folder, output, model: 'tiny', models });
    return versionOf(config);
  };
  expect(await index('Honey bees')).toBe(0);
  expect(await index('Glaciers')).toBe(1);
  expect(await index()).toBe(1);
  const config = join(output, 'kb.json');
  {
    await using kb = await open(config);
    expect((await kb.add([sea])).version).toBe(2);
  }
  expect(await index('Bread')).toBe(3);
  await using kb = await open(config);
  expect(await ids(kb)).toEqual([expect.stringContaining('a.txt'), 'sea']);
});
