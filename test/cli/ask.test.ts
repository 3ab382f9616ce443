import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from '../server/corpus.js';
import { TestServer } from '../server/test-server.js';
import { type CommandOptions, noTerminal, onTerminal } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const withoutTerminal = noTerminal();
if (withoutTerminal !== undefined) console.log(`terminal tests skipped: ${withoutTerminal}`);

beforeAll(() => {
  const records = corpus.map(({ text }, index) => ({ id: `r${index}`, text, metadata: { index } }));
  writeFileSync(inFolder('records.json'), JSON.stringify(records));
  const fields = [{ name: 'index', type: 'int', optional: true }];
  writeFileSync(
    inFolder('kb.json'),
    JSON.stringify({
      embedding_model: 'tiny',
      records_file: 'records.json',
      fields,
      search: { mode: 'hybrid', fusion: 'scores' },
    }),
  );
});

async function asking(args: string[], options: CommandOptions = {}) {
  const server = await TestServer.start({ config: { storage_root: inFolder() } });
  return lorekeep(['ask', '--port', String(server.port), ...args], options);
}

async function lorekeepHere(kb: string, question: string) {
  const server = await TestServer.start();
  return lorekeep(['ask', '--port', String(server.port), kb, question]);
}

describe('lorekeep ask', () => {
  it("prints the hits for one question, of the server's file or of one here", async () => {
    const { question } = corpus[3];
    const there = await asking(['kb.json', question]);
    expect(there.status, there.stderr).toBe(0);
    expect(there.stdout).toMatch(/^1 .* r3 /m);
    // The root of the server is another folder now, and the file's own is the session's.
    const here = await lorekeepHere(inFolder('kb.json'), question);
    expect(here.stdout, here.stderr).toMatch(/^1 .* r3 /m);
  });

  it('fuses as the flags say, and else as the config does', async () => {
    const { question } = corpus[3];
    const method = async (...flags: string[]) =>
      JSON.parse((await asking(['kb.json', question, '--json', ...flags])).stdout).plan.fusion.method;
    expect(await method()).toBe('scores');
    expect(await method('--fusion', 'rrf')).toBe('rrf');
  });

  it('reads the question as the lexical flags say', async () => {
    const { question, text } = corpus[3];
    const [word = ''] = /\p{L}{6,}/u.exec(text) ?? [];
    const found = await asking(['kb.json', `+${word} ${question}`, '--extended', '--mode', 'lexical']);
    expect(found.stdout, found.stderr).toMatch(/^1 .* r3 /m);
    expect(found.stdout).toContain(`[${word}]`);
    const none = await asking(['kb.json', `+${word} -${word}`, '--extended', '--mode', 'lexical']);
    expect(none).toMatchObject({ stdout: '', stderr: expect.stringMatching(/^no hits\n/) });
    const dense = await asking(['kb.json', question, '--fuzzy', '--mode', 'dense']);
    expect(dense).toMatchObject({ status: 2, stderr: expect.stringContaining('--fuzzy: it has no effect') });
    const unused = await asking(['kb.json', question, '--variables', '{"t":1}']);
    expect(unused).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--variables: it has no effect without --filter'),
    });
  });

  it('proves itself with the access token of a flag, of the environment or of the config, which is never an argument', async () => {
    const token = 'the token of this test';
    writeFileSync(inFolder('token'), `${token}\n`);
    writeFileSync(inFolder('wrong'), 'another token of this test');
    const config = { storage_root: inFolder(), access_token_file: inFolder('token') };
    const { port } = await TestServer.start({ config });
    writeFileSync(inFolder('client.json'), JSON.stringify({ port, access_token_file: 'token' }));
    const ask = (args: string[], env: NodeJS.ProcessEnv = {}) =>
      lorekeep(['ask', 'kb.json', corpus[3].question, ...args], {
        env: { LOREKEEP_CONFIG: inFolder('client.json'), ...env },
      });
    const none = { LOREKEEP_CONFIG: inFolder('absent.json') };
    const at = ['--port', String(port)];
    const [byConfig, byVariable, byFlag, without, byWrong, byAbsent] = await Promise.all([
      ask([]),
      ask(at, { ...none, LOREKEEP_ACCESS_TOKEN: token }),
      ask([...at, '--access-token-file', inFolder('token')], { ...none, LOREKEEP_ACCESS_TOKEN: 'wrong' }),
      ask(at, none),
      ask([...at, '--access-token-file', inFolder('wrong')], none),
      ask([...at, '--access-token-file', inFolder('gone')], none),
    ]);
    for (const right of [byConfig, byVariable, byFlag])
      expect(right.stdout, right.stderr).toMatch(/^1 .* r3 /m);
    expect([without.status, without.stderr]).toEqual([
      1,
      expect.stringContaining('access_token: is missing'),
    ]);
    expect([byWrong.status, byWrong.stderr]).toEqual([1, expect.stringContaining('access_token: is wrong')]);
    expect([byAbsent.status, byAbsent.stderr]).toEqual([
      1,
      expect.stringContaining('gone: the file does not exist'),
    ]);
    for (const { stdout, stderr } of [byConfig, byVariable, byFlag, byWrong]) {
      expect(stdout + stderr).not.toContain(token);
      expect(stdout + stderr).not.toContain('another token');
    }
  });

  it('answers every line of stdin, as a line of JSON each', async () => {
    const stdin = `${corpus[0].question}\n\n${corpus[2].question}\n`;
    const { status, stdout } = await asking(['kb.json', '--json', '--top-k', '1'], { stdin });
    expect(status).toBe(0);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ hits }) => hits[0].id)).toEqual(['r0', 'r2']);
    // The names of the protocol, as search --json has them.
    expect(answers[0].hits[0]).toMatchObject({ bm25_score: expect.any(Number), dense_rank: 1 });
    const { stdout: table } = await asking(['kb.json', corpus[0].question as string, '--top-k', '1']);
    expect(table).toMatch(/^1 +\d\.\d+ +\d\.\d+ +\d+\.\d+ +\d\.\d+ +r0/m);
  });

  it('goes on after a question that fails, and tells of it on its line and in the exit status', async () => {
    const unseen = '\u0001';
    const stdin = `${unseen}\n${corpus[2].question}\n`;
    const { status, stdout } = await asking(['kb.json', '--json', '--top-k', '1', '--mode', 'dense'], {
      stdin,
    });
    expect(status).toBe(1);
    const [failed, answered] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(failed).toMatchObject({
      question: unseen,
      error: { code: '5004', detail: { path: 'text' } },
    });
    expect(answered.hits[0].id).toBe('r2');
  });

  it('lets an agent answer', async () => {
    const graph = inFolder('graph.json');
    const node = { id: 'n', type: 'retrieve', params: { embedded_string_storage: 'kb', mode: 'dense' } };
    writeFileSync(graph, JSON.stringify({ nodes: [node] }));
    const { status, stdout, stderr } = await asking([
      'kb.json',
      corpus[0].question,
      '--graph',
      graph,
      '--json',
    ]);
    expect(status, stderr).toBe(0);
    const { hits, ...rest } = JSON.parse(stdout);
    expect(rest).toMatchObject({ status: 'completed', text: '' });
    expect(hits[0]).toMatchObject({ id: 'r0', node: 'n', storage: 'kb' });
    const shown = await asking(['kb.json', corpus[0].question, '--graph', graph]);
    expect(shown.stdout).toContain('tell their sisters where flowers bloom.');
    expect(shown.stdout).not.toContain('the agent said nothing');
    // The graph says how to search: a flag would be without effect.
    for (const flag of ['--top-k 3', '--fusion rrf', '--min-score 0.1', '--fuzzy', '--model m']) {
      const both = await asking(['kb.json', 'x', '--graph', graph, ...flag.split(' ')]);
      expect(both.status).toBe(2);
      expect(both.stderr).toMatch(
        new RegExp(`option '--graph <file>' cannot be used with option '${flag.split(' ')[0]}`),
      );
    }
  });

  it('names what is wrong and what to do', async () => {
    const absent = await asking(['none/kb.json', 'x']);
    expect(absent.status).toBe(1);
    expect(absent.stderr).toMatch(
      /^lorekeep: none\/kb\.json: there is no such file here, nor in the server's storage root/,
    );
    const filter = await asking(['kb.json', 'x', '--filter', '{"==":[{"knowledge":"indx"},1]}']);
    expect(filter.stderr).toContain('did you mean "index"?');
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const unanswered = await lorekeep(['ask', '--port', String(port), 'kb.json', 'x']);
    expect(unanswered.status).toBe(1);
    expect(unanswered.stderr).toContain(
      `127.0.0.1:${port}: no greeting within 5 s; is it a lorekeep server?`,
    );
    const nobody = await lorekeep(['ask', '--port', '1', 'kb.json', 'x', '--json']);
    expect(nobody.status).toBe(1);
    expect(JSON.parse(nobody.stdout).error).toEqual({
      code: 'UNREACHABLE',
      message: nobody.stderr.trim().replace('lorekeep: ', ''),
      detail: { host: '127.0.0.1', port: 1 },
    });
    expect(nobody.stderr).toMatch(/127\.0\.0\.1:1: .*is the server running\? lorekeep serve starts it\n$/);
  });

  it.skipIf(withoutTerminal)('holds a conversation on a terminal until Ctrl-D', async () => {
    const server = await TestServer.start({ config: { storage_root: inFolder() } });
    const args = ['ask', '--port', String(server.port), 'kb.json', '--top-k', '1'];
    const steps = ['> ', `${corpus[0].question}\\r`, '> ', '\\x04'];
    const { status, stdout } = await onTerminal(100, args, steps);
    expect(status).toBe(0);
    expect(stdout).toMatch(/kb\.json: \d+ records; Ctrl-D ends/);
    expect(stdout).toMatch(/\n1 .* r0 /);
  });

  it.skipIf(withoutTerminal)('ends with 130 on Ctrl-C', async () => {
    const server = await TestServer.start({ config: { storage_root: inFolder() } });
    const args = ['ask', '--port', String(server.port), 'kb.json'];
    const { status, stdout } = await onTerminal(100, args, ['> ', '\\x03']);
    expect(status).toBe(130);
    expect(stdout).toMatch(/lorekeep: interrupted\r\n$/);
  });
});
