/** Metadata has integers of 64 bits. Every door takes them exactly, as numbers of JSON or as texts, and shows them as texts. */
import { expect, it } from 'vitest';
import { Client } from '../../src/client/index.js';
import { type Door, door } from './door-setting.js';
import { SocketClient } from './web-socket.js';

const at = '/v1/storages/docs/records';
const wide = 2n ** 53n;
/** Neighbours that a number of JavaScript takes for one another, and the ends of the range. */
const values = [wide, wide + 1n, wide + 2n, -wide - 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const text = 'The quagga eats at noon.';

const open = () => door({}, { config: { storage_writes: 'files' } }, true);

async function kept({ call }: Door, id: string): Promise<string> {
  return (await call('GET', `${at}/${id}`)).json().metadata.big;
}

/** Ids of the records that have the value, by a search over REST. */
async function having({ call }: Door, value: bigint): Promise<string[]> {
  const filter = `{"==":[{"knowledge":"big"},${value}]}`;
  const { hits } = (
    await call('POST', '/v1/search', `{"text":"quagga","top_k":50,"filter":${filter}}`)
  ).json();
  return hits.map(({ id }: { id: string }) => id);
}

it('REST keeps them in single records, in batches and in filters', async () => {
  const opened = await open();
  for (const [n, value] of values.entries()) {
    const put = await opened.call('PUT', `${at}/v${n}`, `{"text":"${text}","metadata":{"big":${value}}}`);
    expect(put.status, put.text).toBe(200);
    const batch = `{"add":[{"id":"b${n}","text":"${text}","metadata":{"big":${value}}}]}`;
    expect((await opened.call('POST', at, batch)).status).toBe(200);
    const asText = `{"text":"${text}","metadata":{"big":"${value}"}}`;
    expect((await opened.call('PUT', `${at}/t${n}`, asText)).status).toBe(200);
  }
  for (const [n, value] of values.entries()) {
    for (const id of [`v${n}`, `b${n}`, `t${n}`]) expect(await kept(opened, id)).toBe(String(value));
    expect((await having(opened, value)).sort()).toEqual([`b${n}`, `t${n}`, `v${n}`]);
  }
  const beyond = await opened.call('PUT', `${at}/x`, `{"text":"${text}","metadata":{"big":${2n ** 63n}}}`);
  expect(beyond.status, beyond.text).toBe(400);
});

it('a WebSocket, a TCP connection and the client keep them, in records of files and of frames', async () => {
  const opened = await open();
  const socket = await SocketClient.open(opened.port);
  const { session_id } = await socket.begin();
  let id = 10;
  const send = (fields: string) => {
    const own = id++;
    socket.socket.send(`{"id":${own},"session_id":"${session_id}",${fields}}`);
    return socket.next(({ reply_to }) => reply_to === own);
  };
  const add = `"add":[{"id":"w","text":"${text}","metadata":{"big":${wide + 1n}}}]`;
  const update = await send(`"type":"UpdateEmbeddedStringStorageRequest","name":"docs",${add}`);
  expect(update).toMatchObject({ added: 1 });
  expect(await kept(opened, 'w')).toBe(String(wide + 1n));

  const records = values.map((value) => `{"id":"${value}","text":"${text}","metadata":{"n":${value}}}`);
  const inline = `"name":"inline","fields":[{"name":"n","type":"int","optional":true}],"records":[${records.join()}]`;
  const made = await send(`"type":"CreateEmbeddedStringStorageRequest","embedding_model":"tiny",${inline}`);
  expect(made).toMatchObject({ record_count: values.length });
  const listed = await send('"type":"ListEmbeddedStringStorageRequest","name":"inline"');
  expect(listed.records.map(({ metadata }: { metadata: object }) => metadata)).toEqual(
    values.map((value) => ({ n: String(value) })),
  );

  await using client = await Client.connect({ port: opened.server.port });
  const session = await client.createSession();
  const created = {
    name: 'own',
    embeddingModel: 'tiny',
    fields: [{ name: 'n', type: 'int' as const, optional: true }],
  };
  await session.createEmbeddedStringStorage({
    ...created,
    records: values.map((n) => ({ id: String(n), text, metadata: { n } })),
  });
  const filter = { '==': [{ knowledge: 'n' }, wide + 1n] } as const;
  const { hits } = await session.search({ name: 'own', text, filter });
  expect(hits).toMatchObject([{ id: String(wide + 1n), metadata: { n: String(wide + 1n) } }]);
});

it('MCP keeps them in what an agent remembers, and in filters', async () => {
  const opened = await open();
  const headers = { accept: 'application/json, text/event-stream' };
  const call = async (name: string, given: string) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`;
    const reply = await opened.call('POST', '/mcp', body, headers);
    const data = /^data: (.*)$/m.exec(reply.text)?.[1] ?? reply.text;
    return JSON.parse(data).result;
  };
  for (const [n, value] of values.entries()) {
    const given = `{"text":"${text}","id":"m${n}","metadata":{"big":${value},"n":5}}`;
    expect(await call('remember', given)).toMatchObject({ structuredContent: { id: `m${n}` } });
    expect(await kept(opened, `m${n}`)).toBe(String(value));
  }
  for (const [n, value] of values.entries()) {
    const { structuredContent } = await call('list', `{"filter":{"==":[{"knowledge":"big"},${value}]}}`);
    expect(structuredContent).toMatchObject({ total: 1, records: [{ id: `m${n}` }] });
  }
});
