import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from './program.js';
import { catalogPath, TestServer } from './test-server.js';

const inFolder = temporaryFolder();

/** Threads of libuv's pool in a server of this many threads, started by the command of the package. */
async function fileThreads(count: number, isNamed = true): Promise<number> {
  const config = { port: 0, models_catalog_path: catalogPath, logs_dir: '', thread_count: count };
  const name = inFolder('server-config.json');
  writeFileSync(name, JSON.stringify(config));
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: { lorekeep: string } };
  const flags = isNamed ? ['--config', name] : [];
  const program = Program.runIn(['env', '-C', inFolder()], bin.lorekeep, 'serve', ...flags);
  await program.printed(/"msg":"listening"/);
  const folder = `/proc/${program.child.pid}/task`;
  const names = readdirSync(folder).map((task) => readFileSync(`${folder}/${task}/comm`, 'utf8').trim());
  program.child.kill('SIGKILL');
  return names.length;
}

it.runIf(process.platform === 'linux')('thread_count sizes the threads of file I/O, too', async () => {
  // Makes the models.
  await TestServer.start();
  const few = await fileThreads(2);
  // Eight more threads search, and eight more read files.
  expect((await fileThreads(10)) - few).toBe(16);
  // The config of the current folder counts as a named one.
  expect((await fileThreads(10, false)) - few).toBe(16);
});
