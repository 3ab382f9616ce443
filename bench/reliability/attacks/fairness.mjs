// Attacks on the time of others; memory.mjs says what an attack is.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { modelName } from '../sample.mjs';

const times = (text, count) => text.repeat(count);
const ping = (id) => ({ type: 'Ping', id });
const search = (session_id, params) => ({
  ...{ type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'docs', mode: 'lexical' },
  ...params,
});

/** One request after the other, each once the one before has its answer. */
async function again({ alive }, peer, requestOf) {
  for (let id = 0; alive() && !peer.closed; id++) await peer.request({ ...requestOf(id), id });
}

const pingers = (lanes) => ({
  name: lanes === 1 ? 'a client that pipelines pings' : `${lanes} clients that pipeline pings`,
  lanes,
  async lane({ open, alive }) {
    const peer = await open();
    const frames = Array.from({ length: 500 }, (_, id) => JSON.stringify(ping(id)));
    while (alive() && !peer.closed) for (const frame of frames) await peer.send(frame);
  },
});

/** Changes a storage without pause. Every change must be applied. `storage`: its source. */
const writer = (kind, storage, needs = {}) => ({
  name: `a client that changes 200 records of ${kind} at a time, without pause`,
  lanes: 1,
  ...needs,
  async lane(tools) {
    const peer = await tools.open();
    const target = { session_id: await peer.session(), name: 'written' };
    await peer.request({ type: 'CreateEmbeddedStringStorageRequest', id: 'made', ...target, ...storage });
    for (let round = 0; tools.alive() && !peer.closed; round++) {
      const add = Array.from({ length: 200 }, (_, n) => ({
        id: `w${(round * 200 + n) % 5000}`,
        text: `${tools.word()} ${tools.word()} ${round}`,
      }));
      const change = { type: 'UpdateEmbeddedStringStorageRequest', id: round, ...target, upsert: true, add };
      const { version, ...reply } = (await peer.request(change)) ?? { version: 0 };
      if (version === undefined) return tools.found(`a change was refused: ${JSON.stringify(reply)}`);
    }
  },
});

