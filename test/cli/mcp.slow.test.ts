import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { glimpse } from '../../src/cli/mcp/glimpse.js';
import { instructions } from '../../src/doors/mcp/describe.js';
import { recordUri } from '../../src/doors/mcp/records.js';
import { waited } from '../../src/doors/mcp/waiting.js';
import { temporaryFolder } from '../helpers/folder.js';
import { program } from './command.js';
import { commandHost } from './commands.js';
import { writeSample } from './sample.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const models = process.env.LOREKEEP_MODELS ?? join(import.meta.dirname, '../../../shared/models');
const talker = join(models, 'SmolLM2-135M-Instruct.Q4_1.gguf');
if (!existsSync(talker)) console.log(`replies of a language model are not tested: there is no ${talker}`);
const env = () => ({ ...(process.env as Record<string, string>), LOREKEEP_STATE: inFolder('state') });
const service = 'Anna Holm services the telescope in Gozo every five weeks.';

beforeAll(() => {
  mkdirSync(inFolder('docs'));
  mkdirSync(inFolder('notes'));
  const gozo = `# The Gozo telescope\n\nIt stands on a hill.\n\n## Service\n\n${service} Visitors come on Fridays.\n`;
  writeFileSync(inFolder('docs', 'gozo.md'), gozo);
  writeFileSync(inFolder('notes', 'carla.md'), 'Carla Moretti services the telescope in Malta.\n');
});

/** A client of the SDK that has started `lorekeep mcp`. */
async function connected(...places: string[]): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...places],
    cwd: inFolder(),
    env: env(),
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

const textOf = (result: { content: unknown }) => (result.content as { text: string }[])[0]?.text ?? '';

