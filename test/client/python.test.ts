import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestServer } from '../server/test-server.js';

const folder = join(import.meta.dirname, '../../examples/python');

function pythonVersion(): string | undefined {
  try {
    return execFileSync(
      'python3',
      ['-c', 'import sys; assert sys.version_info >= (3, 9); print(sys.version)'],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
  } catch {
    return undefined;
  }
}

const version = pythonVersion();
if (version === undefined)
  console.log('skipped: the Python client: there is no python3 of version 3.9 or later');

/** Runs a script of the examples; its output, and the exit code. */
function python(script: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' };
  return new Promise((resolve) => {
    execFile('python3', [join(folder, script), ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr });
    });
  });
}

it.skipIf(version === undefined)('the Python client passes its tests against the server', async () => {
  const { port } = await TestServer.start();
  const { code, output } = await python('test_lorekeep.py', `${port}`, 'tiny');
  expect(output).toMatch(/Ran 10 tests/);
  expect([code, output]).toEqual([0, expect.stringContaining('OK')]);
});

it.skipIf(version === undefined)(
  'the Python example answers, and says what is wrong in one line',
  async () => {
    const { port } = await TestServer.start();
    const asked = await python(
      'ask.py',
      '--port',
      `${port}`,
      '--model',
      'tiny',
      'Who keeps a ledger in the oak?',
    );
    expect(asked).toMatchObject({
      code: 0,
      output: expect.stringMatching(/completed\n1\. The oak behind the mill/),
    });
    const unknown = await python('ask.py', '--port', `${port}`, '--model', 'tinny');
    expect(unknown).toEqual({
      code: 1,
      output: expect.stringMatching(/^ask\.py: InvalidEmbedded.*"tiny".*\n$/),
    });
  },
);
