// Attacks through results: long ones, results of many storages, results of turns, and leftovers. memory.mjs defines attacks.

const mib = 1024 * 1024;
const times = (text, count) => text.repeat(count);
const many = (count, make) => Array.from({ length: count }, (_, n) => make(n));
const docs = { embedded_string_storage: 'docs' };
const graphOf = (...nodes) => ({ nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) });
const year = { knowledge: 'year' };

/** Searches of a new session, one after the other. `prepare` gets the peer and the session. */
const searches = (name, lanes, optionsOf, prepare = async () => {}) => ({
  name: `${name}, ${lanes} clients`,
  lanes,
  async lane({ open, alive, word }) {
    const peer = await open();
    const session_id = await peer.storage();
    await prepare(peer, session_id);
    const search = { type: 'SearchEmbeddedStringStorageRequest', session_id };
    for (let id = 0; alive() && !peer.closed; id++)
      await peer.request({ ...search, ...optionsOf(word, id), id });
  },
});

const namesOf = (count, id) => many(count, (n) => `${times('./', (id + n) % 900)}kb.json`);

export const resultAttacks = [
  searches('4 names of one storage, in groups, with neighbours and snippets', 8, (word, id) => ({
    ...{ names: namesOf(4, id), text: `${word()} ${word()}`, mode: 'hybrid', top_k: 200, context: 10 },
    ...{ group_by: 'year', group_size: 1000, drop_duplicates: 0.01, highlight: true },
    importance: { field: 'year', weight: 0.5 },
  })),
  searches('16 names of one storage, with a new filter of 900 operators each time', 8, (word, id) => ({
    ...{ names: namesOf(16, id), text: word(), mode: 'dense', top_k: 5 },
    filter: { and: many(900, (n) => ({ '!=': [year, n + 10_000 * id] })) },
  })),
  searches(
    'hits with texts of a megabyte of blanks',
    4,
    (word) => ({ name: 'long', text: word(), mode: 'dense', top_k: 20, highlight: true }),
    (peer, session_id) =>
      peer.request({
        ...{ type: 'CreateEmbeddedStringStorageRequest', id: 'long', session_id, name: 'long' },
        ...{ strings: many(20, (n) => `${n}${times(' ', mib - 64)}.`), embedding_model: 'tiny' },
      }),
  ),
  searches('1,000 records like one, without near duplicates', 16, (_, id) => ({
    ...{ name: 'docs', similar_to: `r${id % 5000}`, top_k: 999, drop_duplicates: 0.001, context: 1 },
  })),
  {
    name: 'turns that return the hits of 64 searches, with diagnostics, 4 clients',
    lanes: 4,
    async lane({ open, alive, word }) {
      const peer = await open();
      const session_id = await peer.storage();
      const node = ['retrieve', { ...docs, mode: 'hybrid', top_k: 200, emit: true }];
      const graph = graphOf(...many(64, () => node));
      const create = { type: 'CreateAgentRequest', id: 'agent', session_id, graph, enable_diagnostics: true };
      const { agent_id } = (await peer.request(create)) ?? {};
      for (let id = 0; alive() && !peer.closed; id++) {
        const complete = peer.next('TurnComplete');
        await peer.send({ type: 'TurnRequest', id, session_id, agent_id, text: word(), hits: true });
        await complete;
      }
    },
  },
  {
    name: 'connections that leave 20 agents of 256 nodes and 500 sessions behind, 4 clients',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.storage();
      const graph = graphOf(...many(256, (n) => ['retrieve', { ...docs, query: `{{text}} ${n}` }]));
      for (let id = 0; id < 500; id++) void peer.send({ type: 'CreateSessionRequest', id });
      for (let n = 0; n < 20 && alive() && !peer.closed; n++)
        await peer.request({ type: 'CreateAgentRequest', id: `agent ${n}`, session_id, graph });
      peer.close();
    },
  },
];
