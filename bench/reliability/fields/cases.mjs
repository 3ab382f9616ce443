// Each field of each request at its limit, or beyond it where refusing costs more than accepting. A case has {name, frames}: the frames are
// sent one after the other. `session_id` and `agent_id` of a frame are filled in; the agent generates and remembers.

const mib = 1024 * 1024;
const longest = 4 * mib;
const times = (text, count) => text.repeat(count);
const many = (count, make) => Array.from({ length: count }, (_, n) => make(n));
const object = (count, make) => Object.fromEntries(many(count, (n) => [`k${n}`, make(n)]));
const nested = (depth, value) => (depth === 0 ? value : [nested(depth - 1, value)]);

const search = (fields) => ({
  type: 'SearchEmbeddedStringStorageRequest',
  name: 'docs',
  text: 'ba ko lu',
  ...fields,
});
const lexical = (fields) => search({ mode: 'lexical', lexical: fields });
const storage = (fields) => ({ type: 'CreateEmbeddedStringStorageRequest', name: 'made', ...fields });
const inline = (strings) => storage({ strings, embedding_model: 'tiny' });
const agent = (graph, fields) => ({ type: 'CreateAgentRequest', graph, ...fields });
const nodes = (count, type, paramsOf) => ({
  nodes: many(count, (n) => ({ id: `n${n}`, type, params: paramsOf(n) })),
});
const generate = (params) => agent(nodes(1, 'generate', () => params));
const turn = (fields) => ({ type: 'TurnRequest', text: 'ba', dry_run: true, ...fields });
const year = { knowledge: 'year' };
const docs = { embedded_string_storage: 'docs', mode: 'lexical' };
const history = (turns) =>
  agent(
    nodes(1, 'generate', () => ({ history: { turns: 10_000 } })),
    { history: { version: 1, turns } },
  );
const asked = { text: 'a question', reply: 'a reply' };

const payloads = [
  ['a payload of a million numbers', { type: 'Ping', x: many(999_000, (n) => n % 10) }],
  ['a payload of 500,000 texts', { type: 'Ping', x: many(500_000, (n) => `text ${n}`) }],
  ['a payload of 330,000 objects', { type: 'Ping', x: many(330_000, (n) => ({ n })) }],
  ['a payload of 10,000 unknown fields', { type: 'Ping', ...object(9000, () => 1) }],
  [
    'a payload nested 60 deep',
    {
      type: 'Ping',
      x: nested(
        60,
        many(900_000, () => 1),
      ),
    },
  ],
  ['15 texts of 4 MiB', { type: 'Ping', x: many(15, () => times('x', longest)) }],
  ['15 texts of 4 MiB beyond Latin-1', { type: 'Ping', x: many(15, () => times('ж', longest / 2)) }],
  ['texts of escapes', { type: 'Ping', x: many(15, () => times('\u0001', longest / 6)) }],
  ['a name of 4 MiB', { type: 'Ping', [times('n', longest)]: 1 }],
  ['a type of 4 MiB', { type: times('t', longest) }],
];

const sessions = [
  ['storage_data_folder', { type: 'CreateSessionRequest', storage_data_folder: times('a/', longest / 2) }],
  ['access_token', { type: 'CreateSessionRequest', access_token: times('x', 4096) }],
  ['session_id', { type: 'ListModelsRequest', session_id: times('s', longest) }],
  ['model of a pull', { type: 'PullModelRequest', model: times('m', 128) }],
];

const storages = [
  ['name of a storage', storage({ name: times('n', longest), strings: ['x'], embedding_model: 'tiny' })],
  ['config_path', storage({ config_path: times('a/', longest / 2) })],
  ['config_path of dots', storage({ config_path: times('../', longest / 3) })],
  ['embedding_model', storage({ strings: ['x'], embedding_model: times('m', longest) })],
  ['100,000 strings', inline(many(100_000, (n) => `ba ${n}`))],
  ['a million strings', inline(many(999_000, () => 'x'))],
  ['strings that are none', inline(many(999_000, () => 1))],
  ['15 strings of 4 MiB', inline(many(15, () => times('ba ', mib)))],
];

