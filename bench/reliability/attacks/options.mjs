// Attacks through connections that end badly, and through options of searches, strings and graphs that cost more than they look; memory.mjs says
// what an attack is.

const mib = 1024 * 1024;
const times = (text, count) => text.repeat(count);
const docs = { embedded_string_storage: 'docs' };
const graphOf = (...nodes) => ({ nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) });

/** Searches with the same options, one after the other, by each of 16 clients. */
const searches = (name, optionsOf) => ({
  name: `${name}, 16 clients`,
  lanes: 16,
  async lane({ open, alive, word }) {
    const peer = await open();
    const session_id = await peer.storage();
    const search = { type: 'SearchEmbeddedStringStorageRequest', session_id };
    for (let id = 0; alive() && !peer.closed; id++)
      await peer.request({ ...search, name: 'docs', ...optionsOf(word, id), id });
  },
});

/** Long payloads, each once the one before has its answer. */
const payloads = (name, payload) => ({
  name: `${name}, 8 clients`,
  lanes: 8,
  async lane({ open, alive }) {
    const peer = await open();
    while (alive() && !peer.closed) {
      const answered = peer.replies;
      await peer.send(payload);
      while (alive() && !peer.closed && peer.replies === answered) await new Promise(setImmediate);
    }
  },
});

/** Connections that ask for much and end at once. */
const leaving = (name, end) => ({
  name: `${name}, 24 clients`,
  lanes: 24,
  async lane({ open, alive, word, pause }) {
    while (alive()) {
      const peer = await open();
      const session_id = await peer.storage();
      const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'docs', top_k: 1000 };
      for (let id = 0; id < 40; id++) void peer.send({ ...search, id, mode: 'hybrid', text: word() });
      await pause(5);
      end(peer);
      await Promise.race([peer.gone, pause(200)]);
      peer.close();
    }
  },
});

export const optionAttacks = [
  leaving('connections reset with 40 searches under way', ({ socket }) => socket.resetAndDestroy()),
  leaving('connections half closed with 40 searches under way', ({ socket }) => socket.end()),
  searches('1,000 hits with 20 neighbours each', (word) => ({
    ...{ text: `${word()} ${word()}`, mode: 'lexical', top_k: 1000, context: 10, context_field: 'year' },
  })),
  searches('1,000 hits without near duplicates, in groups, with snippets', (word) => ({
    ...{ text: `${word()} ${word()}`, mode: 'hybrid', top_k: 1000, drop_duplicates: 0.5 },
    ...{ group_by: 'year', group_size: 1000, highlight: true },
  })),
  searches('1,000 hits with feedback and 10,000 candidates', (word) => ({
    ...{ text: `${word()} ${word()}`, mode: 'hybrid', top_k: 1000, feedback: 2 },
    ...{ fusion: 'scores', scores: { candidates: 10_000 } },
  })),
  searches('1,024 clauses of prefixes, phrases and corrections', (word) => ({
    ...{ text: Array.from({ length: 340 }, () => `${word()[0]}* "${word()} ${word()}" ${word()}`).join(' ') },
    ...{ mode: 'lexical', top_k: 1000, lexical: { query_syntax: 'extended', fuzziness: 1 }, highlight: true },
  })),
  searches('10,000 synonyms and stop words', (word) => ({
    ...{ text: word(), mode: 'lexical' },
    lexical: {
      synonyms: Array.from({ length: 5000 }, (_, n) => [word(), `${word()}${n}`]),
      stopwords: Array.from({ length: 10_000 }, (_, n) => `${word()}${n}`),
    },
  })),
  searches('variables of 20,000 values and filters of 2,000 objects', (word, id) => ({
    ...{
      text: word(),
      mode: 'lexical',
      variables: { list: Array.from({ length: 19_000 }, (_, n) => n + id) },
    },
    filter: { or: Array.from({ length: 900 }, (_, n) => ({ '==': [{ knowledge: 'year' }, n + id] })) },
  })),
  {
    name: 'one storage under 16 names, and paths that lead to it in many spellings, 8 clients',
    lanes: 8,
    async lane({ open, alive, word }) {
      const peer = await open();
      const session_id = await peer.session();
      const names = (id) => Array.from({ length: 16 }, (_, n) => `${times('./', (id + n) % 900)}kb.json`);
      const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, mode: 'hybrid', top_k: 1000 };
      for (let id = 0; alive() && !peer.closed; id++)
        await peer.request({ ...search, id, names: names(id), text: word() });
    },
  },
  payloads(
    'strings of 4 MiB of escapes',
    `{"type":"Ping","id":1,"x":["${times('\\u00e9', (4 * mib) / 6 - 8)}","${times('\\n', 2 * mib - 8)}"]}`,
  ),
  payloads(
    'frames of 8 MiB of emoji and of long numbers',
    `{"type":"Ping","id":1,"x":["${times('😀', mib - 8)}",${times(`${times('9', 1000)}.5,`, 4000)}1]}`,
  ),
  payloads(
    '90 objects of 10,000 fields',
    `{"type":"Ping","id":1,"x":[${Array.from({ length: 90 }, (_, at) => `{${Array.from({ length: 9999 }, (_, n) => `"k${at}_${n}":${n}`).join(',')}}`).join(',')}]}`,
  ),
  {
    name: 'graphs of 256 nodes and 4,096 edges with texts of 16 KiB, made and destroyed, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.storage();
      const graph = graphOf(
        ...Array.from({ length: 256 }, () => ['retrieve', { ...docs, query: times('{{text}} x', 1600) }]),
      );
      graph.edges = Array.from({ length: 256 }, (_, n) =>
        Array.from({ length: 16 }, (_, at) => [`n${n}`, `n${n + at + 1}`]),
      )
        .flat()
        .filter(([, to]) => Number(to.slice(1)) < 256);
      for (let id = 0; alive() && !peer.closed; id++) {
        const made = await peer.request({ type: 'CreateAgentRequest', id, session_id, graph });
        const { agent_id } = made ?? {};
        if (agent_id !== undefined)
          await peer.request({ type: 'DestroyAgentRequest', id: `end ${id}`, session_id, agent_id });
      }
    },
  },
  {
    name: '400 connections that ping one after the other',
    lanes: 400,
    async lane({ open, alive }) {
      const peer = await open();
      for (let id = 0; alive() && !peer.closed; id++) await peer.request({ type: 'Ping', id });
    },
  },
  {
    name: 'clients that rest and then send 200 frames of 64 KiB at once, 32 clients',
    lanes: 32,
    async lane({ open, alive, pause }) {
      const peer = await open();
      const payload = JSON.stringify({ type: 'Ping', id: 1, x: times('[1,2],', 10_000) });
      while (alive() && !peer.closed) {
        for (let n = 0; n < 200 && alive() && !peer.closed; n++) void peer.send(payload);
        await pause(1000 - (Date.now() % 1000)); // all at the same time
      }
    },
  },
];
