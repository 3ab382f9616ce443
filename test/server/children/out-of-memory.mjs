// argv: folder, file of failing-new.cc. Serves requests while the addon's first, second, third ... large allocation of each fails, and prints
// the codes of the replies per kind of request, as a line of JSON.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Peer } from '../../../bench/reliability/attacks/peer.mjs';
import { configs, modelName, Sample } from '../../../bench/reliability/sample.mjs';
import { configSchema } from '../../../dist/src/config/schema.js';
import { silentLog } from '../../../dist/src/log/log.js';
import { LorekeepServer } from '../../../dist/src/server/server.js';

const [folder, counterFile] = process.argv.slice(2);
const counter = openSync(counterFile, 'r+');
const number = Buffer.alloc(8);
const arm = (allocation) => {
  number.writeBigInt64LE(BigInt(allocation));
  writeSync(counter, number, 0, 8, 0);
};
const hasFailed = () => {
  readSync(counter, number, 0, 8, 0);
  return number.readBigInt64LE() <= 0n;
};

const sample = await new Sample(join(folder, 'kb'), { seed: 1, records: 2000 }).write();
await sample.build();
const config = configSchema.parse({
  port: 0,
  models_catalog_path: sample.at('models.json'),
  storage_root: sample.folder,
  // Nothing stays cached, so that each request opens its files.
  storage_cache_max_mb: 0,
});
const server = await LorekeepServer.start({ config, log: silentLog() });
const peer = await Peer.open(server.port);
const { fields } = configs['plain.json'];
const docs = { embedding_model: modelName, records_file: 'records.json', bm25_file: 'docs.bm25', fields };
sample.writeJson('docs.json', docs);
const session_id = await peer.storage('docs.json');
const strings = Array.from(
  { length: 400 },
  (_, n) => `${sample.words[n % 100]} ${sample.words[n % 77]} ${n}`,
);
const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, name: 'new' };
const search = {
  type: 'SearchEmbeddedStringStorageRequest',
  session_id,
  name: 'docs',
  top_k: 1000,
  text: sample.questions[0],
};
const requests = {
  strings: { ...create, strings, embedding_model: 'tiny' },
  'files with an index': { ...create, config_path: 'kb.json' },
  'files without an index': { ...create, config_path: 'plain.json' },
  'dense search': { ...search, mode: 'dense' },
  'lexical search': { ...search, mode: 'lexical' },
  'hybrid search': { ...search, mode: 'hybrid' },
  'filtered search': { ...search, mode: 'hybrid', filter: { '>=': [{ knowledge: 'year' }, 2005] } },
  agent: {
    type: 'CreateAgentRequest',
    session_id,
    graph: { nodes: [{ id: 'n', type: 'retrieve', params: { embedded_string_storage: 'plain.json' } }] },
  },
};

for (const [kind, request] of Object.entries(requests)) {
  const codes = {};
  let failures = 0;
  // Every allocation at first, then a quarter further each time.
  for (let allocation = 1; ; allocation = Math.max(allocation + 1, Math.floor(allocation * 1.25))) {
    arm(allocation);
    const reply = await peer.request({ ...request, id: allocation });
    const failed = hasFailed();
    arm(0);
    if (reply?.record_count !== undefined)
      await peer.request({
        type: 'DestroyEmbeddedStringStorageRequest',
        session_id,
        name: 'new',
        id: 'destroy',
      });
    if (reply?.agent_id !== undefined)
      await peer.request({
        type: 'DestroyAgentRequest',
        session_id,
        agent_id: reply.agent_id,
        id: 'destroy',
      });
    if (!failed) break;
    failures++;
    const code = reply?.code ?? reply?.type ?? 'none';
    codes[code] = (codes[code] ?? 0) + 1;
  }
  console.log(JSON.stringify({ kind, codes, failures }));
}
closeSync(counter);
peer.close();
await server.close();
await sample.close();
process.exit();
