import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { program } from '../cli/command.js';
import { temporaryFolder } from '../helpers/folder.js';
import { door } from './door-setting.js';

const root = join(import.meta.dirname, '../..');
const inFolder = temporaryFolder();
const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The lines that a guide begins with. */
function linesOf(guide: string): { language: string; lines: string[] } {
  const text = readFileSync(join(root, 'docs', 'guides', `${guide}.md`), 'utf8');
  const [, language = '', lines = ''] = /^# .*\n\n```(\w+)\n([^`]*)```\n/.exec(text) ?? [];
  return { language, lines: lines.trimEnd().split('\n') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs lines in an empty folder; `npm install lorekeep` installs this tree. Returns what they print so far. */
async function pasted(name: string, lines: readonly string[]): Promise<() => string> {
  const [folder, bin] = [inFolder(name), inFolder(`${name}-bin`)];
  mkdirSync(join(folder, 'modules'), { recursive: true });
  mkdirSync(bin);
  symlinkSync(root, join(folder, 'modules', 'lorekeep'));
  const port = await freePort();
  const script = (file: string, text: string) =>
    writeFileSync(join(bin, file), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  script('npm', 'test "$*" = "install lorekeep" && mv modules node_modules');
  script('npx', `test "$1" = lorekeep && shift && exec "${process.execPath}" "${program}" "$@"`);
  script('xdg-open', 'echo "browser: $1"');
  const { DISPLAY: _, ...environment } = process.env;
  const child = spawn('bash', ['-c', lines.join('\n').replaceAll('9103', String(port))], {
    cwd: folder,
    detached: true,
    env: {
      ...environment,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      LOREKEEP_STATE: inFolder(`${name}-state`),
      LOREKEEP_PORT: '0',
      LOREKEEP_HTTP_PORT: String(port),
    },
  });
  // The server runs in the group of the shell.
  onTestFinished(() => void process.kill(-(child.pid as number), 'SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (printed += piece));
  return () => printed;
}

const patient = { timeout: 120_000, interval: 200 };

it.each(['page', 'mcp', 'http', 'openai', 'websocket'])(
  'the guide %s begins with three lines to paste',
  (guide) => {
    expect(linesOf(guide).lines).toHaveLength(3);
  },
);

it.skipIf(!hasTools).each([
  ['http', /"hits":\[.*"text":"[^"]*lamp/],
  ['openai', /"content":"[^"]*lamp/],
  ['page', /http:\/\/127\.0\.0\.1:\d+\//],
])('the lines of the guide %s work in an empty folder', async (guide, wanted) => {
  const printed = await pasted(guide, linesOf(guide).lines);
  await expect.poll(printed, patient).toMatch(wanted);
});

it('the lines of the guide websocket log the greeting and the reply', async () => {
  const { port } = await door();
  const logged: string[] = [];
  const sockets: WebSocket[] = [];
  class OwnSocket extends WebSocket {
    constructor(address: string) {
      super(address.replace('9103', String(port)));
      sockets.push(this);
    }
  }
  onTestFinished(() => {
    for (const socket of sockets) socket.terminate();
  });
  const console = { log: (data: string) => logged.push(JSON.parse(data).type) };
  runInNewContext(linesOf('websocket').lines.join('\n'), { WebSocket: OwnSocket, console, JSON });
  await expect.poll(() => logged, patient).toEqual(['Hello', 'CreateSessionResponse']);
});