const filters = {
  'a filter of 20,000 numbers': { in: [year, many(19_900, (n) => n)] },
  'a filter of 20,000 texts': { in: [{ knowledge: 'tags' }, many(19_900, (n) => `text ${n}`)] },
  'a filter of 2,000 operators': { and: many(900, (n) => ({ '==': [year, n] })) },
  'a filter of too many values': { in: [year, many(900_000, (n) => n)] },
  'a filter of unknown fields': { and: many(900, (n) => ({ '==': [{ knowledge: `yeap${n}` }, 1] })) },
  'a filter of long texts': { in: [{ knowledge: 'tags' }, many(15, () => times('x', longest))] },
  'an unknown operator of 4 MiB': { [times('o', longest)]: 1 },
};

const searches = [
  ['name of a search', search({ name: times('n', longest) })],
  ['names', search({ name: undefined, names: many(16, (n) => times(`${n}`, 100_000)) })],
  ['too many names', search({ name: undefined, names: many(900_000, (n) => `n${n}`) })],
  ['text', lexical({}), { text: times('ba ', 10_922) }],
  [
    'text of short words',
    lexical({}),
    { text: many(16_384, (n) => String.fromCharCode(97 + (n % 26))).join(' ') },
  ],
  ['text of other scripts', lexical({}), { text: times('蜜蜂жук', 6553) }],
  ['text of a hybrid search', search({ mode: 'hybrid', text: times('ba ko ', 5461) })],
  ['text of 4 MiB', search({ text: times('ba ', longest / 3) })],
  [
    'text of extended syntax',
    lexical({ query_syntax: 'extended' }),
    { text: times('"a b" +c -d e* ', 2184) },
  ],
  ['text of rare words', lexical({ fuzziness: 1 }), { text: many(6000, (n) => n.toString(36)).join(' ') }],
  ['similar_to', search({ text: undefined, similar_to: times('r', longest) })],
  ['group_by', search({ group_by: times('g', longest) })],
  ['context_field', search({ context: 10, context_field: times('g', longest) })],
  ['context and highlight of 1,000 hits', lexical({}), { top_k: 1000, context: 10, highlight: true }],
  ['groups of 1,000 hits', search({ mode: 'hybrid', top_k: 1000, group_by: 'year', group_size: 1000 })],
  ['recency of 1,000 hits', search({ top_k: 1000, recency: { field: times('t', longest), half_life_s: 1 } })],
  ['importance of 1,000 hits', search({ top_k: 1000, importance: { field: 'year' } })],
  ['duplicates of 1,000 hits', search({ top_k: 1000, drop_duplicates: 0.05 })],
  ['model of a reranker', search({ rerank: { model: times('m', longest) } })],
  ['query', search({ query: times('{{text}} ', 1820) })],
  ['query of sections', search({ query: times('{{#a}}', 1300) + times('{{/a}}', 1300) })],
  ['query that does not end', search({ query: times('{{#a}}', 2700) })],
  ['variables', search({ variables: object(9000, (n) => n) })],
  [
    'nested variables',
    search({
      variables: {
        v: nested(
          55,
          many(19_000, (n) => n),
        ),
      },
    }),
  ],
  ['long variables', search({ query: '{{variables}}', variables: object(15, () => times('v', longest)) })],
  ['too many variables', search({ variables: { v: many(900_000, (n) => n) } })],
  [
    'a variable of 20,000 numbers',
    search({ filter: { in: [year, { variable: 'v' }] }, variables: { v: many(19_900, (n) => n) } }),
  ],
  ['stopwords', lexical({ stopwords: many(10_000, (n) => `word ${n}`) })],
  ['long stopwords', lexical({ stopwords: many(10_000, (n) => `${n}${times('w', 240)}`) })],
  ['too many stopwords', lexical({ stopwords: many(900_000, (n) => `${n}`) })],
  ['stopwords that are no words', lexical({ stopwords: many(900_000, () => 1) })],
  ['10,000 stopwords that are no words', lexical({ stopwords: many(10_000, () => 1) })],
  ['synonyms', lexical({ synonyms: many(5000, (n) => [`a${n}`, `b${n}`]) })],
  ['too many synonyms', lexical({ synonyms: many(100, () => many(9000, (n) => `${n}`)) })],
  ['synonyms that are none', lexical({ synonyms: many(900, () => many(1000, () => 1)) })],
  ['boosts', lexical({ boosts: object(9000, () => 1) })],
  ['boosts that are none', lexical({ boosts: object(9000, () => 'x') })],
  ...Object.entries(filters).map(([name, filter]) => [name, search({ filter })]),
];

