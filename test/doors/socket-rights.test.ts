import { expect, it } from 'vitest';
import { rights } from '../../src/config/keys-file.js';
import { requestSchemas } from '../../src/protocol/frames.js';
import { rightOf } from '../../src/server/rights.js';
import { door, type Json } from './door-setting.js';
import { keysFile, SocketClient, secret } from './web-socket.js';

/** A request of each type that nothing is wrong with but its right, or what it names. */
function requests(session_id: string): Record<string, object> {
  const docs = { session_id, name: 'docs' };
  const speech = { session_id, stream: 1 };
  return {
    CreateSessionRequest: {},
    CreateEmbeddedStringStorageRequest: { session_id, name: 'mine', strings: ['a'], embedding_model: 'tiny' },
    DestroyEmbeddedStringStorageRequest: { session_id, name: 'other' },
    UpdateEmbeddedStringStorageRequest: docs,
    GetEmbeddedStringStorageRequest: { ...docs, ids: ['0'] },
    ListEmbeddedStringStorageRequest: docs,
    ForgetEmbeddedStringStorageRequest: { ...docs, ids: [] },
    SearchEmbeddedStringStorageRequest: { ...docs, text: 'bees' },
    CreateAgentRequest: { session_id, graph: { nodes: [{ id: 'a', type: 'canned_response' }] } },
    ExportAgentRequest: { session_id, agent_id: 'a' },
    DestroyAgentRequest: { session_id, agent_id: 'a' },
    TurnRequest: { session_id, agent_id: 'a', text: 'bees' },
    CancelTurnRequest: { session_id, turn_id: 't' },
    ConfirmForgetRequest: { session_id, forget_id: 'f', confirm: true },
    OpenSpeechRequest: { session_id },
    EndUtteranceRequest: speech,
    FinishSpeechRequest: speech,
    CloseSpeechRequest: speech,
    ReplyHeardRequest: { session_id, turn_id: 't', characters: 0 },
    ListModelsRequest: { session_id },
    PullModelRequest: { session_id, model: 'tiny' },
    CancelPullRequest: { session_id, model: 'tiny' },
    ThrottleReport: { level: 0 },
    VideoMemoryRequest: { allowed: true },
    StatusRequest: {},
    Ping: {},
    DestroySessionRequest: { session_id },
  };
}

it.each(rights)('a key with "%s" alone makes the requests of this right, and no others', async (right) => {
  const opened = await door({ keys_file: keysFile({ one: [right] }) });
  const socket = await SocketClient.open(opened.port);
  await socket.begin(secret('one'));
  const all = requests(socket.session as string);
  expect(Object.keys(all).sort()).toEqual(Object.keys(requestSchemas).sort());
  let id = 2;
  for (const [type, fields] of Object.entries(all)) {
    const access_token = type === 'CreateSessionRequest' ? { access_token: secret('one') } : {};
    const { code, details }: Json = await socket.request({ ...fields, ...access_token, type, id: id++ });
    const needed = rightOf[type as keyof typeof rightOf];
    const isRefused = needed !== undefined && needed !== right;
    expect([type, code === 2013, details?.right]).toEqual([
      type,
      isRefused,
      isRefused ? needed : details?.right,
    ]);
    // This server has no model of speech.
    if (type !== 'OpenSpeechRequest') expect(code, type).not.toBe(1004);
  }
});

it('before its first message has a key, a socket makes no request but those that need none', async () => {
  const { port } = await door({ keys_file: keysFile({ one: [...rights] }) });
  const socket = await SocketClient.open(port, '/v1/socket', {
    authorization: `Bearer ${secret('one')}`,
    cookie: `access_token=${secret('one')}`,
  });
  expect(await socket.begin()).toMatchObject({ type: 'Error', code: 2010 });
  let id = 2;
  for (const [type, fields] of Object.entries(requests('s1'))) {
    const reply = await socket.request({ ...fields, type, id: id++ });
    const isFree = type === 'Ping' || type === 'StatusRequest';
    expect([type, reply.type === 'Error']).toEqual([type, !isFree]);
  }
});
