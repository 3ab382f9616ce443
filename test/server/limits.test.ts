import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { ServerFrame, ServerFrames } from '../../src/protocol/frames.js';
import { maxAgents } from '../../src/server/session.js';
import { maxStorages } from '../../src/storages/storage-set.js';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { retrieveGraph, TestServer } from './test-server.js';

const file = temporaryFolder();

/** Sends as many frames as are allowed and one more, all at once, and gives what answers them, in the order of the frames. */
async function overfill(
  raw: RawClient,
  limit: number,
  frame: (index: number) => object,
): Promise<ServerFrame[]> {
  const before = raw.received.length;
  raw.send(...Array.from({ length: limit + 1 }, (_, id) => ({ id, ...frame(id) })));
  await raw.next(() => raw.received.length > before + limit);
  const replies = raw.received.slice(before) as (ServerFrame & { reply_to: number })[];
  return replies.sort((a, b) => a.reply_to - b.reply_to);
}

/** All were served but one, which was told the limit. */
function expectOneRefused(replies: ServerFrame[], code: number, name: string, limit: number): void {
  const errors = replies.filter(({ type }) => type === 'Error');
  expect(errors).toMatchObject([{ code, name, details: { limit } }]);
  expect(errors).toMatchObject([{ message: expect.stringMatching(`${limit} .*; destroy one first$`) }]);
}

it('a connection has so many sessions, and room again when one is destroyed', async () => {
  const maxSessions = 100;
  const limits = { max_sessions_per_connection: maxSessions };
  const server = await TestServer.start({ config: { limits } });
  const raw = await server.raw();
  const create = { type: 'CreateSessionRequest' };
  expectOneRefused(await overfill(raw, maxSessions, () => create), 2003, 'TooManySessions', maxSessions);
  await server.session();
  const { session_id } = raw.received.at(-2) as ServerFrames['CreateSessionResponse'];
  await raw.request({ type: 'DestroySessionRequest', id: 'end', session_id });
  expect(await raw.request({ ...create, id: 'again' })).toMatchObject({ type: 'CreateSessionResponse' });
});

it('a session has so many agents, and so many storages', async () => {
  writeFileSync(file('kb.json'), JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }));
  writeFileSync(file('records.json'), JSON.stringify(strings.map((text, id) => ({ id: `${id}`, text }))));
  const raw = await (await TestServer.start({ config: { storage_root: file() } })).raw();
  const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
    type: 'CreateSessionRequest',
    id: 'session',
  });
  const storage = { type: 'CreateEmbeddedStringStorageRequest', session_id, config_path: 'kb.json' };
  const storages = await overfill(raw, maxStorages, (index) => ({ ...storage, name: `kb-${index}` }));
  expectOneRefused(storages, 8006, 'TooManyStorages', maxStorages);
  const graph = retrieveGraph({ embedded_string_storage: 'kb-0' });
  const agent = { type: 'CreateAgentRequest', session_id, graph };
  const agents = await overfill(raw, maxAgents, () => agent);
  expectOneRefused(agents, 4013, 'TooManyAgents', maxAgents);
  await raw.request({ type: 'DestroyAgentRequest', id: 'a', session_id, agent_id: `${session_id}.a1` });
  expect(await raw.request({ ...agent, id: 'b' })).toMatchObject({ type: 'CreateAgentResponse' });
  await raw.request({ type: 'DestroyEmbeddedStringStorageRequest', id: 'c', session_id, name: 'kb-1' });
  expect(await raw.request({ ...storage, id: 'd', name: 'other' })).toMatchObject({
    record_count: strings.length,
  });
});
