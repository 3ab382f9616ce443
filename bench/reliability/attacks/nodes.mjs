// Attacks through the nodes of agents, their templates, schemas and histories, and through the frames of models; memory.mjs says what
// an attack is. The sample's language model has random weights.

const mib = 1024 * 1024;
const times = (text, count) => text.repeat(count);
const docs = { embedded_string_storage: 'docs' };
const graphOf = (...nodes) => ({ nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) });

/** One request after the other, each once the one before has its answer. */
async function again({ alive }, peer, requestOf) {
  for (let id = 0; alive() && !peer.closed; id++) await peer.request({ ...requestOf(id), id });
}

/** Agents made and destroyed in a loop, whatever becomes of them. */
const made = (name, lanes, graphFor) => ({
  name,
  lanes,
  async lane(tools) {
    const peer = await tools.open();
    const session_id = await peer.storage();
    for (let id = 0; tools.alive() && !peer.closed; id++) {
      const { agent_id } =
        (await peer.request({ type: 'CreateAgentRequest', id, session_id, graph: graphFor(id) })) ?? {};
      if (agent_id !== undefined)
        await peer.request({ type: 'DestroyAgentRequest', id: `end ${id}`, session_id, agent_id });
    }
  },
});

/** Turns of one agent, one after the other. */
const turns = (name, lanes, graph, turn) => ({
  name,
  lanes,
  async lane({ open, alive }) {
    const peer = await open();
    const session_id = await peer.storage();
    const agent = await peer.request({ type: 'CreateAgentRequest', id: 'agent', session_id, graph });
    const frame = { type: 'TurnRequest', session_id, agent_id: agent?.agent_id, ...turn };
    for (let id = 0; alive() && !peer.closed; id++) {
      const answered = peer.replies;
      await peer.send({ ...frame, id });
      // TurnStarted and TurnComplete.
      while (alive() && !peer.closed && peer.replies < answered + 2) await new Promise(setImmediate);
    }
  },
});

const letters = Array.from('abcdefghijklmnopqrstuvwxyz ', (letter) => `"${letter}"`).join(' | ');
const listed = Array.from({ length: 5000 }, (_, n) => `"${n.toString(36)}"`).join(' | ');
/** Each byte of a reply has thousands of ways. */
const dearGrammars = [
  'root ::= ([!-~ ]?){7000} [!-~ ]*',
  `root ::= ((${letters})?){290} [a-z ]*`,
  'root ::= [a-z ]* "a" [a-z ]{0,6000}',
  `root ::= (${listed} | [a-z ]{0,3000})*`,
];
const dearReply = { max_tokens: 100, temperature: 1, history: { turns: 0 } };

const layers = 40;
const wide = 8;
/** References that lead to each other through every way in a net. */
const net = Object.fromEntries(
  Array.from({ length: layers * wide }, (_, n) => {
    const next = Math.floor(n / wide) + 1;
    const targets = Array.from({ length: wide }, (_, at) => ({ $ref: `#/$defs/d${next * wide + at}` }));
    return [`d${n}`, next === layers ? { type: 'null' } : { anyOf: targets }];
  }),
);
const names = Array.from({ length: 1200 }, (_, n) => `p${n}`);
const schemas = [
  { anyOf: [{ $ref: '#/$defs/d0' }], $defs: net },
  {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
    required: names,
  },
  {
    oneOf: Array.from({ length: 250 }, (_, n) => ({
      enum: Array.from({ length: 15 }, (_, at) => n * 15 + at),
    })),
  },
  { $ref: times('#/%25', 900) },
];

const turnOf = (n) => ({ text: `question ${n}`, reply: `reply ${n}` });

