import { expect, it } from 'vitest';
import { door, type Json } from './door-setting.js';
import { keysFile, secret } from './web-socket.js';

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

const version = 'io.modelcontextprotocol/protocolVersion';
const envelope = {
  [version]: '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
};

it('a wrong method is answered with the nearest one', async () => {
  const opened = await door();
  for (const [method, params, message] of [
    ['tools/lst', {}, 'there is no method "tools/lst"; did you mean "tools/list"?'],
    ['tool/call', {}, 'there is no method "tool/call"; did you mean "tools/call"?'],
    ['Prompts/Get', {}, 'there is no method "Prompts/Get"; did you mean "prompts/get"?'],
    ['initialise', {}, 'there is no method "initialise"; did you mean "initialize"?'],
    ['', {}, 'there is no method ""; there is "initialize", "ping", "tools/list"'],
    ['__proto__', {}, 'there is no method "__proto__"; there is "initialize"'],
    ['sampling/createMessage', {}, 'there is no method "sampling/createMessage"; there is'],
    [
      'server/discover',
      {},
      `the method "server/discover" needs the revision of the protocol in params._meta`,
    ],
    ['notifications/initialized', {}, 'a notification has no id'],
  ] as const)
    expect(await request(opened, method, params), method).toEqual({
      code: -32601,
      message: expect.stringContaining(message),
    });
});

it('a wrong method of a revision without a handshake is answered with the nearest one and the status 404', async () => {
  const opened = await door();
  for (const [method, message] of [
    ['server/discovr', 'there is no method "server/discovr"; did you mean "server/discover"?'],
    ['ping', 'the revision that params._meta names has no method "ping"'],
  ] as const) {
    const sent = { jsonrpc: '2.0', id: 7, method, params: { _meta: envelope } };
    const { status, json } = await opened.call('POST', '/mcp', sent, {
      ...headers,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
    });
    expect(status).toBe(404);
    expect(json()).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32601, message } });
  }
});

it('each method that refusals list is served', async () => {
  const opened = await door();
  for (const _meta of [undefined, envelope]) {
    const { message } = await refusalOf(opened, { _meta });
    const methods = [...message.matchAll(/"([a-z]+(?:\/[a-z]+)*)"/g)].map(([, method]) => method as string);
    expect(methods.length).toBeGreaterThan(8);
    for (const method of methods) {
      const { text } = await opened.call(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', id: 7, method, params: { _meta } },
        {
          ...headers,
          ...(_meta && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }),
        },
      );
      expect(text, method).not.toContain('-32601');
    }
  }
});

/** The refusal of a method that is near to none. */
async function refusalOf(opened: Awaited<ReturnType<typeof door>>, params: Json): Promise<Json> {
  const { json } = await opened.call('POST', '/mcp', { jsonrpc: '2.0', id: 7, method: '?', params }, headers);
  return json().error;
}

it('methods that need a right are refused to clients without it', async () => {
  const opened = await door({ keys_file: keysFile({ talker: ['chat'] }) });
  const { json } = await opened.call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 7, method: 'resources/list' },
    { ...headers, authorization: `Bearer ${secret('talker')}` },
  );
  expect(json().error).toEqual({
    code: -32601,
    message: 'the method "resources/list" needs the right "search"',
  });
});

it('what is no message is refused as JSON-RPC has it, with its id where it has one', async () => {
  const opened = await door();
  for (const [body, id, code, message] of [
    ['{bad', null, -32700, 'not valid JSON'],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', null, -32600, 'an object is expected, not an array of 1'],
    ['5', null, -32600, 'the message: an object is expected, not 5'],
    ['{"id":1,"method":"ping"}', 1, -32600, 'jsonrpc: is missing'],
    ['{"jsonrpc":"1.0","id":"a","method":"ping"}', 'a', -32600, 'jsonrpc: "2.0" is expected, not "1.0"'],
    ['{"jsonrpc":"2.0","id":2}', 2, -32600, 'method: is missing'],
    ['{"jsonrpc":"2.0","id":3,"method":5}', 3, -32600, 'method: a string is expected, not 5'],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', null, -32600, 'id: a string or an integer is expected'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600, 'id: a string or an integer is expected'],
    ['{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}', 4, -32602, 'params: an object is expected'],
  ] as const) {
    const reply = await opened.call('POST', '/mcp', body, headers);
    expect(reply.status, body).toBe(400);
    expect(reply.json(), body).toEqual({
      jsonrpc: '2.0',
      id,
      error: { code, message: expect.stringContaining(message) },
    });
  }
  const further = '{"jsonrpc":"2.0","id":5,"method":"ping","further":1}';
  expect((await opened.call('POST', '/mcp', further, headers)).text).toContain('"result":{}');
});
