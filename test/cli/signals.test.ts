import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { FileServer } from '../downloads/file-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { program } from './command.js';

const inFolder = temporaryFolder();

it.skipIf(process.platform === 'win32')('SIGUSR1 opens no debugger in a command', async () => {
  const server = await FileServer.listen(randomBytes(1_000_000));
  const sha256 = createHash('sha256').update(server.content).digest('hex');
  const variants = [{ url: `${server.url}/remote.gguf`, sha256 }];
  writeFileSync(
    inFolder('models.json'),
    JSON.stringify({ version: 1, models: [{ name: 'remote', model_type: 'llm', variants }] }),
  );
  const args = ['models', 'pull', 'remote', '--catalog', inFolder('models.json')];
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  server.intercept = () => {
    child.kill('SIGUSR1');
    return false;
  };
  const printed = text(child.stderr);
  const [status] = await once(child, 'close');
  expect({ status, printed: await printed }).toEqual({
    status: 1, // the file is no model
    printed: expect.not.stringContaining('Debugger'),
  });
});
