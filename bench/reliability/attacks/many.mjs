// Attacks by many small things in one request, each of which some loop looks at: records, ids, equal texts, different words. memory.mjs
// says what an attack is, doors.mjs what `door` is.
import { posted, Wire } from './wire.mjs';

const list = (count, itemOf) => Array.from({ length: count }, (_, n) => itemOf(n));
const of = (all, n) => all[n % all.length];
const small = 60_000;

/** A text of very many different words. */
const wide = (name, words) => list(words, (n) => `${name}x${n}`).join(' ');

/** Requests about an inline storage of the session, one after the other. */
const changes = (name, lanes, requestsOf) => ({
  name,
  lanes,
  async lane(tools) {
    const peer = await tools.open();
    const session_id = await peer.session();
    const create = { type: 'CreateEmbeddedStringStorageRequest', id: 'made', session_id, name: 'mine' };
    await peer.request({ ...create, records: [{ id: 'first', text: 'a' }], embedding_model: 'tiny' });
    for (let id = 0; tools.alive() && !peer.closed; id++)
      await peer.request({ session_id, name: 'mine', ...requestsOf(id + tools.lane, tools), id });
  },
});

const update = (fields) => ({ type: 'UpdateEmbeddedStringStorageRequest', upsert: true, ...fields });

export const manyAttacks = [
  changes('changes of 60,000 small records at once, added and removed, 2 clients', 2, (n) =>
    of(
      [
        update({ add: list(small, (at) => ({ id: `${at}`, text: `a${at % 50}` })) }),
        update({ add: list(small, () => ({ id: 'same', text: 'a' })) }),
        update({ remove: list(small, (at) => `${at}`) }),
        update({ remove: list(small, (at) => `nobody ${at}`) }),
        { type: 'GetEmbeddedStringStorageRequest', ids: list(1000, (at) => `${at}`) },
        { type: 'ListEmbeddedStringStorageRequest', offset: small - 2000, limit: 1000 },
      ],
      n,
    ),
  ),
  changes('texts of 60,000 different words added, merged and removed, 2 clients', 2, (n) =>
    n % 6 < 4
      ? update({ add: list(4, (at) => ({ id: `${at}`, text: wide(`w${n}y${at}`, 60_000) })) })
      : n % 6 === 4
        ? { type: 'SearchEmbeddedStringStorageRequest', mode: 'lexical', text: `w${n - 1}y1x7`, top_k: 10 }
        : update({ remove: ['0', '1', '2', '3'] }),
  ),
  {
    name: 'inline storages of 60,000 equal strings, 2 clients',
    lanes: 2,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.session();
      const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, embedding_model: 'tiny' };
      for (let id = 0; alive() && !peer.closed; id++)
        await peer.request({ ...create, id, name: `s${id}`, strings: list(small, () => 'equal words') });
    },
  },
  {
    name: 'REST: 20,000 small records in one body, 2 clients',
    lanes: 2,
    door: true,
    async lane(tools) {
      for (let n = tools.lane; tools.alive(); n++) {
        const body = JSON.stringify({
          add: list(20_000, (at) => ({ id: `many${at}`, text: `a${n}`, metadata: {} })),
          upsert: true,
        });
        const wire = await Wire.open(tools.door);
        await wire.send(posted('/v1/storages/own/records', body));
        const status = await wire.head(tools);
        if (status >= 500 && status !== 503) tools.found(`many records were answered with ${status}`);
        while (tools.alive() && !wire.closed && !wire.isWhole) await tools.pause(2);
        wire.end();
      }
    },
  },
];
