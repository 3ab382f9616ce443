import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { KnowledgeBase } from '../../src/knowledge/index.js';
import { corpus } from '../server/corpus.js';
import { type Door, door, type Json } from './door-setting.js';
import { keysFile, secret } from './web-socket.js';

const writing = (http: object = {}) => door(http, { config: { storage_writes: 'files' } }, true);

/** A client of the SDK at the door. `headers`: of every request. */
async function connected({ port }: Door, headers: Record<string, string> = {}): Promise<Client> {
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

const textOf = (result: { content: unknown }) => (result.content as { text: string }[])[0]?.text ?? '';
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const as = (name: string) => ({ authorization: `Bearer ${secret(name)}` });
const tool = (name: string, args: object) => ({ name, arguments: args as Record<string, unknown> });

it('instructions describe the storages once they are open', async () => {
  const opened = await writing();
  // On a busy machine, opening takes longer than the first instructions wait.
  await vi.waitFor(async () =>
    expect((await connected(opened)).getInstructions()).toContain(
      '- "docs", knowledge base that you may change, 12 records; fields: n (int: 0 to 11)',
    ),
  );
});

it('a client of the SDK searches, reads, asks, remembers and forgets', async () => {
  const client = await connected(await writing());
  expect(await namesOf(client)).toEqual(['search', 'get', 'list', 'ask', 'remember', 'forget']);
  const { question, text } = corpus[3] as (typeof corpus)[number];
  const found = await client.callTool(tool('search', { query: question, top_k: 1 }));
  expect(found.structuredContent).toMatchObject({
    hits: [
      { storage: 'docs', id: 'r3', text, uri: 'lorekeep://docs/r3', metadata: { big: '9007199254741107' } },
    ],
  });
  const listed = await client.callTool(tool('list', { limit: 2, filter: { '>': [{ knowledge: 'n' }, 8] } }));
  expect(listed.structuredContent).toMatchObject({ total: 3, records: [{ id: 'r9' }, { id: 'r10' }] });
  const answered = await client.callTool(tool('ask', { question }));
  expect(answered.structuredContent, textOf(answered)).toMatchObject({ generated: false });
  const kept = await client.callTool(
    tool('remember', { text: 'The quagga eats at noon.', id: 'q', metadata: { n: 5 } }),
  );
  expect(kept.structuredContent, textOf(kept)).toMatchObject({ id: 'q', records: corpus.length + 1 });
  const { contents } = await client.readResource({ uri: 'lorekeep://docs/q' });
  expect(contents).toMatchObject([{ text: 'The quagga eats at noon.' }]);
  const gone = await client.callTool(tool('forget', { ids: ['q'] }));
  expect(gone.structuredContent).toMatchObject({ forgotten: 1, records: corpus.length });
  await expect(client.readResource({ uri: 'lorekeep://docs/q' })).rejects.toThrow('no record "q"');
  const prompt = await client.getPrompt({ name: 'answer', arguments: { question: 'why?' } });
  expect(JSON.stringify(prompt.messages)).toContain('Question: why?');
});

it('tools answer as of a version or a time, and say what is wrong with one', async () => {
  const client = await connected(await writing());
  const before = new Date().toISOString();
  const text = 'The quagga eats at noon.';
  await client.callTool(tool('remember', { id: 'q', text, metadata: { n: 5 } }));
  const asked = async (name: string, args: object) => JSON.stringify(await client.callTool(tool(name, args)));
  for (const [name, args] of [
    ['search', { query: 'When does the quagga eat?', top_k: 1 }],
    ['get', { ids: ['q'] }],
    ['list', { limit: 100 }],
    ['ask', { question: 'When does the quagga eat?' }],
  ] as const) {
    expect(await asked(name, args), name).toContain(text);
    for (const as_of of [0, before]) expect(await asked(name, { ...args, as_of }), name).not.toContain(text);
    expect(await asked(name, { ...args, as_of: 1 }), name).toContain(text);
    expect(await client.callTool(tool(name, { ...args, as_of: 'zzz' }))).toMatchObject({ isError: true });
  }
});

it('descriptions follow the storages', async () => {
  const opened = await writing();
  const client = await connected(opened);
  await client.callTool(tool('remember', { text: 'One more.', metadata: { n: 99 } }));
  const { tools } = await vi.waitFor(async () => {
    const listed = await client.listTools();
    expect(listed.tools[0]?.description).toContain('13 records; fields: n (int: 0 to 99)');
    return listed;
  });
  const remember = tools.find(({ name }) => name === 'remember') as Json;
  expect(Object.keys(remember.inputSchema.properties.metadata.properties)).toEqual(['n', 'big']);
});

it('no description has a value of a forgotten record', async () => {
  const client = await connected(await writing());
  await client.callTool(tool('remember', { id: 'x', text: 'One more.', metadata: { n: 7777 } }));
  const description = async () => JSON.stringify(await client.listTools());
  await vi.waitFor(async () => expect(await description()).toContain('0 to 7777'));
  // The next list does not wait for the storage.
  const look = vi.spyOn(KnowledgeBase.prototype, 'list').mockReturnValue(new Promise(() => {}));
  onTestFinished(() => look.mockRestore());
  await client.callTool(tool('forget', { ids: ['x'] }));
  expect(await description()).not.toContain('7777');
});

it('a wrong name is answered with the nearest one, and wrong arguments with their place', async () => {
  const client = await connected(await writing());
  for (const [name, args, message] of [
    ['search', { query: 'x', storage: 'dacs' }, 'did you mean "docs"?'],
    ['search', { query: 'x', storage: 'docs/kb.json' }, 'storage: there is no storage'],
    ['search', { query: 'x', storage: '../docs/kb.json' }, 'storage: there is no storage'],
    ['search', { query: 'x', storage: '__proto__' }, 'storage: there is no storage'],
    ['list', { filter: { '==': [{ knowledge: 'm' }, 1] } }, 'filter: '],
    ['ask', { question: 'x', filter: { '==': [{ knowledge: 'm' }, 1] } }, 'filter'],
    ['get', { ids: [] }, 'ids'],
    ['remember', { text: 'x', id: 'r1' }, 'exists'],
    ['remember', { text: 'x', metadata: { n: 'soon' } }, 'metadata.n'],
    ['forget', { ids: ['none'] }, 'none'],
  ] as const) {
    const refused = await client.callTool(tool(name, args));
    expect([refused.isError, textOf(refused)], JSON.stringify(args)).toEqual([
      true,
      expect.stringContaining(message),
    ]);
    expect(textOf(refused)).not.toContain('/tmp/');
  }
});

it('a key sees the tools of its rights alone', async () => {
  const keys_file = keysFile({ reader: ['search'], talker: ['chat'], writer: ['search', 'write'] });
  const opened = await writing({ keys_file });
  await expect(connected(opened)).rejects.toThrow('access_token_missing');
  const reader = await connected(opened, as('reader'));
  expect(await namesOf(reader)).toEqual(['search', 'get', 'list']);
  await expect(reader.callTool(tool('remember', { text: 'x' }))).rejects.toThrow('remember');
  const talker = await connected(opened, as('talker'));
  expect(await namesOf(talker)).toEqual(['ask']);
  expect(talker.getInstructions()).not.toContain('fields');
  const writer = await connected(opened, as('writer'));
  expect(await namesOf(writer)).toEqual(['search', 'get', 'list', 'remember', 'forget']);
  expect((await writer.callTool(tool('remember', { text: 'x' }))).isError).toBeFalsy();
});

it('a base that is not writable has no tools that change it', async () => {
  expect(await namesOf(await connected(await door()))).toEqual(['search', 'get', 'list', 'ask']);
});

const hello = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const accept = { accept: 'application/json, text/event-stream' };

it('other web pages, other hosts and bodies that are no messages are refused', async () => {
  const { call } = await door();
  expect((await call('POST', '/mcp', hello, accept)).text).toContain('"serverInfo"');
  for (const headers of [
    { origin: 'https://evil.example' },
    { host: 'evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    expect((await call('POST', '/mcp', hello, { ...accept, ...(headers as object) })).status).toBe(403);
  for (const method of ['GET', 'DELETE', 'PUT'])
    expect((await call(method, '/mcp', undefined, accept)).status).toBe(405);
  for (const body of ['{', '[]', '"x"', '[1,2]', '{"__proto__": 1}', '['.repeat(300)])
    expect((await call('POST', '/mcp', body, accept)).status, body).toBe(400);
  expect((await call('POST', '/mcp', 'x', { ...accept, 'content-type': 'text/plain' })).status).toBe(415);
  expect((await call('POST', '/mcp', { jsonrpc: '1.0' }, accept)).status).toBe(400);
});

it('sessions that clients invent are nothing, and none are kept', async () => {
  const { call } = await door();
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const reply = await call('POST', '/mcp', list, { ...accept, 'mcp-session-id': '../../x' });
  expect(reply.headers['mcp-session-id']).toBeUndefined();
  for (let id = 0; id < 50; id++)
    expect((await call('POST', '/mcp', { ...hello, id }, accept)).status).toBe(200);
});