export const nodeAttacks = [
  {
    name: 'templates that show a variable of 4 MiB 1,000 times, 8 clients',
    lanes: 8,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.storage();
      const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'docs', text: 'x' };
      const variables = { v: times('bee ', mib) };
      await again(tools, peer, () => ({ ...search, query: times('{{variables}}', 1000), variables }));
    },
  },
  made('graphs of 256 nodes that generate, with templates of blanks, 8 clients', 8, () =>
    graphOf(
      ...Array.from({ length: 256 }, () => [
        'generate',
        { system: `{{${times(' ', 16_000)}`, knowledge: { placement: 'template' } },
      ]),
    ),
  ),
  made('agents with large JSON schemas, 8 clients', 8, (id) =>
    graphOf(...Array.from({ length: 64 }, () => ['generate', { json_schema: schemas[id % schemas.length] }])),
  ),
  made('agents with a context size of their own, 8 clients', 8, (id) =>
    graphOf(['generate', { context_size: 512 + (id % 5000) }]),
  ),
  made('grammars that are large or ambiguous, 8 clients', 8, (id) =>
    graphOf([
      'generate',
      {
        grammar: [
          `root ::= ${times('("a" | "b" | root)? ', 3000)}`,
          `root ::= ${times('(', 500)}"a"${times(')?', 500)}`,
          `root ::= ("a"{0,1000}){0,1000}`,
          Array.from({ length: 2000 }, (_, n) => `r${n} ::= r${n + 1} | "x"`).join('\n'),
        ][id % 4],
      },
    ]),
  ),
  turns(
    'replies with the dearest grammars that are accepted, 4 clients',
    4,
    graphOf(...dearGrammars.map((grammar) => ['generate', { ...dearReply, grammar }])),
    { text: 'ba ko lu' },
  ),
  turns(
    'prompts of 1,000 records, each by a template with a loop, 8 clients',
    8,
    graphOf(
      ['retrieve', { ...docs, mode: 'lexical', top_k: 1000 }],
      ['generate', { knowledge: { item: times('{{#variables.list}}{{a}}{{b}}{{/variables.list}}', 40) } }],
    ),
    { text: 'ba ko lu', variables: { list: Array.from({ length: 5000 }, (_, n) => n) }, dry_run: true },
  ),
  {
    name: 'dry runs of long prompts by 50 agents each, 8 clients',
    lanes: 8,
    async lane({ open, alive, word }) {
      const peer = await open();
      const session_id = await peer.storage();
      const graph = graphOf(['generate', { history: { turns: 0 } }]);
      const text = Array.from({ length: 8000 }, word).join(' ');
      const agents = [];
      for (let id = 0; id < 50 && alive() && !peer.closed; id++)
        agents.push(await peer.request({ type: 'CreateAgentRequest', id, session_id, graph }));
      while (alive() && !peer.closed) {
        const answered = peer.replies;
        for (const made of agents) {
          const { agent_id } = made ?? {};
          void peer.send({ type: 'TurnRequest', id: 'turn', session_id, agent_id, text, dry_run: true });
        }
        // TurnStarted and TurnComplete.
        while (alive() && !peer.closed && peer.replies < answered + 2 * agents.length)
          await new Promise(setImmediate);
      }
    },
  },
  turns(
    'sentences for 250 queries of 5,000 words, 4 clients',
    4,
    graphOf(
      ...Array.from({ length: 250 }, (_, n) => [
        'retrieve',
        {
          ...docs,
          mode: 'lexical',
          top_k: 40,
          query: `{{variables.words}} ${n}`,
        },
      ]),
      ['quote', {}],
      ['generate', { on_no_knowledge: 'fallback', fallback: 'nothing' }],
    ),
    {
      text: 'x',
      variables: { words: Array.from({ length: 5000 }, (_, n) => `${n.toString(36)}`).join(' ') },
      dry_run: true,
    },
  ),
  {
    name: 'histories of 10,000 turns, imported, asked and exported, 4 clients',
    lanes: 4,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const history = { version: 1, turns: Array.from({ length: 10_000 }, (_, n) => turnOf(n)) };
      const graph = graphOf(['generate', { history: { turns: 10_000 } }]);
      for (let id = 0; tools.alive() && !peer.closed; id += 4) {
        const { agent_id } =
          (await peer.request({ type: 'CreateAgentRequest', id, session_id, graph, history })) ?? {};
        const agent = { session_id, agent_id };
        await peer.request({ type: 'TurnRequest', id: id + 1, ...agent, text: 'x', dry_run: true });
        await peer.request({ type: 'ExportAgentRequest', id: id + 2, ...agent });
        await peer.request({ type: 'DestroyAgentRequest', id: id + 3, ...agent });
      }
    },
  },
  {
    name: 'exports of 16 MiB, pipelined, unread, 8 clients',
    lanes: 8,
    async lane({ open, alive, pause }) {
      const peer = await open();
      const session_id = await peer.session();
      const text = times('long ', (2 * mib) / 5);
      const history = { version: 1, turns: Array.from({ length: 8 }, () => ({ text, reply: '' })) };
      const graph = graphOf(['generate', { history: { turns: 100 } }]);
      const agent = await peer.request({
        type: 'CreateAgentRequest',
        id: 'agent',
        session_id,
        graph,
        history,
      });
      peer.socket.pause();
      const frame = { type: 'ExportAgentRequest', session_id, agent_id: agent?.agent_id };
      for (let id = 0; id < 2000 && alive() && !peer.closed; id++)
        await Promise.race([peer.send({ ...frame, id }), pause(200)]);
      while (alive() && !peer.closed) await pause(50);
    },
  },
  {
    name: 'generated replies, cancelled or unread, 8 clients',
    lanes: 8,
    async lane({ open, alive, pause, lane }) {
      const peer = await open();
      const session_id = await peer.session();
      const graph = graphOf(['generate', { max_tokens: 4000, history: { turns: 0 } }]);
      const agents = [];
      for (let id = 0; id < 16 && alive() && !peer.closed; id++)
        agents.push((await peer.request({ type: 'CreateAgentRequest', id, session_id, graph }))?.agent_id);
      const turn = (id) => ({
        ...{ type: 'TurnRequest', id, session_id, agent_id: agents[id % agents.length] },
        text: `bee ${id}`,
      });
      if (lane % 2 === 0) peer.socket.pause();
      for (let id = 16; alive() && !peer.closed; id++) {
        if (lane % 2 === 0) await Promise.race([peer.send(turn(id)), pause(200)]);
        else {
          const { turn_id } = (await peer.request(turn(id))) ?? {};
          await peer.request({ type: 'CancelTurnRequest', id: `end ${id}`, session_id, turn_id });
        }
      }
    },
  },
  {
    name: 'lists of models, pulls and their ends, throttle and video memory, pipelined, 8 clients',
    lanes: 8,
    async lane({ open, alive }) {
      const peer = await open();
      const session_id = await peer.session();
      const frames = Array.from({ length: 50 }, (_, id) => [
        { type: 'ListModelsRequest', id, session_id },
        { type: 'PullModelRequest', id, session_id, model: id % 2 === 0 ? 'tiny' : times('x', 128) },
        { type: 'CancelPullRequest', id, session_id, model: 'tiny' },
        { type: 'ThrottleReport', id, level: (id % 11) / 10 },
        { type: 'VideoMemoryRequest', id, allowed: id % 2 === 0 },
      ]).flat();
      while (alive() && !peer.closed) for (const frame of frames) await peer.send(frame);
    },
  },
];
