import { expect, it } from 'vitest';
import { door, type Json } from './door-setting.js';

const headers = { accept: 'application/json, text/event-stream' };

/** Sends one request of MCP, and returns its result or its error. */
async function request(
  port: Awaited<ReturnType<typeof door>>,
  method: string,
  params?: unknown,
): Promise<Json> {
  const { status, text } = await port.call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 7, method, params },
    headers,
  );
  expect(status, text).toBe(200);
  const [line = ''] = text.split('\n').filter((each) => /^(data: )?\{/.test(each));
  const { id, result, error } = JSON.parse(line.replace(/^data: /, ''));
  expect(id).toBe(7);
  return result ?? error;
}

it('a wrong name of anything is answered with the nearest one', async () => {
  const opened = await door();
  const prompt = (name: string) => ({
    ref: { type: 'ref/prompt', name },
    argument: { name: 'question', value: 'x' },
  });
  const template = (uri: string, name = 'storage') => ({
    ref: { type: 'ref/resource', uri },
    argument: { name, value: 'd' },
  });
  const form = 'lorekeep://{storage}/{+id}';
  for (const [method, params, message] of [
    [
      'tools/call',
      { name: 'serch', arguments: { query: 'x' } },
      'there is no tool "serch"; did you mean "search"?',
    ],
    ['tools/call', { name: 'SEARCH' }, 'there is no tool "SEARCH"; did you mean "search"?'],
    [
      'tools/call',
      { name: '__proto__' },
      'there is no tool "__proto__"; there is "search", "get", "list", "ask"',
    ],
    ['tools/call', { name: 'constructor' }, 'there is no tool "constructor"; there is "search"'],
    [
      'tools/call',
      { name: 'remember' },
      'the tool "remember" is not offered: this client may change no storage',
    ],
    ['prompts/get', { name: 'anwser' }, 'there is no prompt "anwser"; did you mean "answer"?'],
    ['resources/read', { uri: 'lorekeep://dosc/r1' }, 'there is no storage "dosc"; did you mean "docs"?'],
    ['resources/read', { uri: 'lorekeep://dosc' }, 'there is no storage "dosc"; did you mean "docs"?'],
    [
      'resources/read',
      { uri: 'lorekeep://docs' },
      'uri: the record is missing: lorekeep://docs/ID is expected',
    ],
    [
      'resources/read',
      { uri: 'lorekep://docs/r1' },
      'uri: lorekeep://STORAGE/ID is expected, not "lorekep://docs/r1"',
    ],
    ['resources/read', { uri: 'r1' }, 'uri: lorekeep://STORAGE/ID is expected, not "r1"'],
    ['completion/complete', prompt('anwser'), 'there is no prompt "anwser"; did you mean "answer"?'],
    ['completion/complete', template('lorekeep://{storag}/{+id}'), `did you mean "${form}"?`],
    [
      'completion/complete',
      template(form, 'strage'),
      'there is no argument "strage"; did you mean "storage"?',
    ],
  ] as const) {
    const error = await request(opened, method, params);
    expect(error, message).toEqual({ code: -32602, message: expect.stringContaining(message) });
  }
  expect(await request(opened, 'completion/complete', template(form))).toMatchObject({
    completion: { values: ['docs'] },
  });
});

it('wrong arguments of a tool are named, with what was expected', async () => {
  const opened = await door();
  for (const [name, args, message] of [
    ['search', {}, 'query: is missing'],
    ['search', { query: null }, 'query: is missing'],
    ['search', { qery: 'x' }, 'qery: is not an argument of this tool; did you mean "query"?'],
    ['search', { query: 'x', topk: 3 }, 'topk: is not an argument of this tool; did you mean "top_k"?'],
    ['search', { query: 'x', top_k: '8' }, 'top_k: a number is expected, not "8"'],
    ['search', { query: 'x', top_k: 51 }, 'top_k: a number of at most 50 is expected, not 51'],
    ['search', { query: 'x', filter: [] }, 'filter: an object is expected, not an array of 0'],
    ['get', { ids: 'r1' }, 'ids: an array is expected, not "r1"'],
    ['get', { ids: ['r1', 5] }, 'ids[1]: a string is expected, not 5'],
    ['list', { offset: 1.5 }, 'offset: an integer is expected, not 1.5'],
  ] as const) {
    const result = await request(opened, 'tools/call', { name, arguments: args });
    expect(result, message).toEqual({ isError: true, content: [{ type: 'text', text: message }] });
  }
});

it('params of the wrong shape are named, with what was expected', async () => {
  const opened = await door();
  for (const [method, params, message] of [
    ['tools/call', undefined, 'name: is missing'],
    ['tools/call', { name: 5 }, 'name: a string is expected, not 5'],
    ['tools/call', { name: 'search', arguments: 'x' }, 'arguments: an object is expected, not "x"'],
    ['prompts/get', { name: 'answer' }, 'question: is missing'],
    [
      'prompts/get',
      { name: 'answer', arguments: { question: 5 } },
      'arguments.question: a string is expected, not 5',
    ],
    ['resources/read', {}, 'uri: is missing'],
    [
      'completion/complete',
      { ref: { type: 'x' }, argument: {} },
      'ref: {"type": "ref/prompt", "name": NAME}',
    ],
    ['initialize', { capabilities: {} }, 'protocolVersion: is missing'],
    ['tools/list', { cursor: 5 }, 'cursor: a string is expected, not 5'],
  ] as const) {
    const error = await request(opened, method, params);
    expect(error, message).toEqual({ code: -32602, message: expect.stringContaining(message) });
  }
});

it('fields that are null count as absent', async () => {
  const opened = await door({}, { config: { storage_writes: 'files' } }, true);
  const call = (name: string, args: unknown) =>
    request(opened, 'tools/call', { name, arguments: args, _meta: null });
  const nothing = { top_k: null, filter: null, storage: null };
  expect((await call('search', { query: 'bread', ...nothing })).structuredContent.hits).not.toEqual([]);
  expect(
    (await call('list', { offset: null, limit: null, filter: null, storage: null })).structuredContent,
  ).toMatchObject({ storage: 'docs', total: 12 });
  expect((await call('list', null)).structuredContent).toMatchObject({ total: 12 });
  expect((await call('ask', { question: 'bread?', ...nothing })).structuredContent).toMatchObject({
    generated: false,
  });
  const kept = await call('remember', {
    text: 'A note.',
    id: null,
    metadata: { n: null, big: null },
    storage: null,
  });
  expect(kept.structuredContent, JSON.stringify(kept)).toMatchObject({ records: 13 });
  expect(await call('remember', { text: 'Another.', metadata: null })).toMatchObject({
    structuredContent: { records: 14 },
  });
  expect(
    (await request(opened, 'tools/list', { cursor: null, _meta: { progressToken: null } })).tools,
  ).toHaveLength(6);
  expect((await request(opened, 'tools/list', null)).tools).toHaveLength(6);
  const capabilities = { sampling: null, roots: null, elicitation: null };
  const clientInfo = { name: 'x', version: '1', title: null };
  expect(
    await request(opened, 'initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo }),
  ).toMatchObject({ serverInfo: { name: 'lorekeep' } });
});
