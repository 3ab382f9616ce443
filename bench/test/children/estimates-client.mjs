// argv: port. Makes the server hold objects of the kinds that its parent names, and keeps them.
import { Peer } from '../../reliability/attacks/peer.mjs';

const port = Number(process.argv[2]);
const peers = [];
const open = async () => {
  const peer = await Peer.open(port);
  peers.push(peer);
  await peer.request({ type: 'Ping', id: 'ping' });
  return peer;
};
const main = await open();
const session_id = await main.storage();
let id = 0;

const nodes = (count, type, params) =>
  Array.from({ length: count }, (_, n) => ({ id: `node-${n}`, type, params }));
const docs = { embedded_string_storage: 'docs' };
const patterns = { string_storage: 'few-patterns.txt' };
const chain = nodes(40, 'canned_response', patterns);
const graphs = {
  agents: { nodes: nodes(20, 'retrieve', { ...docs, mode: 'hybrid', rrf: { k: 7 } }) },
  templates: { nodes: nodes(1, 'retrieve', { ...docs, query: '{{text}} of {{a.b}}, '.repeat(750) }) },
  patterns: { nodes: nodes(1, 'regex_guardrail', patterns) },
  edges: { nodes: chain, edges: chain.slice(1).map((node, n) => [chain[n].id, node.id]) },
};
const counts = { connections: 300, sessions: 2000, agents: 40, templates: 60, patterns: 40, edges: 20 };

async function make(kind) {
  if (kind === 'connections') return open();
  if (kind === 'sessions') return main.request({ type: 'CreateSessionRequest', id: id++ });
  const graph = graphs[kind];
  const reply = await main.request({ type: 'CreateAgentRequest', id: id++, session_id, graph });
  if (reply?.agent_id === undefined) throw new Error(JSON.stringify(reply));
}

process.on('disconnect', () => process.exit());
process.on('message', async ({ kind, few }) => {
  if (kind === 'status') {
    process.send(await main.request({ type: 'StatusRequest', id: id++ }));
    return;
  }
  const count = few ? 2 : counts[kind];
  for (let made = 0; made < count; made++) await make(kind);
  process.send(count);
});