const schemaNames = many(1200, (n) => `p${n}`);
const constraints = {
  'a schema of 5,000 constants': { json_schema: { enum: many(4900, (n) => n) } },
  'a schema of 900,000 constants': { json_schema: { enum: many(900_000, (n) => n) } },
  'a schema of long constants': { json_schema: { enum: many(15, () => times('c', 17_000)) } },
  'a schema of properties': {
    json_schema: {
      type: 'object',
      properties: Object.fromEntries(schemaNames.map((name) => [name, { type: 'integer' }])),
      required: schemaNames,
    },
  },
  'a schema of alternatives': {
    json_schema: { anyOf: many(1600, (n) => ({ type: 'integer', minimum: n })) },
  },
  'a schema that excludes': {
    json_schema: { oneOf: many(250, (n) => ({ enum: many(17, (at) => n * 17 + at) })) },
  },
  'a schema of patterns': {
    json_schema: { anyOf: many(250, (n) => ({ type: 'string', pattern: `${n}${times('[a-z]', 190)}` })) },
  },
  'a grammar of literals': { grammar: `root ::= ${times('"a" ', 16_000)}` },
  'a grammar of rules': { grammar: many(5000, (n) => `r${n} ::= "x"`).join('\n') },
  'a grammar of repetitions': { grammar: 'root ::= ("a"{0,1000}){0,250}' },
  'stop texts': { stop: many(16, (n) => `${n}${times('s', 1000)}`) },
  'too many stop texts': { stop: many(900_000, () => 'x') },
  actions: {
    actions: many(64, (n) => ({
      name: `a${n}`,
      description: times('d', 2048),
      parameters: { enum: many(70, (at) => at) },
    })),
  },
  'actions that are none': { actions: many(64, () => object(9000, () => 1)) },
  templates: { system: times('{{text}} ', 1820), prompt: times('{{#variables}}{{a}}{{/variables}}', 500) },
};

