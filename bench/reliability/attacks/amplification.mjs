// Attacks in which little from a client becomes much work or memory; memory.mjs says what an attack is.

const times = (text, count) => text.repeat(count);
const mib = 1024 * 1024;
const docs = { embedded_string_storage: 'docs' };
const graphOf = (...nodes) => ({ nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) });

/** An agent of `graph` in a new session with a storage. */
async function agentOf(peer, graph) {
  const session_id = await peer.storage();
  const made = await peer.request({ type: 'CreateAgentRequest', id: 'agent', session_id, graph });
  return { session_id, agent_id: made?.agent_id };
}

const raw = (name, bytesOf) => ({
  name,
  lanes: 16,
  async lane({ open, alive }) {
    const peer = await open();
    while (alive() && !peer.closed) await peer.bytes(bytesOf());
  },
});

export const amplificationAttacks = [
  {
    name: 'templates that repeat a variable of 2 MiB 10,000 times',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const graph = graphOf(['retrieve', { ...docs, mode: 'lexical', query: times('{{v}}', 10_000) }]);
      const agent = await agentOf(peer, graph);
      const turn = { type: 'TurnRequest', ...agent, text: 'x', variables: { v: times('bee ', mib / 2) } };
      for (let id = 0; alive() && !peer.closed; id++) await peer.request({ ...turn, id });
    },
  },
  {
    name: 'templates of nested sections over long lists',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const query = `${times('{{#a}}', 8)}x${times('{{/a}}', 8)}`;
      const agent = await agentOf(peer, graphOf(['retrieve', { ...docs, query }]));
      const a = Array.from({ length: 60 }, (_, n) => n);
      const turn = { type: 'TurnRequest', ...agent, text: 'x', variables: { a } };
      for (let id = 0; alive() && !peer.closed; id++) await peer.request({ ...turn, id });
    },
  },
  {
    name: 'turns begun and cancelled, pipelined, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      const agent = await agentOf(peer, graphOf(['retrieve', { ...docs, mode: 'hybrid', top_k: 1000 }]));
      const { session_id } = agent;
      for (let id = 0; alive() && !peer.closed; id += 2) {
        await peer.send({ type: 'TurnRequest', id, ...agent, text: 'bee' });
        await peer.send({
          type: 'CancelTurnRequest',
          id: id + 1,
          session_id,
          turn_id: `${session_id}.t${id / 2 + 1}`,
        });
      }
    },
  },
  {
    name: 'one turn through 256 searches of 1,000 hits, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      const node = ['retrieve', { ...docs, mode: 'hybrid', top_k: 1000 }];
      const agent = await agentOf(peer, graphOf(...Array.from({ length: 256 }, () => node)));
      for (let id = 0; alive() && !peer.closed; id++) {
        const answered = peer.replies;
        await peer.send({ type: 'TurnRequest', id, ...agent, text: 'bee' });
        while (alive() && !peer.closed && peer.replies < answered + 2) await new Promise(setImmediate);
      }
    },
  },
  {
    name: 'filters nested 60 deep with 10,000 comparisons, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.storage();
      const comparisons = Array.from({ length: 10_000 }, (_, n) => ({ '==': [{ knowledge: 'year' }, n] }));
      let filter = { or: comparisons };
      for (let depth = 0; depth < 50; depth++) filter = { and: [filter] };
      const search = {
        type: 'SearchEmbeddedStringStorageRequest',
        session_id,
        name: 'docs',
        text: 'x',
        filter,
      };
      for (let id = 0; alive() && !peer.closed; id++) await peer.request({ ...search, id });
    },
  },
  {
    name: 'frames in which one key occurs 500,000 times, 4 clients',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const payload = `{"type":"Ping","id":1${times(',"id":1', 500_000)}}`;
      while (alive() && !peer.closed) {
        const answered = peer.replies;
        await peer.send(payload);
        while (alive() && !peer.closed && peer.replies === answered) await new Promise(setImmediate);
      }
    },
  },
  {
    name: 'frames nested 60 deep, each level wide, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      let value = '0';
      for (let depth = 0; depth < 58; depth++) value = `[${value}${times(',{"a":[]}', 2000)}]`;
      const payload = `{"type":"Ping","id":1,"x":${value}}`;
      while (alive() && !peer.closed) {
        const answered = peer.replies;
        await peer.send(payload);
        while (alive() && !peer.closed && peer.replies === answered) await new Promise(setImmediate);
      }
    },
  },
  {
    name: 'inline storages of 100,000 strings, 4 clients',
    lanes: 4,
    async lane({ open, alive, word }) {
      const peer = await open();
      const session_id = await peer.session();
      const strings = Array.from({ length: 100_000 }, () => `${word()} ${word()}`);
      for (let id = 0; alive() && !peer.closed; id++) {
        const names = { name: `s${id}`, embedding_model: 'tiny' };
        await peer.request({ type: 'CreateEmbeddedStringStorageRequest', id, session_id, strings, ...names });
      }
    },
  },
  raw('HTTP requests, 16 clients', () => Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')),
  raw('zeros, 16 clients', () => Buffer.alloc(65_536)),
];
