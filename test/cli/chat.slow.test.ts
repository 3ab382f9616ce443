import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type FakeOptions, FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from '../server/corpus.js';
import { TestServer } from '../server/test-server.js';
import { type CommandOptions, lorekeep, noTerminal, onTerminal } from './command.js';

const inFolder = temporaryFolder();
const withoutTerminal = noTerminal();
if (withoutTerminal !== undefined) console.log(`terminal tests skipped: ${withoutTerminal}`);

beforeAll(() => {
  const records = corpus.map(({ text }, index) => ({ id: `r${index}`, text }));
  writeFileSync(inFolder('records.json'), JSON.stringify(records));
  writeFileSync(
    inFolder('kb.json'),
    JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }),
  );
});

/** A server with a fake language model. */
async function serving(options: FakeOptions) {
  const model = new FakeTextModel(options);
  const config = { storage_root: inFolder() };
  const server = await TestServer.start({ config, loadLanguageModel: async () => model });
  const at = (command: string, args: string[]) => [command, '--port', String(server.port), ...args];
  const running = (command: string, args: string[], more: CommandOptions = {}) =>
    lorekeep(at(command, args), more);
  return { model, at, running };
}

const echo: FakeOptions = {
  reply: (_, messages) => ['You said ', `${messages.at(-1)?.content.split('\n').at(-1)}.`],
};

describe('lorekeep ask --generate', () => {
  it('prints the reply of a language model and its citations', async () => {
    const { running, model } = await serving({ reply: () => ['They ', 'show the way [1]', ' [7].'] });
    const { status, stdout, stderr } = await running('ask', ['kb.json', corpus[0].question, '--generate']);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(
      /^They show the way \[1\]\.\nsources:\n {2}\[1\] r0 \(kb\)\n {6}"[^"]+"\n {2}\[2\] r\d+ \(kb\) \(not cited\)\n/,
    );
    expect(model.prompts[0]?.at(-1)?.content).toContain(corpus[0].text);
  });

  it('prints a line of JSON per question', async () => {
    const { running } = await serving({ reply: () => ['The way [1].'] });
    const args = ['kb.json', '--model', 'talker', '--json', '--top-k', '2'];
    const { stdout, stderr } = await running('ask', args, { stdin: `${corpus[0].question}\n` });
    const answer = JSON.parse(stdout);
    expect(answer, stderr).toMatchObject({ status: 'completed', text: 'The way [1].', finish: 'stop' });
    expect(answer.citations[0]).toMatchObject({ kind: 'mark', id: 'r0' });
  });

  it('says that a turn failed, and why', async () => {
    const { running } = await serving({});
    const { status, stderr } = await running('ask', ['kb.json', 'x '.repeat(2000), '--generate']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/the turn failed: .*4016 PromptTooLong/);
    const unknown = await running('ask', ['kb.json', 'x', '--model', 'talkre']);
    expect(unknown.stderr).toContain('did you mean "talker"?');
  });
});

