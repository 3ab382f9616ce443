// 1,000 sessions, each on a connection of its own, share one knowledge base of 100,000 records; then turns at a steady rate.
// The cost of a turn beyond the bare search and embedding (hybrid, top 5, in a process without a server), what an idle session
// weighs, and whether there is one copy of the knowledge base.
//
//   node bench/server/load.mjs [--sessions 1000] [--records 100000] [--rate 200] [--seconds 30]
//
// Client and server share the machine, so the client's own work is part of the latencies. Turns are sent by the clock, whether
// earlier ones have been answered or not (an open loop): a stall shows in every turn that it delays.
import { textSource } from '../harness/texts.mjs';
import { runTrial } from '../harness/trial.mjs';
import { connect, openKnowledgeBase } from '../lorekeep.mjs';
import { knowledgeBase, loadModel } from './knowledge-base.mjs';
import { percentile, startServer, wait } from './server-process.mjs';

const graph = {
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } }],
};

await runTrial('server', { sessions: 1000, records: 100_000, rate: 200, seconds: 30 }, async (options) => {
  const { folder, config, questions } = await knowledgeBase(options.records);
  const question = (turn) => questions[(turn * 7919) % questions.length];
  console.log('knowledge base ready');
  const bare = await bareLatencies(config, question, options);
  const server = await startServer(folder);
  const agents = [];
  const memory = await sessionMemory(server, agents, question, options);
  console.log(`${agents.length} sessions`);
  const turns = await turnLatencies(agents, question, options);
  await server.stop();
  return report(options, bare, memory, turns);
});

/** The same searches at the same rate, straight from a knowledge base opened here. */
async function bareLatencies(config, question, options) {
  const model = await loadModel();
  const kb = await openKnowledgeBase(config, { models: async () => ({ model }) });
  const latencies = await paced(options, async (turn) => {
    await kb.search({ text: question(turn), mode: 'hybrid', topK: 5 });
    return {};
  });
  await kb.close();
  await model.close();
  return latencies.map(({ total }) => total);
}

/** KiB per idle session, and what the first session, which loads the knowledge base, added. */
async function sessionMemory(server, agents, question, { sessions }) {
  const empty = server.memory();
  await open(server, agents, 1);
  await agents[0].turn(question(0));
  await wait(1000);
  const first = server.memory();
  await open(server, agents, sessions - 1);
  await wait(5000);
  const all = server.memory();
  const each = (name) => (all[name] - first[name]) / (sessions - 1);
  return { empty, first, all, perSession: { resident: each('resident'), anonymous: each('anonymous') } };
}

async function open(server, agents, count) {
  for (let made = 0; made < count; made += 50) {
    const batch = Array.from({ length: Math.min(50, count - made) }, async () => {
      const session = await (await connect({ port: server.port })).createSession();
      return session.createAgent({ graph, enableDiagnostics: true });
    });
    agents.push(...(await Promise.all(batch)));
  }
}

function turnLatencies(agents, question, options) {
  return paced(options, async (turn) => {
    const complete = await agents[(turn * 389) % agents.length].turn(question(turn));
    if (complete.status !== 'completed') throw new Error(JSON.stringify(complete));
    const [{ embedMs, searchMs }] = complete.diagnostics.nodes;
    return { native: embedMs + searchMs };
  });
}

/** Calls `rate` times a second for `seconds`, after two seconds that do not count. */
async function paced({ rate, seconds }, call) {
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

function report({ sessions, records, rate, seconds }, bare, { first, all, perSession }, turns) {
  const total = turns.map((turn) => turn.total);
  const beyond = turns.map((turn) => turn.total - turn.native);
  const bareP50 = percentile(bare, 0.5);
  const row = (name, list) => ({
    name,
    p50: percentile(list, 0.5),
    p99: percentile(list, 0.99),
    ratio: percentile(list, 0.5) / bareP50,
  });
  const columns = [
    { key: 'name', label: '' },
    { key: 'p50', label: 'p50 ms', digits: 2 },
    { key: 'p99', label: 'p99 ms', digits: 2 },
    { key: 'ratio', label: 'p50 / bare', digits: 2 },
  ];
  const latency = {
    id: 'server',
    title: 'Server, turns as a client sees them',
    columns,
    rows: [
      row('bare: embedding and search, no server', bare),
      row('turn, as the client sees it', total),
      row('turn beyond its own embedding and search', beyond),
    ],
  };
  const memory = {
    id: 'server-memory',
    title: 'Server memory',
    columns: [
      { key: 'name', label: '' },
      { key: 'value', label: 'resident' },
    ],
    rows: [
      { name: 'with the knowledge base and one session', value: `${(first.resident / 1024).toFixed(0)} MiB` },
      { name: `with ${sessions} sessions`, value: `${(all.resident / 1024).toFixed(0)} MiB` },
      { name: 'an idle session', value: `${perSession.resident.toFixed(1)} KiB` },
    ],
  };
  const data = `${sessions} sessions over one knowledge base, ${rate} turns a second for ${seconds} s, hybrid, top 5; ${records} records (${textSource()}), cut to 400 characters, embedded by lorekeep-mini`;
  return { data, tables: [latency, memory] };
}
