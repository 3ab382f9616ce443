import { expect, it } from 'vitest';
import { nodeParams } from '../../src/agents/wire/frames.js';
import { jsonSchemas } from '../../src/agents/wire/json-schemas.js';
import { requestSchemas, type ServerFrames } from '../../src/protocol/frames.js';
import { type ObjectSchema, refusedValues } from '../helpers/schema-mutations.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

/** Every field of every request and every param, absent, unknown, of each other type and beyond its bounds. */

const { $defs: schemas } = JSON.parse(jsonSchemas()['protocol.schema.json'] as string) as {
  $defs: Record<string, ObjectSchema>;
};

const paramsOf = (type: string) =>
  `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Params`;

/** Ids in replies. */
type Made = { session_id: string; agent_id: string };

async function makeScene() {
  const raw = await (await TestServer.start()).raw();
  let id = 0;
  const ask = (type: string, fields: object) =>
    raw.request<never>({ ...fields, type, id: id++ }) as Promise<Partial<ServerFrames['Error'] & Made>>;
  const { session_id } = await ask('CreateSessionRequest', {});
  const docs = { session_id, name: 'docs', strings, embedding_model: 'tiny' };
  await ask('CreateEmbeddedStringStorageRequest', docs);
  const agent = { session_id, graph: retrieveGraph() };
  const { agent_id } = await ask('CreateAgentRequest', agent);
  // Each is right but for what it names.
  const requests: Record<string, object> = {
    CreateSessionRequest: {},
    DestroySessionRequest: { session_id: 's0' },
    CreateEmbeddedStringStorageRequest: { ...docs, name: 'other' },
    DestroyEmbeddedStringStorageRequest: { session_id, name: 'other' },
    UpdateEmbeddedStringStorageRequest: { session_id, name: 'docs' },
    GetEmbeddedStringStorageRequest: { session_id, name: 'docs', ids: ['0'] },
    ListEmbeddedStringStorageRequest: { session_id, name: 'docs' },
    ForgetEmbeddedStringStorageRequest: { session_id, name: 'docs', ids: [] },
    SearchEmbeddedStringStorageRequest: { session_id, name: 'docs', text: 'bees' },
    CreateAgentRequest: agent,
    ExportAgentRequest: { session_id, agent_id },
    DestroyAgentRequest: { session_id, agent_id: 'a' },
    TurnRequest: { session_id, agent_id, text: 'bees' },
    CancelTurnRequest: { session_id, turn_id: 't' },
    ConfirmForgetRequest: { session_id, forget_id: 'f', confirm: true },
    OpenSpeechRequest: { session_id },
    EndUtteranceRequest: { session_id, stream: 1 },
    FinishSpeechRequest: { session_id, stream: 1 },
    CloseSpeechRequest: { session_id, stream: 1 },
    ReplyHeardRequest: { session_id, turn_id: 't', characters: 0 },
    ListModelsRequest: { session_id },
    PullModelRequest: { session_id, model: 'tiny' },
    CancelPullRequest: { session_id, model: 'tiny' },
    ThrottleReport: { level: 0 },
    VideoMemoryRequest: { allowed: true },
    StatusRequest: {},
    Ping: {},
  };
  return { ask, requests, session_id };
}

/** Values of the required params. */
const requiredParams: Readonly<Record<string, object>> = {
  retrieve: { embedded_string_storage: 'docs' },
  remember: { storage: 'memory', embedding_model: 'tiny' },
};

const without = (fields: object, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

it('a request is refused with 1004 and the path of the field that is wrong', async () => {
  const { ask, requests } = await makeScene();
  expect(Object.keys(requests)).toEqual(Object.keys(requestSchemas));
  let asked = 0;
  for (const [type, fields] of Object.entries(requests)) {
    const refused = async (wrong: object, path: string, what: string) => {
      asked++;
      const { code, details } = await ask(type, wrong);
      expect([code, String(details?.path).split(/[.[]/)[0]], `${type}.${path}: ${what}`).toEqual([
        1004,
        path,
      ]);
    };
    const { properties, required = [] } = schemas[type] as ObjectSchema;
    await refused({ ...fields, nonsense: 1 }, 'nonsense', 'unknown');
    for (const [name, schema] of Object.entries(properties)) {
      if (name === 'type' || name === 'id') continue;
      if (required.includes(name)) await refused(without(fields, name), name, 'absent');
      for (const [what, value] of refusedValues(schema))
        await refused({ ...fields, [name]: value }, name, what);
    }
  }
  expect(asked).toBeGreaterThan(300);
});

it('a node is refused with the path of the param that is wrong', async () => {
  const { ask, session_id } = await makeScene();
  let asked = 0;
  for (const [type, { shape }] of Object.entries(nodeParams)) {
    const { properties, required = [] } = schemas[paramsOf(type)] as ObjectSchema;
    expect(Object.keys(properties)).toEqual(Object.keys(shape));
    const params = requiredParams[type] ?? {};
    const refused = async (wrong: unknown, expected: number, name: string, what: string) => {
      asked++;
      const graph = { nodes: [{ id: 'n', type, params: wrong }] };
      const { code, details } = await ask('CreateAgentRequest', { session_id, graph });
      const path = `graph.nodes[0].params${name === '' ? '' : `.${name}`}`;
      expect([code, String(details?.path).slice(0, path.length)], `${type}.${name}: ${what}`).toEqual([
        expected,
        path,
      ]);
    };
    await refused({ ...params, nonsense: 1 }, 4002, 'nonsense', 'unknown');
    for (const wrong of [null, 7, 'x', [1]]) await refused(wrong, 1004, '', 'no object');
    for (const [name, schema] of Object.entries(properties)) {
      if (required.includes(name)) await refused(without(params, name), 4003, name, 'absent');
      for (const [what, value] of refusedValues(schema))
        await refused({ ...params, [name]: value }, 4003, name, what);
    }
  }
  expect(asked).toBeGreaterThan(300);
});
