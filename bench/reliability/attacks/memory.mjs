// Attacks on memory. An attack is {name, lanes, lane({open, alive, word, lane})}: `lanes` of them run at once, again and again until the
// time is up. `open()` connects a Peer, `alive()` says whether to go on, `word()` gives a word of the records.

const kib = 1024;
const mib = 1024 * kib;
const retrieve = (params) => ({
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs', ...params } }],
});
const times = (text, count) => text.repeat(count);

export const memoryAttacks = [
  {
    name: 'agents with templates of 4 MiB',
    lanes: 1,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.storage();
      const graph = retrieve({ query: times('{{text}}{{a.b}}x', (4 * mib) / 16) });
      for (let id = 0; alive() && !peer.closed; id++)
        await peer.request({ type: 'CreateAgentRequest', id, session_id, graph });
    },
  },
  {
    name: '48 connections, 20 MiB of an unfinished frame each',
    lanes: 48,
    async lane({ open, alive, pause }) {
      const peer = await open();
      const head = Buffer.from([1, 3, 0, 0, 0]);
      await peer.bytes(head);
      const piece = Buffer.alloc(mib, 32);
      for (let sent = 0; sent < 20 && !peer.closed; sent++) await peer.bytes(piece);
      while (alive() && !peer.closed) await pause(50);
    },
  },
  {
    name: 'objects whose keys are indexes far apart, 4 clients',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const objects = times('{"1023":1,"2574":1},', 200_000);
      while (alive() && !peer.closed)
        await peer.request(`{"type":"Ping","id":"far","x":[${objects}0]}`, 'far');
    },
  },
  {
    name: 'inline storages, one after the other, kept',
    lanes: 2,
    async lane({ open, alive, word }) {
      const peer = await open();
      const session_id = await peer.session();
      for (let id = 0; alive() && !peer.closed; id++) {
        const strings = Array.from({ length: 500 }, () => times(`${word()} `, 20));
        const names = { name: `s${id}`, embedding_model: 'tiny' };
        await peer.request({ type: 'CreateEmbeddedStringStorageRequest', id, session_id, strings, ...names });
      }
    },
  },
  {
    name: 'sessions, as many as there may be, on 8 connections',
    lanes: 8,
    async lane({ open, alive, pause }) {
      const peer = await open();
      for (let id = 0; alive() && !peer.closed && id < 12_000; id++)
        await peer.send({ type: 'CreateSessionRequest', id });
      while (alive() && !peer.closed) await pause(50);
    },
  },
  {
    name: 'idle connections, 1,500',
    lanes: 1500,
    async lane({ open, alive, pause }) {
      const peer = await open();
      while (alive() && !peer.closed) await pause(200);
    },
  },
  {
    name: 'replies that nobody reads',
    lanes: 16,
    async lane({ open, alive, pause, word }) {
      const peer = await open();
      const session_id = await peer.storage();
      peer.socket.pause();
      const search = {
        type: 'SearchEmbeddedStringStorageRequest',
        session_id,
        name: 'docs',
        mode: 'lexical',
        top_k: 1000,
      };
      for (let id = 0; id < 2000 && alive() && !peer.closed; id++)
        await Promise.race([peer.send({ ...search, id, text: word() }), pause(1000)]);
      while (alive() && !peer.closed) await pause(50);
    },
  },
  {
    name: 'turns with texts and variables of 8 MiB, queued',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.storage();
      const made = await peer.request({
        type: 'CreateAgentRequest',
        id: 'agent',
        session_id,
        graph: retrieve({}),
      });
      const { agent_id } = made ?? {};
      const text = times('bee ', 2 * mib);
      const turn = { type: 'TurnRequest', session_id, agent_id, text, variables: { v: text } };
      for (let id = 0; alive() && !peer.closed; id++) await peer.send({ ...turn, id });
    },
  },
  {
    name: 'a frame of 60 MiB of small values, from 4 clients',
    lanes: 4,
    async lane({ open, alive }) {
      const peer = await open();
      const payload = `{"type":"Ping","id":1,"x":[${times('1,', 900_000)}1],"y":"${times('é', 25 * mib)}"}`;
      while (alive() && !peer.closed) {
        const answered = peer.replies;
        await peer.send(payload);
        while (alive() && !peer.closed && peer.replies === answered) await new Promise(setImmediate);
      }
    },
  },
  {
    name: 'sessions with folders of 32,000 characters, 4 clients',
    lanes: 4,
    async lane({ open, alive, pause }) {
      const peer = await open();
      const storage_data_folder = `/${times('\u6771', 32_000)}`;
      for (let id = 0; alive() && !peer.closed && id < 10_000; id++)
        await peer.request({ type: 'CreateSessionRequest', id, storage_data_folder });
      while (alive() && !peer.closed) await pause(50);
    },
  },
];
