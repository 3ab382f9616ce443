import { execFile, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { testDatabase } from '../helpers/postgres.js';
import { TestServer } from '../server/test-server.js';

const database = testDatabase();
const file = temporaryFolder();
const clients = join(import.meta.dirname, '../../clients');

/** Why the command cannot be run; undefined if it can. */
function lacks(command: string, ...args: string[]): string | undefined {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return undefined;
  } catch {
    return `${command} is not there`;
  }
}

const noPython = lacks('python3', '-c', 'import sys; assert sys.version_info >= (3, 9)');
const noMono = lacks('mcs', '--version') ?? lacks('mono', '--version');
for (const reason of [noPython, noMono]) if (reason !== undefined) console.log(`skipped: ${reason}`);

/** What a program prints whose last argument but the given ones is the port of a server with a session_store. */
async function printed(command: string, before: readonly string[], after: readonly string[] = []) {
  const server = await TestServer.start({
    loadLanguageModel: async () => new FakeTextModel(),
    config: {
      connections: { main: database.connection({ writes: false }) as never },
      session_store: { connection: 'main', table: 'public.sessions' },
    },
  });
  const env = { ...process.env, PYTHONPATH: join(clients, 'python'), PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await promisify(execFile)(command, [...before, `${server.port}`, ...after], { env });
  return stdout.trim();
}

it.skipIf(noPython !== undefined).each(['threads', 'asyncio'])(
  'the Python client resumes kept sessions: %s',
  async (kind) => {
    const script = join(clients, 'python/test/kept_session.py');
    expect(await printed('python3', ['-X', 'dev', '-W', 'error', script], [kind])).toBe(
      "['My name is Ann.']",
    );
  },
);

it.skipIf(noMono !== undefined)('the client in C# resumes kept sessions', async () => {
  const folder = join(clients, 'csharp');
  const sources = readdirSync(folder).filter((name) => name.endsWith('.cs'));
  const program = file('kept.exe');
  const paths = [join(folder, 'test/KeptSession.cs'), ...sources.map((name) => join(folder, name))];
  execFileSync('mcs', ['-langversion:7', '-warn:4', '-warnaserror', `-out:${program}`, ...paths]);
  expect(await printed('mono', [program])).toBe('1');
});
