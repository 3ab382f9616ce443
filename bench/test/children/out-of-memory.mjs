// argv: folder, file of failing-new.cc, a reranker's file. Serves requests while the addon's first, second, third ... large allocation of each fails, and prints
// the codes of the replies per kind of request, as a line of JSON.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { configSchema } from '../../../dist/src/config/schema.js';
import { silentLog } from '../../../dist/src/log/log.js';
import { LorekeepServer } from '../../../dist/src/server/server.js';
import { Peer } from '../../reliability/attacks/peer.mjs';
import { configs, modelName, Sample } from '../../reliability/sample.mjs';

const [folder, counterFile, reranker] = process.argv.slice(2);
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
/** Models by many names: each request loads one anew. */
const maxAttempts = 150;
const named = (type, name, file) =>
  Array.from({ length: maxAttempts }, (_, n) => ({
    name: `${name}${n}`,
    model_type: type,
    variants: [{ file }],
  }));
sample.writeJson('models.json', {
  version: 1,
  models: [
    { name: modelName, model_type: 'embedding', variants: [{ file: 'tiny.gguf' }] },
    ...named('llm', 'writer', 'writer.gguf'),
    ...named('reranker', 'judge', reranker),
  ],
});
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
const agent = (...nodes) => ({
  type: 'CreateAgentRequest',
  session_id,
  graph: { nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) },
});
/** By kind: the request of an attempt. `turn`: what an agent of it is asked, and what counts is its end. */
const requests = {
  strings: { ...create, strings, embedding_model: 'tiny' },
  'files with an index': { ...create, config_path: 'kb.json' },
  'files without an index': { ...create, config_path: 'plain.json' },
  'dense search': { ...search, mode: 'dense' },
  'lexical search': { ...search, mode: 'lexical' },
  'hybrid search': { ...search, mode: 'hybrid' },
  'filtered search': { ...search, mode: 'hybrid', filter: { '>=': [{ knowledge: 'year' }, 2005] } },
  agent: agent(['retrieve', { embedded_string_storage: 'plain.json' }]),
  'a language model': (attempt) => agent(['generate', { model: `writer${attempt}`, context_size: 1024 }]),
  'a reranker': (attempt) => ({ ...search, top_k: 20, rerank: { model: `judge${attempt}` } }),
};
const turns = {
  'a reply': agent(['generate', { model: 'writer0', max_tokens: 40 }]),
  'a reply that a grammar constrains': agent([
    'generate',
    {
      model: 'writer0',
      max_tokens: 40,
      json_schema: { type: 'object', properties: { a: { type: 'string' } } },
    },
  ]),
  'a grounded reply': agent(
    ['retrieve', { embedded_string_storage: 'docs', top_k: 20 }],
    ['generate', { model: 'writer0', max_tokens: 40, cite: 'verbatim' }],
  ),
};

/** Fails the first, second, third ... allocation of what `act` does; every one at first, then a quarter further each time. */
async function tryAll(kind, act) {
  const codes = {};
  let failures = 0;
  let attempt = 0;
  for (let allocation = 1; ; allocation = Math.max(allocation + 1, Math.floor(allocation * 1.25))) {
    const { code, undo } = await act(attempt++, () => arm(allocation));
    const failed = hasFailed();
    arm(0);
    await undo?.();
    if (!failed) break;
    failures++;
    codes[code] = (codes[code] ?? 0) + 1;
  }
  console.log(JSON.stringify({ kind, codes, failures }));
}

const destroy = (type, fields) => peer.request({ type, id: 'destroy', session_id, ...fields });

for (const [kind, given] of Object.entries(requests))
  await tryAll(kind, async (attempt, armed) => {
    const request = typeof given === 'function' ? given(attempt) : given;
    armed();
    const reply = await peer.request({ ...request, id: attempt });
    const undo = async () => {
      if (reply?.record_count !== undefined)
        await destroy('DestroyEmbeddedStringStorageRequest', { name: 'new' });
      if (reply?.agent_id !== undefined) await destroy('DestroyAgentRequest', { agent_id: reply.agent_id });
    };
    return { code: reply?.code ?? reply?.type ?? 'none', undo };
  });

for (const [kind, request] of Object.entries(turns)) {
  const { agent_id } = await peer.request({ ...request, id: 'agent' });
  await tryAll(kind, async (attempt, armed) => {
    const ended = peer.next('TurnComplete');
    armed();
    const turn = { type: 'TurnRequest', session_id, agent_id, text: `${sample.questions[0]} ${attempt}` };
    const started = await peer.request({ ...turn, id: attempt });
    if (started?.type !== 'TurnStarted') return { code: started?.code ?? 'none' };
    const { status, error } = await ended;
    return { code: error?.code ?? status };
  });
  await destroy('DestroyAgentRequest', { agent_id });
}
closeSync(counter);
peer.close();
await server.close();
await sample.close();
process.exit();
