// What each trial repeats, alone and for ever, in this process: for a profiler. Sizes are the trials' unless `rows` says
// otherwise. A loop is prepared with an options object and gives {step, pid?}: `step` does a little work and may be asynchronous; `pid`
// is the process to look at where it is another one.
import { rmSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { readTexts } from '../harness/texts.mjs';
import { connect, EmbeddingModel, Storage, TextIndex, VectorIndex } from '../lorekeep.mjs';
import { expressionOf, Filters, fieldsOf, recordsOf } from '../vector/filters.mjs';
import { baseRows, queryRows, vectorSet } from '../vector/sets.mjs';

const k = 10;
const ef = 32; // at which "clusters" has a recall of 0.99
const queries = 1000;
const perCall = 64;

async function vectors(name, rows) {
  const set = vectorSet(name, { rows, queries });
  const all = queryRows(set);
  let next = 0;
  const some = (count) => {
    next = next + count > queries ? 0 : next;
    const begin = next * set.dimension;
    next += count;
    return all.subarray(begin, begin + count * set.dimension);
  };
  return { set, some };
}

async function built(rows) {
  const { set, some } = await vectors('clusters', rows);
  return { index: await VectorIndex.build(baseRows(set), set.dimension), some };
}

export const loops = {
  async dense({ rows = 100_000 }) {
    const { index, some } = await built(rows);
    return { step: () => index.search(some(1), { k, ef }) };
  },
  async batch({ rows = 100_000 }) {
    const { index, some } = await built(rows);
    return { step: () => index.searchMany(some(perCall), { k, ef }) };
  },
  /** The hardest cell: half of the rows pass, and of the query's own cluster none. */
  async filtered({ rows = 100_000 }) {
    const { set, some } = await vectors('clusters', rows);
    const filters = new Filters(set);
    const options = { fields: fieldsOf(filters.columns) };
    const storage = await Storage.build(recordsOf(filters.columns), baseRows(set), set.dimension, options);
    let next = 0;
    // Few different ones, which the storage keeps compiled: as in the trial.
    const search = (vector, i) =>
      storage.search({ mode: 'dense', vector, topK: k, filter: expressionOf(filters.of('other', 0.5, i)) });
    return { step: () => search(some(1), next++ % queries) };
  },
  async build({ rows = 20_000 }) {
    const { set } = await vectors('clusters', rows);
    const data = baseRows(set);
    return { step: async () => (await VectorIndex.build(data, set.dimension)).close() };
  },
  async 'open-index'({ rows = 100_000 }) {
    const { index } = await built(rows);
    const path = cached('indexes', `profile-${process.pid}`);
    await index.save(path);
    await index.close();
    process.once('exit', () => rmSync(path, { force: true }));
    return { step: async () => (await VectorIndex.load(path)).close() };
  },
  async lexical({ rows = 100_000 }) {
    const { texts, queries: asked } = await readTexts(rows, queries);
    const index = await TextIndex.build(texts, { tokenizer: 'basic' });
    let next = 0;
    return { step: () => index.search(asked[next++ % queries], { k }) };
  },
  async hybrid({ rows = 100_000 }) {
    const { set, some } = await vectors('latent', rows);
    const { texts, queries: asked } = await readTexts(rows, queries);
    const records = texts.map((text, i) => ({ id: String(i), text }));
    const storage = await Storage.build(records, baseRows(set), set.dimension);
    let next = 0;
    const search = (text, vector) => storage.search({ mode: 'hybrid', topK: k, vector, text });
    return { step: () => search(asked[next++ % queries], some(1)) };
  },
  async embedding({ rows = 256 }) {
    const { modelFile, textsOf } = await import('../embedding/models.mjs');
    const model = await EmbeddingModel.load(await modelFile(cached('models'), 'all-MiniLM-L6', 'Q8_0'));
    const texts = textsOf(rows, 16);
    return { step: () => model.embed(texts) };
  },
  async server({ rows = 100_000 }) {
    const { knowledgeBase } = await import('../server/knowledge-base.mjs');
    const { startServer } = await import('../server/server-process.mjs');
    const { folder, questions } = await knowledgeBase(rows);
    const server = await startServer(folder, {}, process.execArgv); // --cpu-prof is for both
    process.once('exit', () => process.kill(server.pid));
    const params = { embedded_string_storage: 'kb.json', mode: 'hybrid' };
    const session = await (await connect({ port: server.port })).createSession();
    const agent = await session.createAgent({ graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] } });
    let next = 0;
    return { pid: server.pid, step: () => agent.turn(questions[next++ % questions.length]) };
  },
};
