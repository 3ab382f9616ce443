// Attacks by the content of texts: each is small, or within its limit, and dear for the code that reads it. memory.mjs says what an
// attack is. The sample's language model has random weights.

const mib = 1024 * 1024;
const times = (text, count) => text.repeat(count);
const of = (list, n) => list[n % list.length];
const docs = { embedded_string_storage: 'docs' };
const graphOf = (...nodes) => ({ nodes: nodes.map(([type, params], n) => ({ id: `n${n}`, type, params })) });
const many = (count, nodeOf) => graphOf(...Array.from({ length: count }, (_, n) => nodeOf(n)));

/** A turn, until it is over. Undefined if the connection ends first. */
async function turn({ alive }, peer, frame) {
  if (!alive()) return;
  const ended = peer.next('TurnComplete');
  const { turn_id } = (await peer.request({ type: 'TurnRequest', ...frame })) ?? {};
  if (turn_id !== undefined) await ended;
}

/** Turns of one agent, one after the other, with the frame that `frameOf` gives. */
const turns = (name, lanes, graphFor, frameOf, extra = {}) => ({
  name,
  lanes,
  ...extra,
  async lane(tools) {
    const peer = await tools.open();
    const session_id = await peer.storage();
    for (let id = 0; tools.alive() && !peer.closed; id++) {
      const graph = graphFor(id + tools.lane);
      const made = await peer.request({ type: 'CreateAgentRequest', id: `agent ${id}`, session_id, graph });
      const { agent_id } = made ?? {};
      if (agent_id === undefined) continue;
      for (let n = 0; n < 8 && tools.alive() && !peer.closed; n++)
        await turn(tools, peer, { id: `turn ${id} ${n}`, session_id, agent_id, ...frameOf(id * 8 + n) });
      await peer.request({ type: 'DestroyAgentRequest', id: `end ${id}`, session_id, agent_id });
    }
  },
});

/** Creates agents and leaves before the answer comes, if `leaves`; else makes one after the other. */
const made = (name, lanes, graphFor, { leaves = false } = {}) => ({
  name,
  lanes,
  async lane({ open, alive, pause, lane }) {
    for (let id = 0; alive(); id++) {
      const peer = await open();
      const session_id = await peer.storage();
      const create = { type: 'CreateAgentRequest', id, session_id, graph: graphFor(id + lane) };
      if (leaves) await Promise.race([peer.request(create), pause(200)]);
      else await peer.request(create);
      peer.close();
    }
  },
});

const marks = ['[1]', '[1,2]', '[', '[[', '[1][', '[10000000000]', '【1】', '[1 '];
const ambiguous = [
  'root ::= ("a"?){8000} [ab]*',
  'root ::= ("a"? "a"?){4000} [ab]*',
  'root ::= ("a" | "a" "a"){0,4000} [ab]*',
  'root ::= (a | b)* "b"\na ::= "a"*\nb ::= "a"+',
  'root ::= root? "a" [ab]?',
  'root ::= ([a-z]?){2000} ([ab]?){2000}',
];
const slowGrammars = [
  'root ::= ([!-@]?){7000} [!-@]*',
  'root ::= ([^"]?){3000} [a-z ]*',
  'root ::= ("a" | "b" | [a-z]?){2000} [a-z ]*',
  'root ::= (w " "?)*\nw ::= ([a-z]?){1000}',
  'root ::= ([\\u0000-\\U0010ffff]?){2000} [ -~]*',
];
const schemas = [
  { const: times('"\\', 120_000) },
  { const: times('\u20ac', 240_000) },
  { enum: Array.from({ length: 200 }, (_, n) => times(`"${n}\\`, 300)) },
  { type: 'object', properties: { [times('"\\', 100_000)]: { type: 'string' } } },
  { type: 'string', pattern: `^${times('(a|b)?', 5000)}$` },
  { type: 'string', description: times('"\\', 120_000), maxLength: 2000 },
];

export const contentAttacks = [
  turns(
    'turns of 4 MiB of marks for agents that cite, 4 clients',
    4,
    () =>
      graphOf(
        ['retrieve', { ...docs, mode: 'lexical', query: 'ba' }],
        ['generate', { cite: 'marks', max_tokens: 2, context_size: 256 }],
      ),
    (n) => ({ text: times(of(marks, n), Math.floor((4 * mib - 1024) / of(marks, n).length / 3)) }),
  ),
  made(
    'fallbacks of 16,000 letters for ambiguous grammars, by clients that leave, 6 clients',
    6,
    (id) =>
      graphOf([
        'generate',
        {
          grammar: of(ambiguous, id),
          on_no_knowledge: 'fallback',
          fallback: times(id % 2 === 0 ? 'a' : 'ab', 16_000 / (1 + (id % 2))),
        },
      ]),
    { leaves: true },
  ),
  made('graphs of 120 nodes with schemas of 240,000 characters, 2 clients', 2, (id) =>
    many(120, () => ['generate', { json_schema: of(schemas, id), max_tokens: 4, context_size: 256 }]),
  ),
  turns(
    'replies by grammars that are dear for each token, 2 clients',
    2,
    (id) =>
      graphOf([
        'generate',
        {
          grammar: of(slowGrammars, id),
          max_tokens: 100,
          temperature: 1,
          context_size: 512,
          history: { turns: 0 },
        },
      ]),
    () => ({ text: 'bee' }),
  ),
  {
    name: 'agents of 32 nodes with system texts of 4,000 characters, kept, 4 clients',
    lanes: 4,
    async lane(tools) {
      const peer = await tools.open();
      const session_id = await peer.session();
      const variables = { v: `${times('ba ko lu mi ', 330)}\u20ac` };
      for (let id = 0; tools.alive() && !peer.closed; id++) {
        const graph = many(32, (n) => [
          'generate',
          {
            system: `{{variables.v}}${tools.lane}.${id}.${n}`,
            max_tokens: 1,
            context_size: 8192,
            history: { turns: 0 },
          },
        ]);
        const made = await peer.request({ type: 'CreateAgentRequest', id, session_id, graph });
        const { agent_id } = made ?? {};
        const frame = { session_id, agent_id, text: 'x', variables, dry_run: true };
        if (agent_id !== undefined) await turn(tools, peer, { id: `turn ${id}`, ...frame });
      }
    },
  },
  turns(
    'turns whose hits have neighbours of 250,000 characters, beside a monitor that keeps texts, 4 clients',
    4,
    () =>
      graphOf(['retrieve', { embedded_string_storage: 'long.json', mode: 'lexical', top_k: 1, context: 10 }]),
    (n) => ({ text: `topic${n % 21}` }),
    { settings: { monitor: { enabled: true, port: 0 }, include_interaction_in_diagnostics: true } },
  ),
  made('grammars that differ in one letter, 4 clients', 4, (id) =>
    many(16, (n) => [
      'generate',
      { grammar: `root ::= "${id}x${n}" ${times('[a-z]? ', 500)}`, max_tokens: 4 },
    ]),
  ),
];