describe('lorekeep chat', () => {
  it('answers the lines of a pipe, and remembers them', async () => {
    const { running, model } = await serving(echo);
    const { status, stdout, stderr } = await running('chat', ['--system', 'Be brief.'], {
      stdin: 'one\n\ntwo\n/stats\n/quit\nthree\n',
    });
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^You said one\.\nYou said two\.\nturns {9}2\n/);
    expect(stdout).toMatch(
      /\nprompt {8}\d+ tokens, 2 of them cached\nreplies {7}4 tokens\nlast turn {5}2 tokens in \d+ ms/,
    );
    expect(model.prompts).toHaveLength(2);
    expect(model.prompts[1]?.map(({ content }) => content)).toEqual([
      'Be brief.',
      'one',
      'You said one.',
      'two',
    ]);
  });

  it('continues the conversation of a file', async () => {
    const { running, model } = await serving(echo);
    const file = inFolder('history.json');
    for (const text of ['one', 'two']) {
      const { status, stderr } = await running('chat', ['--history', file], { stdin: `${text}\n` });
      expect(status, stderr).toBe(0);
    }
    expect(model.prompts[1]?.map(({ content }) => content)).toEqual(['one', 'You said one.', 'two']);
    expect(JSON.parse(readFileSync(file, 'utf8')).turns).toHaveLength(2);
    // A file that is no history is not written.
    const other = inFolder('other.json');
    writeFileSync(other, '{"mine": true}');
    const refused = await running('chat', ['--history', other], { stdin: 'one\n' });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('history.version: is missing');
    expect(readFileSync(other, 'utf8')).toBe('{"mine": true}');
    // Nor a link, nor a folder.
    const kept = readFileSync(file, 'utf8');
    symlinkSync(file, inFolder('link.json'));
    for (const [name, reason] of [
      ['link.json', 'is a symbolic link'],
      ['.', 'not a regular file'],
    ] as const) {
      const { status, stderr } = await running('chat', ['--history', inFolder(name)], { stdin: 'three\n' });
      expect(status).toBe(1);
      expect(stderr).toContain(reason);
    }
    expect(readFileSync(file, 'utf8')).toBe(kept);
    // Nor a file that could not be written back as it was.
    for (const [content, reason] of [
      ['{"version":1,"turns":[{"text":"a","text":"b","reply":""}]}', ':1:35: turns[0].text: occurs twice'],
      [Buffer.from('{"version":1,"turns":[{"text":"\xe9","reply":""}]}', 'latin1'), ': is not UTF-8'],
      ['{"version":1,', ': not a JSON file'],
    ] as const) {
      writeFileSync(other, content);
      const { status, stderr } = await running('chat', ['--history', other], { stdin: 'three\n' });
      expect(status).toBe(1);
      expect(stderr).toContain(`${other}${reason}`);
      expect(readFileSync(other)).toEqual(Buffer.from(content));
    }
    writeFileSync(other, '');
    const { status, stderr } = await running('chat', ['--history', other], { stdin: 'three\n' });
    expect(status, stderr).toBe(0);
    expect(JSON.parse(readFileSync(other, 'utf8')).turns).toHaveLength(1);
    // Windows tools write a byte order mark.
    writeFileSync(other, `\ufeff${readFileSync(other, 'utf8')}`);
    writeFileSync(inFolder('system.txt'), '\ufeffBe kind.');
    const args = ['--history', other, '--system', `@${inFolder('system.txt')}`];
    const marked = await running('chat', args, { stdin: '\ufefffour\n' });
    expect(marked.status, marked.stderr).toBe(0);
    expect(model.prompts.at(-1)?.map(({ content }) => content)).toEqual([
      'Be kind.',
      'three',
      'You said three.',
      'four',
    ]);
    expect(JSON.parse(readFileSync(other, 'utf8')).turns).toHaveLength(2);
  });

  it('answers from a knowledge base, with citations', async () => {
    const { running } = await serving({ reply: () => ['The way [1].'] });
    const { stdout, stderr } = await running('chat', ['kb.json', '--json'], {
      stdin: `${corpus[0].question}\n`,
    });
    expect(JSON.parse(stdout), stderr).toMatchObject({
      text: 'The way [1].',
      citations: [{ id: 'r0', reply_start: expect.any(Number) }],
    });
  });

  it.skipIf(withoutTerminal)('cancels a reply on Ctrl-C and goes on, and ends on /quit', async () => {
    let stuck = true;
    const { at } = await serving({
      reply: () => ['Once upon', ' a time'],
      // The first reply stays unfinished until its turn is cancelled.
      pause: (index, signal) => {
        if (index === 0 || !stuck) return Promise.resolve();
        stuck = false;
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
      },
    });
    const steps = ['> ', 'one\\r', 'Once upon', '\\x03', 'cancelled', 'two\\r', ' a time', '/quit\\r'];
    const { status, stdout } = await onTerminal(100, at('chat', []), steps);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/Once upon.*cancelled.*Once upon a time/s);
  });

  const forgetful = () => {
    const params = { storage: 'memory', embedding_model: 'tiny', speakers: ['user'] };
    const nodes = [
      { id: 'talker', type: 'generate', params: { memory: 'keep' } },
      { id: 'keep', type: 'remember', params },
    ];
    writeFileSync(inFolder('forgetful.json'), JSON.stringify({ nodes }));
    const forget = JSON.stringify({ action: 'forget', arguments: { text: 'Bees dance in the hive.' } });
    return serving({
      reply: (_, messages) => [
        /^forget/.test(messages.at(-1)?.content ?? '') ? `Shall I? ${forget}` : 'Noted.',
      ],
    });
  };

  it.skipIf(withoutTerminal)('asks on the terminal before an agent forgets something', async () => {
    const { at } = await forgetful();
    const asks = 'forget this? [y/N] ';
    const steps = ['> ', 'Bees dance in the hive.\\r', 'Noted', 'forget it\\r', asks, 'no\\r'];
    steps.push('declined', 'forget it\\r', asks, 'y\\r', 'forgotten: 1 record', '/quit\\r');
    const args = at('chat', ['--graph', inFolder('forgetful.json')]);
    const { status, stdout } = await onTerminal(100, args, steps);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/Shall I\?.*may forget, in memory:.*- Bees dance in the hive\..*declined/s);
  });

  it('lets an agent forget nothing without a terminal', async () => {
    const { running } = await forgetful();
    const stdin = 'Bees dance in the hive.\nforget it\n';
    const args = ['--graph', inFolder('forgetful.json'), '--json'];
    const { stdout, stderr } = await running('chat', args, { stdin });
    const last = JSON.parse(stdout.trim().split('\n').at(-1) as string);
    expect(last.memory[0], stderr).toMatchObject({ forget: 'declined', forgotten: [] });
    expect(stderr).toContain('nothing is forgotten: there is no terminal');
  });

  it.skipIf(withoutTerminal)('ends with 130 on Ctrl-C while nothing is generated', async () => {
    const { at } = await serving(echo);
    const { status } = await onTerminal(100, at('chat', []), ['> ', '\\x03']);
    expect(status).toBe(130);
  });
});
