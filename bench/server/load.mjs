// 1,000 sessions, each on a connection of its own, share one knowledge base of 100,000 records; then turns at a steady rate.
// What a turn costs beyond the bare search and embedding (hybrid, top 5, in a process without a server), what an idle session
// weighs, and whether there is one copy of the knowledge base.
//
//   node bench/server/load.mjs [--sessions 1000] [--records 100000] [--rate 200] [--seconds 30] [--json FILE]
//
// Client and server share the machine, so the client's own work is part of the latencies. Turns are sent by the clock, whether
// earlier ones have been answered or not (an open loop): a stall shows in every turn that it delays.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { connect, openKnowledgeBase } from '../lorekeep.mjs';
import { knowledgeBase, loadModel } from './knowledge-base.mjs';
import { percentile, startServer, wait } from './server-process.mjs';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    records: { type: 'string', default: '100000' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
    json: { type: 'string' },
  },
});
const [sessions, records, rate, seconds] = ['sessions', 'records', 'rate', 'seconds'].map((name) =>
  Number(values[name]),
);
const graph = {
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } }],
};
const { folder, config, questions } = await knowledgeBase(records);
const question = (turn) => questions[(turn * 7919) % questions.length];

const bare = await bareLatencies();
const server = await startServer(folder);
const agents = [];
const memory = await sessionMemory();
const turns = await turnLatencies();
const after = server.memory();
await server.stop();
report();

/** The same searches at the same rate, straight from a knowledge base opened here. */
async function bareLatencies() {
  const model = await loadModel();
  const kb = await openKnowledgeBase(config, { models: async () => ({ model }) });
  const latencies = await paced(async (turn) => {
    await kb.search({ text: question(turn), mode: 'hybrid', topK: 5 });
    return {};
  });
  await kb.close();
  await model.close();
  return latencies.map(({ total }) => total);
}

/** KiB per idle session, and what the first session, which loads the knowledge base, added. */
async function sessionMemory() {
  const empty = server.memory();
  await open(1);
  await agents[0].turn(question(0));
  await wait(1000);
  const first = server.memory();
  await open(sessions - 1);
  await wait(5000);
  const all = server.memory();
  const each = (name) => (all[name] - first[name]) / (sessions - 1);
  return { empty, first, all, perSession: { resident: each('resident'), anonymous: each('anonymous') } };
}

async function open(count) {
  for (let made = 0; made < count; made += 50) {
    const batch = Array.from({ length: Math.min(50, count - made) }, async () => {
      const session = await (await connect({ port: server.port })).createSession();
      return session.createAgent({ graph, enable_diagnostics: true });
    });
    agents.push(...(await Promise.all(batch)));
  }
}

function turnLatencies() {
  return paced(async (turn) => {
    const complete = await agents[(turn * 389) % agents.length].turn(question(turn));
    if (complete.status !== 'completed') throw new Error(JSON.stringify(complete));
    const [{ embed_ms, search_ms }] = complete.diagnostics.nodes;
    return { native: embed_ms + search_ms };
  });
}

/** Calls `rate` times a second for `seconds`, after two seconds that do not count. */
async function paced(call) {
  const measured = [];
  const pending = [];
  const warmUp = 2 * rate;
  const begin = performance.now();
  for (let turn = 0; turn < warmUp + rate * seconds; turn++) {
    const due = begin + (turn * 1000) / rate;
    const early = due - performance.now();
    if (early > 0) await wait(early);
    const started = performance.now();
    const work = call(turn).then((facts) => {
      if (turn >= warmUp) measured.push({ ...facts, total: performance.now() - started });
    });
    pending.push(work);
  }
  await Promise.all(pending);
  return measured;
}

function report() {
  const total = turns.map((turn) => turn.total);
  const overhead = turns.map((turn) => turn.total - turn.native);
  const ms = (value) => `${value.toFixed(2)} ms`;
  const row = (name, list) =>
    console.log(
      `${name.padEnd(52)} p50 ${ms(percentile(list, 0.5)).padStart(9)}   p99 ${ms(percentile(list, 0.99)).padStart(9)}`,
    );
  console.log(
    `${sessions} sessions, ${records} records, ${rate} turns a second for ${seconds} s, hybrid, top 5`,
  );
  console.log(`${cpus().length} x ${cpus()[0]?.model}, Node.js ${process.version}\n`);
  row('bare: embedding and search, no server', bare);
  row('turn, as the client sees it', total);
  row('turn beyond its own embedding and search', overhead);
  const p50 = percentile(total, 0.5) - percentile(bare, 0.5);
  console.log(`\nmedian turn - median bare search: ${ms(p50)}`);
  const mib = (kib) => `${(kib / 1024).toFixed(0)} MiB`;
  const { empty, first, all, perSession } = memory;
  console.log(
    `memory: ${mib(empty.resident)} empty, ${mib(first.resident)} with the knowledge base, ${mib(all.resident)} with all sessions`,
  );
  console.log(
    `idle session: ${perSession.resident.toFixed(1)} KiB resident, ${perSession.anonymous.toFixed(1)} KiB anonymous`,
  );
  if (values.json === undefined) return;
  const quantiles = (list) => ({ p50: percentile(list, 0.5), p99: percentile(list, 0.99) });
  const facts = {
    sessions,
    records,
    rate,
    seconds,
    bare: quantiles(bare),
    turn: quantiles(total),
    overhead: quantiles(overhead),
  };
  writeFileSync(values.json, JSON.stringify({ ...facts, memory: { ...memory, after } }, undefined, 2));
}
process.exit(0);