const agents = [
  ['256 nodes', agent(nodes(256, 'quote', () => ({})))],
  [
    '256 nodes that search',
    agent(nodes(256, 'retrieve', () => ({ ...docs, query: times('{{text}} ', 1820) }))),
  ],
  ['256 nodes that generate', agent(nodes(256, 'generate', () => ({ system: times('{{text}} ', 1820) })))],
  [
    'nodes with filters',
    agent(nodes(40, 'retrieve', () => ({ ...docs, filter: filters['a filter of 20,000 numbers'] }))),
  ],
  ['nodes of an unknown type', agent(nodes(256, times('t', 128), () => ({})))],
  ['nodes with unknown params', agent(nodes(90, 'retrieve', () => object(9000, () => 1)))],
  ['too many nodes', agent(nodes(200_000, 'quote', () => undefined))],
  ['nodes that are none', agent({ nodes: many(256, () => 1) })],
  [
    '4,096 edges',
    agent({
      ...nodes(256, 'quote', () => ({})),
      edges: many(4096, (n) => [`n${n % 255}`, `n${(n % 255) + 1}`]),
    }),
  ],
  ['edges that are none', agent({ ...nodes(1, 'quote', () => ({})), edges: many(4096, () => [1, 2]) })],
  ['too many edges', agent({ ...nodes(1, 'quote', () => ({})), edges: many(300_000, () => ['n0', 'n0']) })],
  [
    'a circle of 256 nodes',
    agent({ ...nodes(256, 'quote', () => ({})), edges: many(256, (n) => [`n${n}`, `n${(n + 1) % 256}`]) }),
  ],
  ['a history of 10,000 turns', history(many(10_000, () => asked))],
  [
    'a history of 100,000 values',
    history(many(99, () => ({ ...asked, action_result: many(990, (n) => n) }))),
  ],
  ['a history of turns that are none', history(many(10_000, () => ({})))],
  ['a history of unknown fields', history(many(10_000, (n) => ({ ...asked, [`x${n}`]: 1 })))],
  ['a history of too many turns', history(many(300_000, () => asked))],
  [
    'a history of long turns',
    history(many(7, () => ({ text: times('t', longest), reply: times('r', longest) }))),
  ],
  ...Object.entries(constraints).map(([name, params]) => [name, generate(params)]),
];

const turns = [
  ['text of a turn', turn({ text: times('ba ', longest / 3) })],
  ['variables of a turn', turn({ variables: object(9000, (n) => `${n}`) })],
  ['action_result', turn({ action_result: many(990, (n) => n) })],
  ['too large an action_result', turn({ action_result: many(900_000, (n) => n) })],
  ['agent_id', turn({ agent_id: times('a', longest) })],
  ['turn_id', { type: 'CancelTurnRequest', turn_id: times('t', longest) }],
  ['an export of 10,000 turns', { type: 'ExportAgentRequest', agent_id: 'remembering' }],
  ['a prompt of 10,000 turns', turn({ agent_id: 'remembering' })],
  ['the end of an agent of 10,000 turns', { type: 'DestroyAgentRequest', agent_id: 'remembering' }],
];

/** The worst content for the code that reads a field. `agent` answers turns in place of the usual one. */
const citing = generate({ cite: 'marks', history: { turns: 0 } });
const worst = [
  ['text of marks', turn({ text: times('[1]', longest / 3) }), citing],
  ['text of open brackets', turn({ text: times('[', longest) }), citing],
  ['text of backticks', turn({ text: times('`[1]', longest / 4) }), citing],
  ['text of blanks', turn({ text: `x${times(' ', longest - 2)}x` }), citing],
  ['text that no token has', turn({ text: times('\u0001ж', longest / 3) }), citing],
  [
    'a fallback for an ambiguous grammar',
    generate({
      on_no_knowledge: 'fallback',
      fallback: times('a', 16_000),
      grammar: 'root ::= ("a"?){8000} [ab]*',
    }),
  ],
  ['a grammar of optional characters', generate({ grammar: 'root ::= ([!-@]?){7000} [!-@]*' })],
  [
    'schemas of quotes',
    agent(nodes(20, 'generate', () => ({ json_schema: { const: times('"\\', 120_000) } }))),
  ],
  ['templates of blanks', generate({ system: `{{${times(' ', 16_000)}`, prompt: times('{{#a}}', 2700) })],
];

/** The cases of `npm test`: storages of many strings take minutes on a busy machine. */
export const shortCases =
  payloads.length + sessions.length + searches.length + agents.length + turns.length + worst.length;
export const remembering = history(many(10_000, () => asked));
const usual = [...sessions, ...searches, ...agents, ...turns].map(([name, frame, more]) => ({
  name,
  frame: { ...frame, ...more },
}));
export const fieldCases = [
  ...usual,
  ...worst.map(([name, frame, agent]) => ({ name, frame, agent })),
  ...[...payloads, ...storages].map(([name, frame]) => ({ name, frame })),
];
