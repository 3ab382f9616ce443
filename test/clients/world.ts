import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { catalogPath, TestServer } from '../server/test-server.js';
import { hostileNames, startHostileServers } from './hostile-servers.js';

const file = temporaryFolder();

/** What every client in another language is proven to do; its program prints `ok NAME` for each. */
export const scenarios: readonly string[] = [
  'creates a session',
  'searches a storage of records',
  'streams a turn',
  'cancels a turn',
  'tells errors by code',
  'updates and forgets records',
  'sends and receives a large frame',
  'keeps text that is not ASCII',
  'keeps integers of 64 bits',
  'runs two turns at once',
  'throttles',
  'forgets what is confirmed',
  'says that the server went away',
  'makes everything again on another connection',
  'starts and ends a server',
  ...hostileNames.map((name) => `hostile ${name}`),
];

/** Pieces after which a turn that was asked to hang waits until it is cancelled. */
const heldAt = 10;

/**
 * Replies "one two three"; to "hang", words without end; to "echo ...", the rest of the message; to "recall", what the user has
 * said; to "forget ...", with the action that forgets the rest of the message.
 */
function talker(): FakeTextModel {
  return new FakeTextModel({
    reply: (_, messages) => {
      const asked = messages.at(-1)?.content ?? '';
      if (asked.startsWith('echo ')) return [asked.slice('echo '.length)];
      if (asked === 'recall')
        return [messages.flatMap(({ role, content }) => (role === 'user' ? [content] : [])).join('|')];
      if (asked.startsWith('forget '))
        return [JSON.stringify({ action: 'forget', arguments: { text: asked.slice('forget '.length) } })];
      return asked === 'hang' ? Array.from({ length: 1000 }, () => 'word ') : ['one ', 'two ', 'three'];
    },
    pause: async (index, signal) => {
      if (index < heldAt || signal?.aborted) return;
      await new Promise<void>((resolve) =>
        signal?.addEventListener('abort', () => resolve(), { once: true }),
      );
    },
  });
}

/** Another port of the server, whose connections can be cut. */
async function cuttable(port: number): Promise<{ port: number; cut: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, cut };
}

/** Environment of a program that starts a server of its own: the command, and a config with the catalog of the tests. */
function childServer(): Record<string, string> {
  const config = file('child.json');
  writeFileSync(config, JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '' }));
  const program = join(import.meta.dirname, '../../dist/src/cli/lorekeep.cjs');
  return {
    CHILD_NODE: process.execPath,
    CHILD_PROGRAM: program,
    CHILD_CONFIG: config,
    CHILD_DATA: file('child'),
  };
}

/** An environment in which the decimal point is a comma and I has no dot in lower case; undefined where locales cannot be made. */
export function turkishLocale(): Record<string, string> | undefined {
  const folder = file('locales');
  mkdirSync(folder, { recursive: true });
  const made = spawnSync('localedef', ['-i', 'tr_TR', '-f', 'UTF-8', join(folder, 'tr_TR.UTF-8')]);
  if (made.status === 0) return { LOCPATH: folder, LC_ALL: 'tr_TR.UTF-8' };
  console.log('skipped: a locale with decimal commas: localedef made none');
  return undefined;
}

/**
 * Runs a program with the arguments PORT CUTTABLE_PORT NAME=PORT..., the latter of hostile servers, and expects that it prints
 * `ok` for every scenario but those in `without`. When it prints DROP, connections to CUTTABLE_PORT are cut.
 */
export async function expectScenarios(
  command: readonly [string, ...string[]],
  env: Record<string, string> = {},
  without: readonly string[] = [],
): Promise<void> {
  const { port } = await TestServer.start({ loadLanguageModel: async () => talker() });
  const { port: cuttablePort, cut } = await cuttable(port);
  const hostile = Object.entries(await startHostileServers()).map(([name, at]) => `${name}=${at}`);
  const [program, ...args] = command;
  const child = spawn(program, [...args, `${port}`, `${cuttablePort}`, ...hostile], {
    env: { ...process.env, ...childServer(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [output, errors, cuts] = ['', '', 0];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    for (; output.split(/^DROP\r?$/m).length - 1 > cuts; cuts++) cut();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const passed = [...output.matchAll(/^ok (.*?)\r?$/gm)].map(([, name]) => name);
  expect([passed, code], `${output}\n${errors}`).toEqual([
    scenarios.filter((name) => !without.includes(name)),
    0,
  ]);
}

/**
 * Runs the program in this language of docs/reference/clients.md, written to `path`, with a server's port and model in place of its
 * own. It prints the best hit, the reply and the status of a turn.
 */
export async function expectExample(
  language: string,
  path: string,
  command: () => readonly [string, ...string[]],
  env: Record<string, string> = {},
  adapt: (text: string) => string = (text) => text,
): Promise<void> {
  const { port } = await TestServer.start();
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/clients.md'), 'utf8');
  const [, example = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  expect(example).toContain('9100');
  writeFileSync(path, adapt(example.replaceAll('9100', `${port}`).replaceAll('all-MiniLM-L6-v2', 'tiny')));
  const [program, ...args] = command();
  const { stdout } = await promisify(execFile)(program, args, { env: { ...process.env, ...env } });
  const bees = 'Bees dance to tell where flowers bloom.';
  // Godot begins with lines of its own.
  expect(stdout.split(/\r?\n/).slice(-4)).toEqual([expect.stringContaining(bees), bees, 'completed', '']);
}
