// Attacks through the content of frames: memories, changes, forgetting, versions, actions and imported histories. memory.mjs says
// what an attack is.

const mib = 1024 * 1024;
const times = (text, count) => text.repeat(count);
const of = (all, n) => all[n % all.length];
const list = (count, itemOf) => Array.from({ length: count }, (_, n) => itemOf(n));
const graphOf = (...nodes) => ({ nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) });
const docs = { embedded_string_storage: 'docs' };

/** Texts that are dear for code that looks for ends of words and sentences, or for normal forms. */
const odd = [
  (length) => `${times('.', length - 1)}x`,
  (length) => `a${times('\u0301\u0323', (length - 1) / 2)}`,
  (length) => times('\ufdfa', length),
  (length) => `${times(' .!?', length / 4)}x`,
  (length) => times('?)', length / 2),
  (length) => times('a', length),
  (length) => times("n't ", length / 4),
  (length) => times('"\\', length / 2),
];

/** A turn, until it is over. */
async function turn({ alive }, peer, frame) {
  if (!alive()) return;
  const ended = peer.next('TurnComplete');
  const { turn_id } = (await peer.request({ type: 'TurnRequest', ...frame })) ?? {};
  if (turn_id !== undefined) await ended;
}

/** Turns of agents that are made anew after some turns. */
const turns = (name, lanes, graphFor, frameOf, extra = {}) => ({
  name,
  lanes,
  async lane(tools) {
    const peer = await tools.open();
    const session_id = await peer.storage();
    for (let id = 0; tools.alive() && !peer.closed; id++) {
      const graph = graphFor(id + tools.lane);
      const create = { type: 'CreateAgentRequest', id: `agent ${id}`, session_id, graph, ...extra };
      const { agent_id } = (await peer.request(create)) ?? {};
      for (let n = 0; agent_id !== undefined && n < 8 && tools.alive() && !peer.closed; n++)
        await turn(tools, peer, { id: `turn ${id} ${n}`, session_id, agent_id, ...frameOf(id * 8 + n) });
      if (agent_id !== undefined)
        await peer.request({ type: 'DestroyAgentRequest', id: `end ${id}`, session_id, agent_id });
    }
  },
});

/** Requests about an inline storage of the session, one after the other. */
const changes = (name, lanes, requestOf) => ({
  name,
  lanes,
  async lane(tools) {
    const peer = await tools.open();
    const session_id = await peer.session();
    const records = [{ id: 'first', text: 'a first text' }];
    const fields = [{ name: 'tags', type: 'set<string>', optional: true }];
    const create = { type: 'CreateEmbeddedStringStorageRequest', id: 'made', session_id, name: 'mine' };
    await peer.request({ ...create, records, fields, embedding_model: 'tiny' });
    for (let id = 0; tools.alive() && !peer.closed; id++)
      await peer.request({ session_id, name: 'mine', ...requestOf(id + tools.lane), id });
  },
});

const update = (fields) => ({ type: 'UpdateEmbeddedStringStorageRequest', upsert: true, ...fields });
const remember = (params) => ['remember', { storage: 'memory', embedding_model: 'tiny', ...params }];

