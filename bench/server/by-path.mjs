// The cost of naming a knowledge base by its path instead of a name made before: a search, an agent with one turn, and in this
// process KnowledgeBaseCache.open() against a knowledge base held open. Both are asked in turns, so that a busy machine slows
// both; the ratio of medians is what counts. The server runs in a process of its own.
//
//   node bench/server/by-path.mjs [--records 1000] [--rounds 1500]

import { commandLine } from '../harness/command-line.mjs';
import { CatalogModels, connect, KnowledgeBaseCache } from '../lorekeep.mjs';
import { knowledgeBase } from './knowledge-base.mjs';
import { percentile, startServer } from './server-process.mjs';

const { values: options } = commandLine({
  options: { records: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '1500' } },
});
const modes = ['dense', 'lexical', 'hybrid'];
const rounds = Number(options.rounds);
const { folder, config, questions } = await knowledgeBase(Number(options.records));
const path = 'kb.json';
const name = 'docs';

/** Prints the medians of two ways of doing the same, and their ratio. */
async function compare(title, byName, byPath) {
  const times = { name: [], path: [] };
  for (let round = 0; round < rounds; round++) {
    const text = questions[round % questions.length];
    const first = round % 2 === 0;
    for (const isName of [first, !first]) {
      const started = performance.now();
      await (isName ? byName : byPath)(text);
      times[isName ? 'name' : 'path'].push(performance.now() - started);
    }
  }
  const [a, b] = [times.name, times.path].map((all) => percentile(all.slice(rounds / 10), 0.5));
  console.log(
    `${title.padEnd(22)} by name ${a.toFixed(3)} ms, by path ${b.toFixed(3)} ms: ${(b / a).toFixed(2)} times`,
  );
}

const server = await startServer(folder);
const client = await connect({ port: server.port });
const session = await client.createSession();
await session.createEmbeddedStringStorage({ name, configPath: path });
for (const mode of modes) {
  const search = (storage) => (text) => session.search({ name: storage, text, mode });
  await compare(`server, ${mode}`, search(name), search(path));
}
const turn = (storage) => async (text) => {
  const params = { embedded_string_storage: storage, mode: 'hybrid' };
  const agent = await session.createAgent({ graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] } });
  await agent.turn(text);
  await agent.destroy();
};
await compare('server, agent and turn', turn(name), turn(path));
await client.close();
await server.stop();

const models = await CatalogModels.open();
const cache = new KnowledgeBaseCache({ models });
const held = await cache.open(config);
for (const mode of modes) {
  const byPath = async (text) => {
    const pin = await cache.open(config);
    await pin.value.search({ text, mode });
    await pin.release();
  };
  await compare(`library, ${mode}`, (text) => held.value.search({ text, mode }), byPath);
}
await held.release();
await cache.close();
await models.close();
