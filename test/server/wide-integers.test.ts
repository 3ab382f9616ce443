import { writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from './test-server.js';

/** Metadata has integers of 64 bits; JavaScript's numbers round those beyond 2^53. */

const file = temporaryFolder();
const wide = 2n ** 53n;
const values = [wide, wide + 1n, wide + 2n, -wide - 1n, 2n ** 63n - 1n, -(2n ** 63n)];

beforeAll(() => {
  const fields = [{ name: 'n', type: 'int', optional: true }];
  const config = { embedding_model: 'tiny', records_file: 'records.json', fields };
  writeFileSync(file('kb.json'), JSON.stringify(config));
  const records = values.map((n) => `{"id":"${n}","text":"bees","metadata":{"n":${n}}}`);
  writeFileSync(file('records.json'), `[${records.join()}]`);
});

const start = (config: object = {}) => TestServer.start({ config: { storage_root: file(), ...config } });
const n = { knowledge: 'n' };
const equal = (value: bigint) => `{"==":[{"knowledge":"n"},${value}]}`;

async function rawSession(server: TestServer) {
  const raw = await server.raw();
  const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
    type: 'CreateSessionRequest',
    id: 0,
  });
  let id = 1;
  const ask = async <Reply extends keyof ServerFrames>(fields: string): Promise<ServerFrames[Reply]> => {
    const own = id++;
    const payload = Buffer.from(`{"id":${own},"session_id":"${session_id}",${fields}}`);
    const header = Buffer.from([1, 0, 0, 0, 0]);
    header.writeUInt32BE(payload.length, 1);
    raw.bytes(Buffer.concat([header, payload]));
    return raw.next((reply) => 'reply_to' in reply && reply.reply_to === own);
  };
  return { raw, ask };
}

it('filters and variables of requests are compared with every integer exactly', async () => {
  const { ask } = await rawSession(await start());
  const found = async (fields: string) => {
    const search = `"type":"SearchEmbeddedStringStorageRequest","name":"kb.json","text":"bees","top_k":9`;
    const { hits } = await ask<'SearchEmbeddedStringStorageResponse'>(`${search},${fields}`);
    return hits.map(({ id }) => BigInt(id));
  };
  for (const value of values) {
    expect(await found(`"filter":${equal(value)}`)).toEqual([value]);
    const variables = `{"v":${value},"list":[${value}]}`;
    const byVariable = '{"or":[{"==":[{"knowledge":"n"},{"variable":"v"}]}]}';
    expect(await found(`"filter":${byVariable},"variables":${variables}`)).toEqual([value]);
    const inList = '{"in":[{"knowledge":"n"},{"variable":"list"}]}';
    expect(await found(`"filter":${inList},"variables":${variables}`)).toEqual([value]);
  }
});

it('so are integers of a node and of its turns', async () => {
  const { raw, ask } = await rawSession(await start());
  const filter = `{"or":[${equal(wide + 1n)},{"==":[{"knowledge":"n"},{"variable":"v"}]}]}`;
  const params = `{"embedded_string_storage":"kb.json","top_k":9,"emit":true,"filter":${filter}}`;
  const { agent_id } = await ask<'CreateAgentResponse'>(
    `"type":"CreateAgentRequest","graph":{"nodes":[{"id":"kb","type":"retrieve","params":${params}}]}`,
  );
  await ask(
    `"type":"TurnRequest","agent_id":"${agent_id}","text":"bees","variables":{"v":${-wide - 1n},"other":[${wide}]}`,
  );
  const { hits } = await raw.next<ServerFrames['TurnComplete']>(({ type }) => type === 'TurnComplete');
  expect(hits?.map(({ id }) => BigInt(id)).sort()).toEqual([-wide - 1n, wide + 1n].sort());
});

it('the client takes BigInts in filters and variables', async () => {
  const session = await (await start()).session();
  const search = { name: 'kb.json', text: 'bees' };
  const byValue = await session.search({ ...search, filter: { '==': [n, wide + 1n] } });
  expect(byValue.hits.map(({ id }) => id)).toEqual([String(wide + 1n)]);
  const byVariable = {
    ...search,
    filter: { '==': [n, { variable: 'v' }] },
    variables: { v: wide + 2n },
  } as const;
  expect((await session.search(byVariable)).hits.map(({ id }) => id)).toEqual([String(wide + 2n)]);
});

it('the monitor searches for them and shows them', async () => {
  const server = await start({ monitor: { enabled: true, port: 0 } });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'kb.json' });
  const origin = `http://127.0.0.1:${server.server.monitorPort}`;
  const state = (await (await fetch(`${origin}/api/state`)).json()) as { storages: { name: string }[] };
  const [storage] = state.storages;
  const inspect = async (record: bigint) => {
    const response = await fetch(`${origin}/api/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"storage":${JSON.stringify(storage?.name)},"text":"bees","filter":${equal(wide + 1n)},"record":"${record}"}`,
    });
    return (await response.json()) as { hits: { metadata: object }[]; record: string };
  };
  expect(await inspect(wide + 1n)).toMatchObject({
    hits: [{ metadata: { n: String(wide + 1n) } }],
    record: `${wide + 1n} is hit 1.`,
  });
  expect((await inspect(wide)).record).toContain(`Its metadata: {"n":${wide}}`);
});