describe('lorekeep mcp, with a client of the SDK', () => {
  it('says what there is, and offers tools that read', async () => {
    const client = await connected('docs', 'notes');
    expect(client.getInstructions()).toContain('"docs", ');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search', 'get', 'list', 'ask']);
    for (const { annotations, outputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
      expect(outputSchema).toMatchObject({ type: 'object' });
    }
    await client.callTool({ name: 'list', arguments: {} });
    // Now everything is open.
    const { tools: later } = await client.listTools();
    const search = later[0]?.description ?? '';
    expect(search).toContain('- "docs", documents, 2 records; fields: path (string: "gozo.md")');
    expect(search).toContain('- "notes", documents, 1 record;');
  });

  it('knows at a glimpse what the last index of a folder knew', async () => {
    mkdirSync(inFolder('glimpsed'));
    writeFileSync(inFolder('glimpsed', 'one.md'), '# One\n\nThe first text.\n\n## Two\n\nThe second text.\n');
    const shown = [
      { name: 'glimpsed', folder: inFolder('glimpsed'), writable: false },
      { name: 'gone', folder: inFolder('no-such-folder'), writable: false },
      { name: 'kb', writable: true },
    ];
    vi.stubEnv('LOREKEEP_STATE', inFolder('state'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await glimpse(shown)).toEqual(shown);
    await lorekeep(['index', 'glimpsed'], { cwd: inFolder(), env: env() });
    const [known, ...others] = await glimpse(shown);
    expect(known).toMatchObject({
      records: 2,
      fields: expect.arrayContaining([{ name: 'path', type: 'string', values: [] }]),
    });
    expect(others).toEqual(shown.slice(1));
    expect(instructions(known === undefined ? [] : [known], [])).toContain('(2 records)');
    const { config } = JSON.parse(
      (await lorekeep(['indexes', 'list', '--json'], { cwd: inFolder(), env: env() })).stdout,
    ).indexes.find(({ folder }: { folder: string }) => folder.endsWith('glimpsed'));
    writeFileSync(config, '[');
    expect((await glimpse(shown))[0]).toEqual(shown[0]);
  });

  it('searches, reads and lists records with their places', async () => {
    const client = await connected('docs', 'notes');
    const found = await client.callTool({
      name: 'search',
      arguments: { query: 'who services the telescope in Gozo?', top_k: 1 },
    });
    expect(found.structuredContent).toMatchObject({
      hits: [
        {
          storage: 'docs',
          id: 'gozo.md#service',
          uri: 'lorekeep://docs/gozo.md%23service',
          place: join('docs', 'gozo.md > Service'),
          metadata: { path: 'gozo.md', heading: 'Service' },
        },
      ],
    });
    expect(textOf(found)).toContain(service);
    const got = await client.callTool({ name: 'get', arguments: { ids: ['nope', 'carla.md'] } });
    expect(got.structuredContent).toMatchObject({ records: [{ id: 'carla.md' }], missing: ['nope'] });
    const filter = { '==': [{ knowledge: 'heading' }, 'Service'] };
    const listed = await client.callTool({ name: 'list', arguments: { storage: 'docs', filter } });
    expect(listed.structuredContent).toMatchObject({ total: 1, records: [{ id: 'gozo.md#service' }] });
    const page = await client.callTool({ name: 'list', arguments: { offset: 1, limit: 1 } });
    expect(page.structuredContent).toMatchObject({
      storage: 'docs',
      total: 2,
      records: [{ id: 'gozo.md#service' }],
    });
  });

  it('answers with quoted sentences and their sources', async () => {
    const client = await connected('docs', 'notes');
    const question = 'who services the telescope?';
    const { structuredContent } = await client.callTool({ name: 'ask', arguments: { question } });
    expect(structuredContent).toMatchObject({ generated: false });
    const { answer, sources } = structuredContent as { answer: string; sources: object[] };
    expect(answer.split('\n').sort()).toEqual([service, 'Carla Moretti services the telescope in Malta.']);
    expect(sources).toContainEqual(
      expect.objectContaining({ id: 'gozo.md#service', cited: true, sentence: service }),
    );
    const nothing = await client.callTool({ name: 'ask', arguments: { question: 'quantum chromodynamics' } });
    expect(nothing.structuredContent).toMatchObject({ answer: '' });
  });

  it.skipIf(!existsSync(talker))(
    'answers with a language model, whose turn ends when it is cancelled',
    async () => {
      const client = await connected('docs', '--model', talker);
      const ask = { name: 'ask', arguments: { question: 'who services the telescope in Gozo?' } };
      const { structuredContent } = await client.callTool(ask);
      expect(structuredContent).toMatchObject({ generated: true, answer: expect.stringMatching(/./) });
      const { sources } = structuredContent as { sources: object[] };
      expect(sources).toContainEqual(expect.objectContaining({ number: 1, id: 'gozo.md#service' }));
      const signal = AbortSignal.timeout(100);
      await expect(client.callTool(ask, { signal })).rejects.toThrow();
      const found = await client.callTool({ name: 'search', arguments: { query: 'telescope' } });
      expect(found.isError).toBeFalsy();
    },
  );

  it('answers a wrong name with the nearest one, and a wrong filter with the place of the mistake', async () => {
    const client = await connected('docs', 'notes');
    const wrong = await client.callTool({ name: 'search', arguments: { query: 'x', storage: 'nots' } });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain('did you mean "notes"?');
    const filter = { '==': [{ knowledge: 'headng' }, 'x'] };
    for (const [name, args] of [
      ['search', { query: 'x' }],
      ['list', {}],
      ['ask', { question: 'x' }],
    ] as const) {
      const refused = await client.callTool({ name, arguments: { ...args, storage: 'docs', filter } });
      expect(refused.isError, name).toBe(true);
      expect(textOf(refused), name).toContain('did you mean "heading"?');
    }
  });

  it('has records as resources, and a prompt', async () => {
    const client = await connected('docs');
    const { contents } = await client.readResource({ uri: 'lorekeep://docs/gozo.md%23service' });
    expect(contents).toMatchObject([{ mimeType: 'text/plain', text: expect.stringContaining(service) }]);
    await expect(client.readResource({ uri: 'lorekeep://dosc/gozo.md' })).rejects.toThrow(
      'did you mean "docs"?',
    );
    await expect(client.readResource({ uri: 'lorekeep://docs/x' })).rejects.toThrow('no record "x"');
    const prompt = await client.getPrompt({ name: 'answer', arguments: { question: 'why?' } });
    expect(JSON.stringify(prompt.messages)).toContain('Question: why?');
  });

  it('remembers and forgets with --write, and what it remembers is on disk', async () => {
    mkdirSync(inFolder('memory'));
    writeSample((name) => inFolder('memory', name));
    await lorekeep(['build', 'memory/kb.json'], { cwd: inFolder(), env: env() });
    const client = await connected('--write', 'docs', 'memory/kb.json');
    await client.callTool({ name: 'list', arguments: {} });
    const { tools } = await client.listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.remember).toMatchObject({
      readOnlyHint: false,
      destructiveHint: false,
      openWorldHint: false,
    });
    expect(hints.forget).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const schema = tools.find(({ name }) => name === 'remember')?.inputSchema;
    expect(JSON.stringify(schema)).toContain('"year"');
    expect(tools.find(({ name }) => name === 'remember')?.description).toContain('that you may change');
    const call = async (name: string, args: Record<string, unknown>) =>
      client.callTool({ name, arguments: args });
    const text = 'Ada feeds the quagga at noon.';
    const vague = await call('remember', { text });
    expect([vague.isError, textOf(vague)]).toEqual([
      true,
      expect.stringContaining('name one of "docs", "memory"'),
    ]);
    const kept = await call('remember', { text, storage: 'memory', metadata: { year: 1850 } });
    expect(kept.structuredContent, textOf(kept)).toMatchObject({
      storage: 'memory',
      uri: expect.stringMatching(/^lorekeep:\/\/memory\/memory-/),
    });
    const { id } = kept.structuredContent as { id: string };
    const found = await call('search', { query: 'who feeds the quagga?', storage: 'memory', top_k: 1 });
    expect(found.structuredContent).toMatchObject({ hits: [{ id, text, metadata: { year: 1850 } }] });
    expect(
      (await call('remember', { text: 'A note of the folder.', id: 'note', storage: 'docs' })).isError,
    ).toBeFalsy();
    const files = () =>
      readdirSync(inFolder('memory'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
    expect(files().join()).toContain('quagga');
    for (const [name, args, message] of [
      ['remember', { text, id, storage: 'memory' }, 'exists'],
      ['remember', { text, storage: 'memoir' }, 'did you mean "memory"?'],
      ['remember', { text, storage: 'memory', metadata: { year: 'soon' } }, 'metadata.year: '],
      ['forget', { ids: ['no-such'], storage: 'memory' }, 'no-such'],
    ] as const) {
      const refused = await call(name, args);
      expect([refused.isError, textOf(refused)], name).toEqual([true, expect.stringContaining(message)]);
    }
    const gone = await call('forget', { ids: [id], storage: 'memory' });
    expect(gone.structuredContent, textOf(gone)).toMatchObject({ forgotten: 1 });
    expect(files().join()).not.toContain('quagga');
    // Years are of records.
    const described = async () => JSON.stringify(await client.listTools());
    expect(await described()).toContain('year (int: 1923 to ');
    await call('forget', { ids: ['bees'], storage: 'memory' });
    expect(await described()).toContain('year (int: 1950 to ');
  });

  it('serves a knowledge base with odd ids and integers beyond 2^53', async () => {
    mkdirSync(inFolder('odd'));
    writeSample((name) => inFolder('odd', name));
    await lorekeep(['build', 'odd/kb.json'], { cwd: inFolder(), env: env() });
    const client = await connected('odd/kb.json');
    const got = await client.callTool({ name: 'get', arguments: { ids: ['glacier', 'hostile\u001b[31m'] } });
    expect(got.structuredContent, textOf(got)).toMatchObject({
      records: [{ storage: 'odd', metadata: { year: '9007199254740993' } }, { storage: 'odd' }],
    });
    const uri = recordUri('odd', 'hostile\u001b[31m');
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ text: expect.stringContaining('flowers') }]);
  });
});

