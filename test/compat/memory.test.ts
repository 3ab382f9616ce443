import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from '../server/test-server.js';

const file = temporaryFolder();

/** Of the memory in the folder, which the first version wrote; it is never made again. */
const secret = 'e1db1a836b9cb0f3.EJg-6HRQHdWnskH9nRybRBVomZAeoOOrpHlLOIETsKw';

it('a memory of version 1 is opened by its secret, and goes on', async () => {
  cpSync(join(import.meta.dirname, 'memory'), file('memories'), { recursive: true });
  const variants = [{ file: join(import.meta.dirname, 'knowledge-base/tiny.gguf') }];
  const models = [{ name: 'tiny', model_type: 'embedding', variants }];
  writeFileSync(file('models.json'), JSON.stringify({ version: 1, models }));
  const config = { models_catalog_path: file('models.json'), memories_dir: file('memories') };
  const session = await (await TestServer.start({ config })).session();
  const params = { storage: 'memory', embeddingModel: 'tiny', scope: 'name' as const, name: 'Ann', secret };
  const agent = await session.createAgent({ graph: { nodes: [{ id: 'keep', type: 'remember', params }] } });
  await agent.turn('bees dance');
  const { records } = await session.listRecords({ name: 'memory' });
  expect(records.map(({ text, metadata }) => [text, metadata?.count, metadata?.scope])).toEqual([
    ['Glaciers grind valleys.', 1, 'name'],
    ['bees dance', 2, 'name'],
  ]);
});
