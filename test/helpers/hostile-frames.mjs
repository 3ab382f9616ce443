/** Requests of every type as they should be, and what a hostile or broken client makes of them. */

const retrieve = {
  embedded_string_storage: 'docs',
  mode: 'hybrid',
  top_k: 3,
  threshold: 1.2,
  query: '{{text}}',
};
const graph = {
  nodes: [
    { id: 'kb', type: 'retrieve', params: retrieve },
    { id: 'guard', type: 'regex_guardrail', params: { on_match: 'reply' } },
    { id: 'reply', type: 'canned_response', params: { seed: 1 } },
  ],
  edges: [['kb', 'guard']],
};

/** JSON texts of right requests in one session. */
export function rightRequests(session_id, agent_id) {
  const session = { id: 1, session_id };
  return [
    { type: 'CreateSessionRequest', id: 'a', storage_data_folder: '' },
    { type: 'DestroySessionRequest', id: 2, session_id: 'none' },
    {
      type: 'CreateEmbeddedStringStorageRequest',
      ...session,
      name: 'x',
      strings: ['bee', 'ß'],
      embedding_model: 'tiny',
    },
    { type: 'CreateEmbeddedStringStorageRequest', ...session, name: 'y', config_path: 'kb/config.json' },
    { type: 'DestroyEmbeddedStringStorageRequest', ...session, name: 'x' },
    { type: 'SearchEmbeddedStringStorageRequest', ...session, name: 'docs', text: 'bees', ...searchParams },
    { type: 'CreateAgentRequest', ...session, graph, enable_diagnostics: true },
    { type: 'DestroyAgentRequest', ...session, agent_id: 'none' },
    {
      type: 'TurnRequest',
      ...session,
      agent_id,
      text: 'Why do bees dance?',
      variables: { topic: [1, null, {}] },
    },
    { type: 'CancelTurnRequest', ...session, turn_id: `${session_id}.t1` },
    {
      type: 'OpenSpeechRequest',
      ...session,
      rate: 16000,
      vad: { threshold: 0.5, min_speech_ms: 250 },
      agent_id,
      turns: 'hands_free',
    },
    { type: 'FinishSpeechRequest', ...session, stream: 1 },
    { type: 'EndUtteranceRequest', ...session, stream: 1 },
    { type: 'CloseSpeechRequest', ...session, stream: 1 },
    { type: 'ReplyHeardRequest', ...session, turn_id: `${session_id}.t1`, characters: 3 },
    { type: 'Ping', id: 3 },
  ].map((request) => JSON.stringify(request));
}

const searchParams = {
  mode: 'lexical',
  top_k: 2,
  rrf: { k: 60, weights: { dense: 1, lexical: 0.5 }, candidates: 20 },
  filter: { and: [{ '==': [{ knowledge: 'year' }, 1] }] },
  variables: { who: 'x' },
};

/** A replacement for a piece of a request. */
const intruders = [
  'null',
  'true',
  '-1',
  '1e999',
  '9007199254740993',
  '0.1',
  '""',
  '[]',
  '{}',
  '"\\u0000"',
  '"\\ud800"',
  '[[[[[[',
  '"__proto__":{"x":1},',
  '"constructor":1,',
  '{"and":[]}',
  '}}}}',
  '"',
  '\\',
  ',',
  ':',
  '\ufeff',
  '\u2028',
  '../../etc/passwd',
];

/** One payload: a right request, with up to four changes to its bytes. `next` gives numbers from 0, below 1. */
export function hostilePayload(requests, next) {
  const below = (count) => Math.floor(next() * count);
  if (below(20) === 0) return Buffer.from(Array.from({ length: below(40) }, () => below(256)));
  let payload = Buffer.from(requests[below(requests.length)]);
  for (let changes = below(5); changes > 0; changes--) {
    const from = below(payload.length + 1);
    const to = Math.min(payload.length, from + below(8));
    const kinds = [
      () => Buffer.from([below(256)]),
      () => Buffer.from(intruders[below(intruders.length)]),
      () => payload.subarray(below(payload.length), below(payload.length)),
      () => Buffer.alloc(0),
    ];
    const piece = kinds[below(kinds.length)]();
    payload = Buffer.concat([payload.subarray(0, from), piece, payload.subarray(to)]);
  }
  return payload;
}

/** A frame of kind 1. */
export function framed(payload) {
  const frame = Buffer.allocUnsafe(5 + payload.length);
  frame.writeUInt8(1);
  frame.writeUInt32BE(payload.length, 1);
  payload.copy(frame, 5);
  return frame;
}