export const neighbourAttacks = [
  turns(
    'turns that remember odd texts, with subjects of 200,000 characters, 4 clients',
    4,
    (id) =>
      graphOf(
        remember({
          ...{ subject: '{{text}}', speaker: '{{text}}', kinds: ['said'], questions: true },
          ...(id % 2 === 0 && { template: '{{variables.v}}', on_conflict: 'replace' }),
        }),
      ),
    (n) => ({ text: of(odd, n)(200_000), variables: { v: of(odd, n + 3)(100_000) } }),
  ),
  turns(
    'turns with conditions and templates over long lists, remembered, 4 clients',
    4,
    () =>
      graphOf(
        ...list(16, (n) =>
          remember({
            storage: `m${n}`,
            condition: times('{{#variables.l}}{{^x}}a{{/x}}{{/variables.l}}', 300),
            template: `{{text}}${times('{{variables.v}}', 10)}`,
          }),
        ),
      ),
    (n) => ({ text: of(odd, n)(16_000), variables: { l: list(10, () => 1), v: times('v ', 6000) } }),
  ),
  changes('records with 16,000 odd characters and many tags changed and removed, 4 clients', 4, (n) =>
    update({
      add: list(60, (at) => ({
        id: `${at % 40}`,
        text: of(odd, n + at)(16_000),
        metadata: { tags: list(200, (m) => `${n} ${at} ${m}`) },
      })).slice(0, 40),
    }),
  ),
  changes('long texts added and removed a record at a time, with versions kept, 4 clients', 4, (n) =>
    n % 60 === 0
      ? update({ add: list(40, (at) => ({ id: `r${at}`, text: times(`w${n}x${at} `, 100_000) })) })
      : update({ remove: [`r${(n % 60) % 40}`] }),
  ),
  changes('reads and searches at odd versions, 8 clients', 8, (n) =>
    of(
      [
        { type: 'ListEmbeddedStringStorageRequest', as_of: times('9', 60), limit: 1000 },
        { type: 'ListEmbeddedStringStorageRequest', as_of: n % 7, limit: 1000 },
        { type: 'GetEmbeddedStringStorageRequest', ids: list(1000, (at) => `${at}`), as_of: n % 5 },
        { type: 'SearchEmbeddedStringStorageRequest', text: 'a', as_of: '2999-01-01T00:00:00Z', top_k: 1000 },
        update({ add: [{ id: `${n % 50}`, text: `a text ${n}` }] }),
      ],
      n,
    ),
  ),
  {
    name: 'records of 20,000 like sentences forgotten, beside histories of 8 MiB that quote them, 2 clients',
    lanes: 2,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const sentence = (n) => `the same beginning of every sentence ${n}. `;
      const record = (n) => list(20_000, (at) => sentence(n * 20_000 + at)).join('');
      const history = {
        version: 1,
        turns: list(40, (n) => ({ text: 'x', reply: times(sentence(n), 4500) })),
      };
      const graph = graphOf(['generate', { history: { turns: 100 } }]);
      await peer.request({ type: 'CreateAgentRequest', id: 'agent', session_id, graph, history });
      const first = [{ id: 'first', text: 'a first text' }];
      const create = { type: 'CreateEmbeddedStringStorageRequest', id: 'made', session_id, name: 'mine' };
      await peer.request({ ...create, records: first, embedding_model: 'tiny' });
      for (let n = 0; tools.alive() && !peer.closed; n++) {
        const named = { session_id, name: 'mine' };
        const add = [{ id: `r${n}`, text: record(n) }];
        await peer.request({ ...named, ...update({ add }), id: `add ${n}` });
        const forget = { type: 'ForgetEmbeddedStringStorageRequest', ids: [`r${n}`] };
        await peer.request({ ...named, ...forget, id: `forget ${n}` });
      }
    },
  },
  turns(
    'agents with 64 actions of large schemas, and histories with large results, 4 clients',
    4,
    (id) =>
      graphOf([
        'generate',
        {
          ...{ max_tokens: 2, context_size: 2048, history: { turns: 100 } },
          actions: list(64, (n) => ({
            name: `a${n}`,
            description: of(odd, n)(1000),
            parameters: {
              type: 'object',
              properties: Object.fromEntries(list(20, (at) => [`p${at}`, { enum: [of(odd, id)(50), at] }])),
            },
          })),
        },
      ]),
    () => ({ text: 'bee' }),
    {
      history: {
        version: 1,
        turns: list(50, (n) => ({
          text: 'x',
          reply: 'y',
          action: { name: 'a', arguments: { a: list(300, (at) => at) } },
          ...(n > 0 && { action_result: list(300, (at) => ({ at })) }),
        })),
      },
    },
  ),
  turns(
    'turns at versions of 1,000 names, and with results of 20,000 values, 8 clients',
    8,
    () => graphOf(['retrieve', { ...docs, mode: 'lexical', query: '{{variables.v}}' }]),
    (n) => ({
      text: 'bee',
      as_of: Object.fromEntries(list(1000, (at) => [`name ${at}`, n])),
      variables: { v: of(odd, n)(30_000) },
    }),
  ),
  {
    name: 'searches of 16 storages with odd texts, templates and fields, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.storage();
      for (let n = tools.lane; tools.alive() && !peer.closed; n++)
        await peer.request({
          ...{ type: 'SearchEmbeddedStringStorageRequest', id: n, session_id, top_k: 1000 },
          ...(n % 2 === 0 ? { names: list(16, () => 'docs') } : { name: 'docs' }),
          text: of(odd, n)(30_000),
          query: times('{{text}}', 1 + (n % 8)),
          highlight: true,
          filter: { in: [{ knowledge: 'tags' }, list(5000, (at) => `${of(odd, n)(20)}${at}`)] },
        });
    },
  },
  {
    name: 'names, ids and secrets of a megabyte in every field that names something, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      for (let n = tools.lane; tools.alive() && !peer.closed; n++) {
        const long = of(odd, n)(mib);
        const named = { session_id, agent_id: long, turn_id: long, name: long, forget_id: long, model: long };
        for (const [at, type] of [
          'DestroyAgentRequest',
          'CancelTurnRequest',
          'DestroyEmbeddedStringStorageRequest',
          'ConfirmForgetRequest',
          'PullModelRequest',
          'ExportAgentRequest',
          long,
        ].entries())
          await peer.request({ type, id: `${n}.${at}`, ...named, [long.slice(0, 5000)]: 1 });
      }
    },
  },
];
