// Attacks by what clients keep: requests that pile up, agents with much state, sessions and names in a loop. memory.mjs says what an attack is.

const mib = 1024 * 1024;
const times = (text, count) => text.repeat(count);
const graphOf = (type, count, paramsOf) => ({
  nodes: Array.from({ length: count }, (_, n) => ({ id: `n${n}`, type, params: paramsOf(n) })),
});

/** Creates agents until the time is up, also after refusals, and keeps them. */
const agents = (name, lanes, graphFor) => ({
  name,
  lanes,
  async lane({ open, alive }) {
    const peer = await open();
    const session_id = await peer.storage();
    for (let id = 0; alive() && !peer.closed; id++)
      await peer.request({ type: 'CreateAgentRequest', id, session_id, graph: graphFor(id) });
  },
});

/** Sends the same frames again and again and reads whatever comes. */
const repeated = (name, lanes, framesFor) => ({
  name,
  lanes,
  async lane({ open, alive }) {
    const peer = await open();
    const frames = framesFor(await peer.storage());
    while (alive() && !peer.closed) for (const frame of frames) await peer.send(frame);
  },
});

export const heldAttacks = [
  {
    name: 'frames of 4 MiB that fit, pipelined, their replies unread, 24 clients',
    lanes: 24,
    async lane({ open, alive, pause }) {
      const peer = await open();
      peer.socket.pause();
      const payload = JSON.stringify({ type: 'Ping', id: times('i', 128), x: times('x', 4 * mib - 64) });
      while (alive() && !peer.closed) await Promise.race([peer.send(payload), pause(500)]);
    },
  },
  agents('agents with lists of 1,000 patterns of 900 characters, 4 clients', 4, () =>
    graphOf('regex_guardrail', 16, () => ({ string_storage: 'patterns.txt' })),
  ),
  agents('agents that hold filters of 20,000 values, 4 clients', 4, (id) =>
    graphOf('retrieve', 16, (n) => ({
      embedded_string_storage: 'docs',
      filter: { in: [{ knowledge: 'year' }, Array.from({ length: 19_000 }, (_, at) => id * 1000 + n + at)] },
    })),
  ),
  repeated('sessions made and destroyed, pipelined, 8 clients', 8, () =>
    Array.from({ length: 50 }, (_, n) => [
      { type: 'CreateSessionRequest', id: n },
      { type: 'DestroySessionRequest', id: -n, session_id: `s${n}` },
    ]).flat(),
  ),
  repeated('one id in all requests, and names that are taken, 8 clients', 8, (session_id) => [
    {
      ...{ type: 'CreateEmbeddedStringStorageRequest', id: 'same', session_id, name: 'docs' },
      ...{ strings: ['bee'], embedding_model: 'tiny' },
    },
    { type: 'SearchEmbeddedStringStorageRequest', id: 'same', session_id, name: 'docs', text: 'bee' },
    { type: 'CancelTurnRequest', id: 'same', session_id, turn_id: `${session_id}.t1` },
    { type: 'StatusRequest', id: 'same' },
  ]),
  {
    name: 'headers that never end, 800 connections',
    lanes: 800,
    async lane({ open, alive, pause }) {
      const peer = await open();
      await peer.bytes(Buffer.from([1, 0, 0]));
      while (alive() && !peer.closed) await pause(200);
    },
  },
  {
    name: 'replies of 1,000 hits read a byte at a time, 16 clients',
    lanes: 16,
    async lane({ open, alive, pause, word }) {
      const peer = await open();
      const session_id = await peer.storage();
      peer.socket.removeAllListeners('data');
      peer.socket.pause();
      const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'docs', top_k: 1000 };
      for (let id = 0; alive() && !peer.closed; id++) {
        if (id < 500)
          await Promise.race([peer.send({ ...search, id, mode: 'lexical', text: word() }), pause(20)]);
        peer.socket.read(1);
        await pause(1);
      }
    },
  },
  {
    name: 'searches of paths with unusual characters, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.session();
      const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, text: 'bee' };
      const paths = [
        times('\u0301', 900),
        '\u202Egnp.json',
        'kb\u0000.json',
        '．．/kb.json',
        times('../', 900),
        times('é/', 900),
      ];
      for (let id = 0; alive() && !peer.closed; id++)
        await peer.request({ ...search, id, name: paths[id % paths.length] });
    },
  },
  {
    name: 'frames of 60 MiB, skipped or kept, and ended after a byte, 16 clients',
    lanes: 16,
    async lane({ open, alive }) {
      const peer = await open();
      const piece = Buffer.alloc(mib, 32);
      await peer.bytes(Buffer.from([1, 3, 192, 0, 0]));
      for (let sent = 0; sent < 60 && alive() && !peer.closed; sent++) await peer.bytes(piece);
      peer.close();
    },
  },
];
