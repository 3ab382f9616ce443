import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { program, shell } from './command.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const commands = ['serve', 'init', 'build', 'check', 'search', 'eval', 'ask', 'doctor'];

describe('lorekeep', () => {
  it('has help for itself and for every command, with the exit statuses', async () => {
    const { status, stdout } = await lorekeep(['--help']);
    expect(status).toBe(0);
    for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(stdout).toMatch(/Exit status: 0 done/);
    const helps = await Promise.all(commands.map((name) => lorekeep([name, '--help'])));
    const documentation = readFileSync(join(import.meta.dirname, '../../docs/reference/cli.md'), 'utf8');
    for (const [index, help] of helps.entries()) {
      expect(help.status).toBe(0);
      // The flags of serve follow from the config, as docs/reference/configuration.md does.
      for (const [flag] of index === 0 ? [] : help.stdout.matchAll(/(?<=^ {2}|, )--[\w-]+/gm)) {
        if (flag !== '--help')
          expect(documentation, `docs/reference/cli.md: ${commands[index]}`).toContain(flag);
      }
      expect(help.stdout).toContain(`Usage: lorekeep ${commands[index]}`);
      expect(help.stdout, commands[index]).toContain('Exit status');
    }
  });

  it('prints the help of a group of commands that is given no command, and nothing else', async () => {
    const { status, stdout, stderr } = await lorekeep(['models']);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Usage: lorekeep models .*prune/s);
    expect(stderr).not.toContain('lorekeep: ');
  });

  it('loads no addon for its help, its version, or a command line that is wrong', async () => {
    const preload = inFolder('watch.cjs');
    writeFileSync(preload, 'process.dlopen = () => { throw new Error("an addon was loaded"); };');
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(preload)}` };
    expect(await lorekeep(['--help'], { env })).toMatchObject({ status: 0, stderr: '' });
    for (const flag of ['--version', '-V', '-v'])
      expect((await lorekeep([flag], { env })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await lorekeep(['serch'], { env })).status).toBe(2);
    const search = await lorekeep(['doctor', '--json'], { env });
    expect(search.status, 'the watch sees what is loaded').toBe(1);
    expect(search.stdout).toContain('an addon was loaded');
  });

  it('says in one line that Node.js is too old', async () => {
    const preload = inFolder('old.cjs');
    writeFileSync(preload, "Object.defineProperty(process.versions, 'node', { value: '18.20.8' });");
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(preload)}` };
    const command = join(dirname(program), 'lorekeep.cjs');
    const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const;
    const { status, stderr, stdout } = spawnSync(process.execPath, [command, '--version'], options);
    expect(stderr).toMatch(/^lorekeep: Node\.js 20\.19 or newer is needed, and .* is 18\.20\.8\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  it('says what is wrong with a command line in one line, and what was probably meant', async () => {
    const kb = inFolder('kb.json');
    writeFileSync(kb, '{}');
    const cases: [string[], string][] = [
      [['serch', 'kb.json'], 'unknown command "serch"; did you mean "search"?'],
      [['help', 'sarch'], 'unknown command "sarch"; did you mean "search"?'],
      [['inspect', 'kb.index'], 'this command is gone; use lorekeep check FILE'],
      [['verify'], 'this command is gone; use lorekeep check'],
      [['models', 'verify', 'm'], 'use lorekeep check [--model NAME]'],
      [['doctor', 'kb.json'], 'use lorekeep check KB --recall'],
      [['doctor', '--last-crash'], 'use minidump_stackwalk'],
      [['indexes', 'lst'], 'unknown command "indexes lst"; did you mean "indexes list"?'],
      [['help', 'models', 'lst'], 'unknown command "models lst"; did you mean "models list"?'],
      [['models', 'quux'], 'unknown command "models quux"; lorekeep models --help lists them'],
      [['quux'], 'unknown command "quux"; lorekeep --help lists them'],
      [['search', 'kb.json'], 'the text to look for is missing'],
      [['search', 'kb.json', 'x', '--topk', '3'], "unknown option '--topk'; did you mean --top-k?"],
      [['search', 'kb.json', 'x', '-top-k', '3'], "unknown option '-top-k'; did you mean --top-k?"],
      [['search', 'kb.json', 'x', '--FILTER', '{}'], 'did you mean --filter?'],
      [['search', 'kb.json', 'x', '--limit', '3'], "'--limit'; lorekeep search --help lists the flags"],
      [['models', 'list', '-json'], "unknown option '-json'; did you mean --json?"],
      [['models', 'pull', 'x', '--quick'], "'--quick'; lorekeep models pull --help lists the flags"],
      [['--prot', '9100'], 'did you mean --port?'],
      [['serve', '--data-dir', 'data', '--prot=1'], "'--prot=1'; did you mean --port?"],
      [['serve', '--data-dri=data'], 'did you mean --data-dir?'],
      [
        ['search', 'kb.json', '-word'],
        "'-word'; lorekeep search --help lists the flags; put -- before a text",
      ],
      [['-q'], "unknown option '-q'; lorekeep serve --help lists the flags"],
      [['search', 'kb.json', 'x', '--top-k', '0'], '--top-k: an integer from 1 to 1000 is expected, not "0"'],
      [
        ['search', 'kb.json', 'x', '--mode', 'hybird'],
        '--mode: one of dense, lexical, hybrid is expected, not "hybird"; did you mean "hybrid"?',
      ],
      [['search', 'kb.json', 'x', '--context', '-5'], '--context: an integer from 0 to'],
      [
        ['build', 'a.json', 'b.json'],
        'Expected 1 argument but got 2; usage: lorekeep build [options] [kb.json]',
      ],
      [['init'], "missing required argument 'folder'; usage: lorekeep init [options] <folder>"],
      [['models', 'pull'], "missing required argument 'name'; usage: lorekeep models pull [options] <name>"],
      [['build', kb, '--catalog', 'none.json'], '--catalog: none.json: the file does not exist'],
      [
        ['check', kb, '--as', 'knowledge-base', '--config', '.'],
        '--config: .: is a folder; a server config is expected',
      ],
      [['ask', 'kb.json', 'x', '--graph', 'none.json'], '--graph: none.json: the file does not exist'],
      [['search', '', 'x'], 'the name of the knowledge base is empty; a file or a folder'],
      [['build', kb, '--config', ''], '--config: the name is empty; a server config is expected'],
      [['doctor', '--config', '.'], 'is a folder; a file is expected'],
      [['ask', '', 'x'], 'the name of the knowledge base is empty'],
      [['ask', 'kb.json', 'x', '--host', '127.0.0.1:9100'], 'an address is expected, without the port'],
      [['search', kb, '--', '--json', 'x'], 'put quotes around the text'],
      [['search', 'kb.json', 'x', '--filter', '@'], '--filter: the name of the file is empty'],
      [['search', 'kb.json', 'x', '--filter', '@.'], '--filter: .: is a folder; a file is expected'],
      [
        ['ask', 'kb.json', 'who', 'lights', 'it?'],
        'put quotes around the text: lorekeep ask kb.json "who lights it?"',
      ],
      [['run', 'm.gguf', 'a', 'rhyme'], 'put quotes around the text: lorekeep run m.gguf "a rhyme"'],
    ];
    const results = await Promise.all(cases.map(([args]) => lorekeep(args)));
    for (const [index, { status, stderr, stdout }] of results.entries()) {
      const message = cases[index]?.[1];
      expect(stderr).toContain(message);
      expect(stderr).toMatch(/^lorekeep: [^\n]+\n$/);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    }
  });

  it('finds the flag that was meant, of every command', async () => {
    const { stdout } = await lorekeep(['--help']);
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].flatMap(([, name]) =>
      name === 'help' || name === 'models' || name === 'telemetry' ? [] : [name as string],
    );
    expect(names.length).toBeGreaterThan(10);
    const all = [...names.map((name) => [name]), ['models', 'list'], ['telemetry', 'show']];
    const results = await Promise.all(
      all.map(async (command) => {
        const help = await lorekeep([...command, '--help']);
        const flag = /^ {2}(?:-\w, )?(--[\w-]{4,})/m.exec(help.stdout)?.[1] as string;
        const wrong = await lorekeep([...command, flag.slice(0, -1)]);
        return [command.join(' '), flag, wrong.stderr];
      }),
    );
    for (const [command, flag, stderr] of results)
      expect(stderr, command).toMatch(new RegExp(`did you mean (one of )?.*${flag}`));
  });

  it.skipIf(process.platform === 'win32')('says that the current folder was removed', async () => {
    const line = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    const message = 'the current folder no longer exists; change to another one';
    const inGone = (args: string) =>
      shell(`sh -c '${line}' "${process.execPath}" "${program}" ${args}`, { cwd: dirname(inFolder('x')) });
    expect(await inGone('search lamp')).toMatchObject({ status: 1, stderr: `lorekeep: ${message}\n` });
    const { findings } = JSON.parse((await inGone('doctor --json')).stdout) as { findings: unknown[] };
    const fix = 'run it in another folder';
    expect(findings).toContainEqual({ subject: 'config', status: 'failed', message, fix });
  });

  it('gives one JSON result under --json, also when it fails', async () => {
    const absent = await lorekeep(['search', inFolder('absent.json'), 'x', '--json']);
    expect(absent.status).toBe(1);
    expect(JSON.parse(absent.stdout).error.message).toMatch(/absent\.json: the file does not exist$/);
    expect(JSON.parse(absent.stdout).error.code).toBe('NOT_FOUND');
    expect(absent.stdout.trim()).not.toContain('\n'); // beside results that are lines, too
    const wrong = await lorekeep(['search', '--json']);
    expect(JSON.parse(wrong.stdout).error.code).toBe('USAGE');
    const config = inFolder('broken.json');
    writeFileSync(config, '{"port": "9100"}');
    const env = { LOREKEEP_CONFIG: config };
    const broken = await lorekeep(['ask', 'kb.json', 'x', '--json'], { env });
    expect(broken.status).toBe(1);
    expect(JSON.parse(broken.stdout).error.code).toBe('CONFIG_INVALID');
  });

  it('shows a stack trace only with LOREKEEP_DEBUG=1', async () => {
    const args = ['check', inFolder('absent.json')];
    expect((await lorekeep(args)).stderr).not.toMatch(/^ {4}at /m);
    expect((await lorekeep(args, { env: { LOREKEEP_DEBUG: '1' } })).stderr).toMatch(/^ {4}at /m);
  });

  it.skipIf(process.platform === 'win32')('is quiet when its reader has seen enough', async () => {
    const { stdout, stderr } = await shell(`'${process.execPath}' '${program}' --help | head -1`);
    expect({ stdout, stderr }).toEqual({ stdout: 'Usage: lorekeep [command] [options]\n', stderr: '' });
  });

  it.skipIf(!existsSync('/dev/full'))('says in one line that its output cannot be written', async () => {
    const result = await shell(`'${process.execPath}' '${program}' --help > /dev/full`);
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/^lorekeep: the output cannot be written: .*ENOSPC[^\n]*\n$/);
  });

  it.skipIf(process.platform === 'win32')('does not wait for a pipe that nobody writes to', async () => {
    const pipe = inFolder('pipe');
    execFileSync('mkfifo', [pipe]);
    for (const command of ['check', 'build']) {
      const { status, stderr } = await lorekeep([command, pipe]);
      expect(stderr).toMatch(/pipe: is not a regular file; [^\n]* is expected\n$/);
      expect(status).toBe(1);
    }
  });

  it.skipIf(process.platform === 'win32')(
    'starts no server with a pipe or a device as its config',
    async () => {
      const pipe = inFolder('config-pipe');
      execFileSync('mkfifo', [pipe]);
      const command = join(dirname(program), 'lorekeep.cjs');
      for (const config of [pipe, '/dev/zero']) {
        const { status, stderr } = spawnSync(process.execPath, [command, 'serve', '--config', config], {
          encoding: 'utf8',
          timeout: 30_000,
          killSignal: 'SIGKILL',
        });
        expect(stderr).toBe(`lorekeep: ${config}: cannot be read: not a regular file\n`);
        expect(status).toBe(2);
      }
    },
  );

  it('ends quietly when nobody reads at all', async () => {
    const child = spawn(process.execPath, [program, '--help']);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.stdout.destroy();
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