/** `lorekeep mcp` with its raw streams. */
function raw(...places: string[]) {
  const child = spawn(process.execPath, [program, 'mcp', ...places], { cwd: inFolder(), env: env() });
  return { child, ...linesOf(child) };
}

function linesOf(child: ChildProcess) {
  onTestFinished(() => void child.kill('SIGKILL'));
  const messages: { id?: unknown; result?: unknown; error?: { code: number }; jsonrpc?: string }[] = [];
  const waiting = new Map<unknown, (message: object) => void>();
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line);
      messages.push(message);
      waiting.get(message.id)?.(message);
    }
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const send = (line: string | object) =>
    child.stdin?.write(`${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
  const ask = (id: unknown, method: string, params?: object) => {
    const reply = new Promise<Record<string, unknown>>((resolve) => waiting.set(id, resolve as never));
    send({ id, method, params } as object);
    return reply;
  };
  const start = async () => {
    const clientInfo = { name: 'raw', version: '1' };
    await ask('start', 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    send({ method: 'notifications/initialized' });
  };
  return { messages, closed, send, ask, start };
}

describe('lorekeep mcp, with raw messages', () => {
  it('integers of 64 bits stay exact in filters', async () => {
    mkdirSync(inFolder('wide'), { recursive: true });
    writeSample((name) => inFolder('wide', name));
    await lorekeep(['build', 'wide/kb.json'], { cwd: inFolder(), env: env() });
    const { start, send, messages } = raw('wide/kb.json');
    await start();
    for (const [id, year] of [9007199254740992n, 9007199254740993n, 9007199254740994n].entries()) {
      const filter = `{"==":[{"knowledge":"year"},${year}]}`;
      send(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"list","arguments":{"filter":${filter}}}}`,
      );
    }
    const totalOf = (id: number) =>
      (messages.find((each) => each.id === id)?.result as { structuredContent?: { total: number } })
        ?.structuredContent?.total;
    await expect.poll(() => [0, 1, 2].map(totalOf), { timeout: 60_000 }).toEqual([0, 1, 0]);
  });

  it('survives broken and hostile messages, writes messages alone, and ends with stdin', async () => {
    const { child, messages, closed, send, ask, start } = raw('docs');
    let noted = '';
    child.stderr?.on('data', (piece) => (noted += piece));
    await start();
    for (const line of ['{', '[]', 'null', '"x"', '{"jsonrpc":"1.0"}', '\u0000', '{"jsonrpc":"2.0","id":{}}'])
      send(line);
    send('{"jsonrpc":"2.0","id":0,"error":{}}');
    expect(await ask(1, 'no/such')).toMatchObject({ error: { code: -32601 } });
    expect(await ask(13, 'tools/lst')).toMatchObject({
      error: { code: -32601, message: 'there is no method "tools/lst"; did you mean "tools/list"?' },
    });
    send('{"jsonrpc":"2.0","id":14,"method":"ping","further":1}');
    await expect.poll(() => messages.find(({ id }) => id === 14)).toMatchObject({ result: {} });
    send('{"jsonrpc":"2.0","id":15,"method":5}');
    await expect
      .poll(() => messages.find(({ id }) => id === 15))
      .toMatchObject({ error: { code: -32600, message: 'method: a string is expected, not 5' } });
    const call = (id: unknown, name: string, args: unknown) =>
      ask(id, 'tools/call', { name, arguments: args as object });
    expect(await call(2, 'no-such', {})).toMatchObject({ error: { code: -32602 } });
    expect(await ask(20, 'tools/list', null as never)).toMatchObject({
      result: { tools: expect.any(Array) },
    });
    expect(await call(21, 'search', 'x')).toMatchObject({
      error: { code: -32602, message: 'arguments: an object is expected, not "x"' },
    });
    expect(await call(22, 'list', { limit: null })).toMatchObject({
      result: { structuredContent: { total: expect.any(Number) } },
    });
    const failed = { result: { isError: true } };
    expect(await call(3, 'search', { query: 'x'.repeat(2 ** 20) })).toMatchObject(failed);
    expect(await call(4, 'search', { query: 5 })).toMatchObject(failed);
    expect(await call(5, 'search', { query: 'x', storage: '\u001b]0;\u0007\ud800' })).toMatchObject(failed);
    let deep: unknown = 1;
    for (let level = 0; level < 3000; level++) deep = { not: deep };
    for (const [id, name, args] of [
      [6, 'search', { query: 'x', filter: deep }],
      [7, 'list', { filter: deep }],
      [8, 'ask', { question: 'x', filter: deep }],
    ] as const)
      expect(await call(id, name, args)).toMatchObject(failed);
    expect(await ask(9, 'resources/read', { uri: 'lorekeep://%ff/%' })).toMatchObject({ error: {} });
    expect(await ask(10, 'resources/read', { uri: 'file:///etc/passwd' })).toMatchObject({ error: {} });
    expect(
      await call(11, 'search', { query: 'telescope', filter: JSON.parse('{"__proto__":1}') }),
    ).toHaveProperty('result');
    const proved = await call(12, 'search', { query: 'telescope' });
    expect(proved).toMatchObject({ result: { structuredContent: { hits: expect.any(Array) } } });
    child.stdin?.end();
    expect(await closed).toBe(0);
    for (const { jsonrpc } of messages) expect(jsonrpc).toBe('2.0');
    const refused = messages
      .filter(({ id }) => id === null)
      .map(({ error }) => (error as { code: number }).code);
    expect(refused).toEqual([-32700, -32600, -32600, -32600, -32600, -32700, -32600]);
    expect(noted).toContain('a line of stdin is no message of MCP; it was ignored');
    expect(noted).not.toContain('a bug in lorekeep');
  });

  it('answers before the folder is indexed', async () => {
    mkdirSync(inFolder('large'));
    const text = Array.from(
      { length: 2000 },
      (_, n) => `## Part ${n}\n\nThe lamp ${n} is lit by keeper ${n}.\n`,
    );
    writeFileSync(inFolder('large', 'all.md'), text.join('\n'));
    const { child, start, ask, closed } = raw('large');
    child.stderr?.resume();
    const order: string[] = [];
    await start();
    const searched = ask(1, 'tools/call', {
      name: 'search',
      arguments: { query: 'keeper 77' },
    }).then((reply) => {
      order.push('search');
      return reply;
    });
    await ask(2, 'tools/list').then(() => order.push('list'));
    expect(await searched).toMatchObject({ result: { structuredContent: { hits: expect.any(Array) } } });
    expect(order).toEqual(['list', 'search']);
    child.stdin?.end();
    expect(await closed).toBe(0);
  });

  it('ends while a folder is being indexed', async () => {
    mkdirSync(inFolder('busy'));
    const text = Array.from({ length: 5000 }, (_, n) => `## Part ${n}\n\nThe boat ${n} sails at ${n}.\n`);
    writeFileSync(inFolder('busy', 'all.md'), text.join('\n'));
    const { child, start, closed } = raw('busy');
    child.stderr?.resume();
    await start();
    child.stdin?.end();
    expect(await closed).toBe(0);
  });

  it.skipIf(process.platform === 'win32')('ends with its host, also when stdin stays open', async () => {
    // The host's child has the streams of this test, which stay open.
    const code = `require('node:child_process').spawn(process.execPath, ${JSON.stringify([program, 'mcp', 'docs'])}, { stdio: 'inherit' })`;
    const host = spawn(process.execPath, ['-e', code], { cwd: inFolder(), env: env() });
    const { start, closed } = linesOf(host);
    host.stderr.resume();
    await start();
    host.kill('SIGKILL');
    // The streams close when the last process that has them ends.
    await closed;
  });

  it('ends on SIGTERM', async () => {
    const { child, start, closed } = raw('docs');
    child.stderr?.resume();
    await start();
    child.kill('SIGTERM');
    expect(await closed).toBe(0);
  });

  it('refuses a place that does not exist, on stderr', async () => {
    const { status, stdout, stderr } = await lorekeep(['mcp', 'docs', 'nowhere'], {
      cwd: inFolder(),
      env: env(),
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('nowhere: there is no such folder');
  });
});

describe('waiting for the index', () => {
  it('notifies a client that asks for progress, and ends when the request is cancelled', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const told: unknown[] = [];
    const notify = async ({ params }: { params?: object | undefined }) => void told.push(params);
    const { signal } = new AbortController();
    let resolve = (_: number) => {};
    const answer = new Promise<number>((settle) => {
      resolve = settle;
    });
    const _meta = { progressToken: 7 };
    const asked = waited(answer, { signal, _meta, notify }, 'wait');
    const silent = waited(answer, { signal, _meta: undefined, notify } as never, 'wait');
    const controller = new AbortController();
    const cancelled = waited(answer, { signal: controller.signal, _meta, notify }, 'other');
    controller.abort(new Error('cancelled'));
    await expect(cancelled).rejects.toThrow('cancelled');
    await vi.advanceTimersByTimeAsync(2500);
    resolve(3);
    expect(await Promise.all([asked, silent])).toEqual([3, 3]);
    await vi.advanceTimersByTimeAsync(5000);
    const message = 'wait';
    expect(told).toEqual([1, 2].map((progress) => ({ progressToken: 7, progress, message })));
  });
});