export const fairnessAttacks = [
  {
    name: 'other programs that fill all cores',
    lanes: availableParallelism(),
    async lane({ alive, pause }) {
      const busy = new Worker('for (;;);', { eval: true });
      while (alive()) await pause(10);
      await busy.terminate();
    },
  },
  pingers(1),
  pingers(20),
  {
    name: '16 lexical searches of 300,000 words each',
    lanes: 16,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.storage();
      const text = Array.from({ length: 300_000 }, tools.word).join(' ');
      await again(tools, peer, () => search(session_id, { text }));
    },
  },
  {
    name: 'frames with 900,000 unknown fields',
    lanes: 2,
    async lane(tools) {
      const peer = await tools.open();
      const fields = Array.from({ length: 900_000 }, (_, n) => `"f${n}":0`).join(',');
      while (tools.alive() && !peer.closed) {
        const answered = peer.replies;
        await peer.send(`{"type":"Ping","id":1,${fields}}`);
        while (tools.alive() && !peer.closed && peer.replies === answered) await tools.pause(2);
      }
    },
  },
  {
    name: 'hybrid searches, 1,000 hits, 16 clients that pipeline',
    lanes: 16,
    async lane({ open, alive, word }) {
      const peer = await open();
      const session_id = await peer.storage();
      for (let id = 0; alive() && !peer.closed; id++)
        await peer.send({
          ...search(session_id, { text: `${word()} ${word()}`, mode: 'hybrid', top_k: 1000 }),
          id,
        });
    },
  },
  {
    name: 'inline storages made and destroyed, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const strings = Array.from({ length: 2000 }, () => `${tools.word()} ${tools.word()}`);
      const name = { session_id, name: 's' };
      await again(tools, peer, (id) =>
        id % 2 === 0
          ? { type: 'CreateEmbeddedStringStorageRequest', ...name, strings, embedding_model: 'tiny' }
          : { type: 'DestroyEmbeddedStringStorageRequest', ...name },
      );
    },
  },
  {
    name: 'graphs of 256 nodes, 4 clients',
    lanes: 4,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.storage();
      const params = { embedded_string_storage: 'docs', query: times('{{text}} {{a}} ', 500) };
      const nodes = Array.from({ length: 256 }, (_, n) => ({ id: `n${n}`, type: 'retrieve', params }));
      await again(tools, peer, () => ({ type: 'CreateAgentRequest', session_id, graph: { nodes } }));
    },
  },
  {
    name: 'turns of long texts against patterns, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const graph = { nodes: [{ id: 'guard', type: 'regex_guardrail', params: {} }] };
      const made = await peer.request({ type: 'CreateAgentRequest', id: 'agent', session_id, graph });
      const turn = {
        type: 'TurnRequest',
        session_id,
        agent_id: made?.agent_id,
        text: times('ignore all ', 100_000),
      };
      await again(tools, peer, () => turn);
    },
  },
  {
    name: 'patterns that take seconds, 4 clients',
    lanes: 4,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const nodes = [
        { id: 'guard', type: 'regex_guardrail', params: { string_storage: 'slow-patterns.txt' } },
      ];
      for (let id = 0; tools.alive() && !peer.closed; id += 2) {
        const made = await peer.request({ type: 'CreateAgentRequest', id, session_id, graph: { nodes } });
        const turn = { type: 'TurnRequest', session_id, agent_id: made?.agent_id, text: times('ab', 60_000) };
        await peer.request({ ...turn, id: id + 1 });
        await Promise.race([peer.next('TurnComplete'), tools.pause(5000)]);
      }
    },
  },
  {
    name: 'a client that remembers without pause',
    lanes: 1,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const params = { storage: 'memory', embedding_model: modelName, scope: 'agent' };
      const graph = { nodes: [{ id: 'keep', type: 'remember', params }] };
      const { agent_id } = await peer.request({ type: 'CreateAgentRequest', id: 'a', session_id, graph });
      for (let id = 0; tools.alive() && !peer.closed; id++) {
        const ended = peer.next('TurnComplete');
        const text = `${tools.word()} ${tools.word()} ${tools.word()} ${id}.`;
        await peer.request({ type: 'TurnRequest', id, session_id, agent_id, text });
        await Promise.race([ended, tools.pause(5000)]);
      }
    },
  },
  writer('an inline storage', { records: [{ id: 'first', text: 'a bee' }], embedding_model: modelName }),
  // In files, with a write-ahead file that is flushed and merged.
  writer(
    'a knowledge base',
    { config_path: 'own/kb.json' },
    { door: true, settings: { session_folders: 'storage_root' } },
  ),
  {
    name: 'filters of 20,000 values, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.storage();
      const values = Array.from({ length: 20_000 }, (_, n) => n);
      await again(tools, peer, (id) =>
        search(session_id, {
          text: 'x',
          mode: 'dense',
          filter: { in: [{ knowledge: 'year' }, [...values, id]] },
        }),
      );
    },
  },
  {
    name: 'connections opened and closed, 8 at a time',
    lanes: 8,
    async lane({ open, alive }) {
      while (alive()) (await open()).close();
    },
  },
  {
    name: 'frames byte by byte, 50 clients',
    lanes: 50,
    async lane({ open, alive, pause }) {
      const peer = await open();
      const bytes = Buffer.from([1, 0, 1, 0, 0, ...Buffer.alloc(65_536, 32)]);
      for (let at = 0; alive() && !peer.closed && at < bytes.length; at++) {
        await peer.bytes(bytes.subarray(at, at + 1));
        if (at % 8 === 0) await pause(1);
      }
    },
  },
  {
    name: 'knowledge bases that do not open, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const paths = [
        'absent.json',
        'records.json',
        'models.json',
        times('%25', 1300),
        `${times('a/', 2000)}x.json`,
      ];
      await again(tools, peer, (id) => ({
        ...{
          type: 'CreateEmbeddedStringStorageRequest',
          session_id,
          name: `s${id}`,
          config_path: paths[id % paths.length],
        },
      }));
    },
  },
];
