import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, modelsFolder, realModel, smolLm } from '../helpers/real-models.js';
import { corpus, strings } from './corpus.js';
import { Program } from './program.js';
import { catalogPath, TestServer } from './test-server.js';

const inFolder = temporaryFolder();
const cli = 'dist/src/cli/main.js';
const demo = 'scripts/demo.mjs';

async function busyPort(): Promise<string> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  return String((other.address() as { port: number }).port);
}

async function configFile(): Promise<string> {
  // Makes the catalog and its model.
  await TestServer.start();
  const path = inFolder('server-config.json');
  writeFileSync(path, JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '', prot: 1 }));
  return path;
}

describe('lorekeep serve', () => {
  it('serves until SIGTERM, and then exits with 0', async () => {
    const program = Program.run(cli, 'serve', '--config', await configFile(), '--port', '0');
    const [, port] = await program.printed(/"port":(\d+)/);
    const client = await connect({ port: Number(port) });
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const { hits } = await session.search({ name: 'docs', text: corpus[3].question, mode: 'hybrid' });
    expect(hits[0]?.id).toBe('3');
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await client.closed;
    expect(program.stdout).toContain('did you mean \\"port\\"?');
    expect(program.stdout, 'a user text in the log').not.toContain('copper');
  });

  it('runs with defaults without the config file that was named, and says on stderr which, and the nearest name', async () => {
    await configFile();
    symlinkSync('gone', inFolder('linked.json'));
    for (const [name, nearest] of [
      ['linked.json', '; the'],
      ['server-confg.json', `; did you mean ${JSON.stringify(inFolder('server-config.json'))}? The`],
      ['nothing-like-it', '; the'],
    ] as const) {
      const named = inFolder(name);
      const program = Program.run(cli, 'serve', '--config', named, '--port', '0');
      await program.printed(/"msg":"listening"/);
      program.child.kill('SIGTERM');
      expect(await program.ended).toEqual({ code: 0, signal: null });
      const said = `lorekeep: warning: ${named}: the config file does not exist${nearest} server uses its defaults: port 0, network_access local, storage_root `;
      expect(program.stderr).toContain(said);
    }
  });

  it('drains on SIGTERM, and a second signal ends it at once', async () => {
    const program = Program.run(cli, 'serve', '--config', await configFile(), '--port', '0');
    const [, port] = await program.printed(/"port":(\d+)/);
    const client = await connect({ port: Number(port) });
    const session = await client.createSession();
    // Enough work that it is under way when the signals come.
    const many = Array.from({ length: 100_000 }, (_, index) => `honey of the year ${index}`);
    const making = session.createEmbeddedStringStorage({
      name: 'docs',
      strings: many,
      embeddingModel: 'tiny',
    });
    making.catch(() => {});
    await program.printed(/"msg":"model loaded"/);
    program.child.kill('SIGTERM');
    await program.printed(/"running":1,.*"msg":"draining"/);
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 143, signal: null });
    await expect(making).rejects.toThrow();
  });

  it('explains in one line why it cannot start, and exits with 1, or 2 for a wrong flag', async () => {
    const config = await configFile();
    const port = await busyPort();
    const cases: [string[], string, number][] = [
      [['--config', config, '--port', port], `port ${port} on 127.0.0.1 is in use`, 1],
      [['--config', inFolder('.')], 'is a folder; a file is expected', 2],
      [['--config', ''], '--config: a path is expected', 2],
      [['--port', '70000'], '--port: an integer from 0 to 65535 is expected, not "70000"', 2],
      [['--network-access', 'all'], '--network-access: one of "local", "local_network" is expected', 2],
      [['--verbose'], "unknown option '--verbose'", 2],
    ];
    for (const [args, reason, status] of cases) {
      const program = Program.run(cli, 'serve', ...args);
      expect((await program.ended).code, reason).toBe(status);
      expect(program.stderr.trim().split('\n'), reason).toHaveLength(1);
      expect(program.stderr).toContain(reason);
    }
  });

  it.skipIf(process.platform === 'win32')(
    'warns of variables of which the name or the value is probably misspelt',
    async () => {
      const wrapper = ['env', 'LOREKEEP_PROT=9100', 'LOREKEEP_KERNELS=abacus'];
      const program = Program.runIn(wrapper, cli, 'serve', '--config', await configFile(), '--port', '0');
      await program.printed(/"level":"warn",.*LOREKEEP_PROT: .*did you mean \\"LOREKEEP_PORT\\"\?/);
      await program.printed(/"level":"warn",.*LOREKEEP_KERNELS: this processor does not run \\"abacus\\"/);
      await program.printed(/"msg":"listening"/);
      program.child.kill('SIGTERM');
      expect((await program.ended).code).toBe(0);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'goes on after a rejection that nobody handles, and ends with 1 after an exception that nobody catches',
    async () => {
      const logs = inFolder('leftover-logs');
      const config = inFolder('leftovers.json');
      await configFile();
      writeFileSync(config, JSON.stringify({ port: 0, models_catalog_path: catalogPath, logs_dir: logs }));
      const program = Program.run('test/server/children/leftovers.mjs', config);
      const [, port] = await program.printed(/"port":(\d+)/);
      const client = await connect({ port: Number(port) });
      program.child.kill('SIGUSR2');
      await program.printed(/"level":"error",.*left behind: a rejection.*"msg":"unhandled rejection"/);
      await client.ping();
      program.child.kill('SIGHUP');
      expect(await program.ended).toEqual({ code: 1, signal: null });
      await client.closed;
      const log = readFileSync(`${logs}/service.log`, 'utf8');
      expect(log).toMatch(/"level":"fatal",.*left behind: an exception.*"msg":"uncaught exception"\}\n$/);
    },
  );

  it('has help and a version', async () => {
    const help = Program.run(cli, 'serve', '--help');
    expect((await help.ended).code).toBe(0);
    expect(help.stdout).toContain('--port <n>');
    expect(help.stdout.replace(/\s+/g, ' ')).toContain('else the data folder. [LOREKEEP_CRASH_DUMP_DIR]');
    const version = Program.run(cli, '--version');
    expect((await version.ended).code).toBe(0);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('npm start', () => {
  beforeEach(() => void vi.stubEnv('LOREKEEP_MODELS', inFolder('no-models')));
  afterEach(() => void vi.unstubAllEnvs());

  it('shows three turns whose answers come from the documentation, and ends with --once', async () => {
    const program = Program.run(demo, '--once', '--port', '0');
    expect(await program.ended, program.stderr).toEqual({ code: 0, signal: null });
    const questions = program.stdout.split(/^\d\. /m).slice(1);
    expect(questions).toHaveLength(3);
    for (const [question, page] of [
      [0, 'reference/errors.md'],
      [1, 'reference/protocol.md'],
      [2, 'reference/configuration.md'],
    ] as const) {
      const found = [...(questions[question] ?? '').matchAll(/docs #\d +score \d\.\d+ +(\S+)#\S+$/gm)];
      expect(found.map(([, source]) => source)).toEqual([page, page]);
    }
    expect(questions[0]).toContain('8002');
    expect(questions[1]).toMatch(/read/);
    expect(questions[2]).toMatch(/notes #1 .*\n.*port 9200/);
    for (const line of program.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(100);
    // Without a language model it quotes, and says how to get one.
    expect(program.stdout).toMatch(/^model .*the quote node \(see LOREKEEP_MODELS\)$/m);
    const [, answer = ''] = program.stdout.split('\nanswer ');
    expect(answer).toMatch(/the quote node.*\n.*port 9200[\s\S]*- 0\n/);
  });

  it.skipIf(!haveModels(smolLm))(
    'answers with a language model if the folder of models has one',
    async () => {
      vi.stubEnv('LOREKEEP_MODELS', modelsFolder);
      const program = Program.run(demo, '--once', '--port', '0');
      expect(await program.ended, program.stderr).toEqual({ code: 0, signal: null });
      const [, answer = ''] = program.stdout.split('\nanswer ');
      const [said, ...reply] = answer.split('\n');
      expect(said).toContain(smolLm);
      expect(reply.join(' ').trim().length).toBeGreaterThan(20);
    },
  );

  it('stays up for other clients until SIGINT', async () => {
    const program = Program.run(demo, '--port', '0');
    const [, port] = await program.printed(/server stays up on 127\.0\.0\.1:(\d+); press Ctrl-C to stop/);
    const client = await connect({ port: Number(port) });
    await client.ping();
    program.child.kill('SIGINT');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('says in one line that the port is in use', async () => {
    const port = await busyPort();
    const program = Program.run(demo, '--once', '--port', port);
    expect((await program.ended).code).toBe(1);
    expect(program.stderr).toBe(
      `lorekeep: port ${port} on 127.0.0.1 is in use: stop the other program, or choose one with --port\n`,
    );
  });
});

describe('examples/search.mjs', () => {
  it('answers a question by meaning and by words', async () => {
    const file = inFolder('paragraphs.md');
    const paragraphs = [
      'The lighthouse keeper counts the ships that pass in the night.',
      'Bread rises faster in a warm kitchen than in a cold one.',
      'The harbour master writes every arriving ship into his book.',
      'A violin is tuned in fifths, from the lowest string upwards.',
    ];
    writeFileSync(file, paragraphs.join('\n\n'));
    const program = Program.run('examples/search.mjs', file, 'Why does bread rise faster in a warm kitchen?');
    expect(await program.ended, program.stderr).toEqual({ code: 0, signal: null });
    const lines = program.stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^0\.\d{3} Bread rises/);
    expect(lines[3]).toMatch(/^\d\.\d{3} Bread rises/);
  });

  it('has a file and a question of its own', async () => {
    const program = Program.run('examples/search.mjs');
    expect(await program.ended, program.stderr).toEqual({ code: 0, signal: null });
    expect(program.stdout.trim().split('\n')).toHaveLength(6);
  });
});

describe.skipIf(!haveModels(smolLm))('examples/answer.mjs', () => {
  it('streams an answer from the paragraphs of a file', async () => {
    const file = inFolder('bread.md');
    writeFileSync(file, 'Bread rises faster in a warm kitchen than in a cold one, as every baker knows.');
    const program = Program.run(
      'examples/answer.mjs',
      realModel(smolLm),
      file,
      'Where does bread rise faster?',
    );
    expect(await program.ended, program.stderr).toEqual({ code: 0, signal: null });
    expect(program.stdout).toMatch(
      /warm kitchen[\s\S]*\n\((stop|length): \d+ tokens, the first after \d+ ms\)\n$/,
    );
  });
});
