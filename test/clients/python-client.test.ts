import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve as absolute, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { FakeRecogniser } from '../helpers/fake-recogniser.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { s16, speechServer, spoken } from '../server/speech-setting.js';
import { TestServer } from '../server/test-server.js';

const temporary = temporaryFolder();
const folder = join(import.meta.dirname, '../../clients/python');

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

/** Runs a script of the client's folder; its output, and the exit code. */
function python(script: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const env = { PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1', PYTHONPATH: folder, ...process.env };
  return new Promise((resolve) => {
    execFile('python3', [absolute(folder, script), ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr });
    });
  });
}

it.skipIf(version === undefined)('the Python client passes its tests against the server', async () => {
  const { port } = await TestServer.start({ loadLanguageModel: async () => new FakeTextModel() });
  const { code, output } = await python('test/test_client.py', `${port}`, 'tiny');
  expect(output).toMatch(/Ran 13 tests/);
  expect([code, output]).toEqual([0, expect.stringContaining('OK')]);
});

/** Streams audio that is longer than its credit, then closes a stream while a thread waits for credit. */
const speaks = `
import array, sys, threading, lorekeep
client = lorekeep.Client(port=int(sys.argv[1]))
session = client.create_session()
samples = open(sys.argv[2], "rb").read()
speech = session.open_speech(words=True)
writing = threading.Thread(target=lambda: (speech.write(array.array("h", samples)), speech.finish()))
writing.start()
print(*[e.get("text") or e["type"] for e in speech])
writing.join()
speech = session.open_speech(prompt="silent")
try:
    speech.write(array.array("f", [0]))
    print("floats were taken")
except ValueError:
    pass
def write():
    try:
        speech.write(samples * 10)
    except lorekeep.ServerError as error:
        print(error.code)
writing = threading.Thread(target=write)
writing.start()
events = iter(speech)
while next(events)["type"] != "SpeechEnded":
    pass
speech.close()
speech.close()
writing.join()
print([e["type"] for e in events][-1])
client.close()
`;

/** The same for asyncio. */
const speaksAsync = `
import asyncio, sys, lorekeep
async def main():
    client = await lorekeep.aio.Client.connect(port=int(sys.argv[1]))
    session = await client.create_session()
    samples = open(sys.argv[2], "rb").read()
    speech = await session.open_speech(words=True)
    async def write():
        await speech.write(memoryview(samples).cast("h"))
        await speech.finish()
    writing = asyncio.ensure_future(write())
    print(*[e.get("text") or e["type"] async for e in speech])
    await writing
    silent = await session.open_speech(prompt="silent")
    async def flood():
        try:
            await silent.write(samples * 10)
        except lorekeep.ServerError as error:
            print(error.code)
    writing = asyncio.ensure_future(flood())
    last = ""
    async for event in silent:
        last = event["type"]
        if last == "SpeechEnded":
            await silent.close()
            await silent.close()
    await writing
    print(last)
    await client.close()
asyncio.run(main())
`;

it.skipIf(version === undefined).each([
  ['threads', speaks],
  ['asyncio', speaksAsync],
])('the Python client for %s streams audio, and closes streams at once', async (_, text) => {
  const recogniser = new FakeRecogniser(({ options }) => (options.prompt === 'silent' ? undefined : 'bees'));
  const { port } = await speechServer({ loadRecogniser: recogniser.load });
  writeFileSync(temporary('speaks.py'), text);
  writeFileSync(temporary('samples'), s16(spoken(1, 1)));
  const { code, output } = await python(temporary('speaks.py'), `${port}`, temporary('samples'));
  expect([code, output.split('\n')]).toEqual([
    0,
    [
      'SpeechStarted SpeechEnded bees SpeechStarted SpeechEnded bees SpeechClosed',
      '7001',
      'SpeechClosed',
      '',
    ],
  ]);
});

it.skipIf(version === undefined)('the Python client sends the access token that it is given', async () => {
  const path = temporary('token');
  writeFileSync(path, 'the token of this test');
  const { port } = await TestServer.start({ config: { access_token_file: path } });
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [token, code, output] of [
    ['', 1, /AccessTokenMissing \(2010\)/],
    ['another token', 1, /AccessTokenWrong \(2011\)/],
    ['the token of this test', 0, /completed/],
  ] as const) {
    vi.stubEnv('LOREKEEP_ACCESS_TOKEN', token);
    const asked = await python('ask.py', '--port', `${port}`, '--model', 'tiny');
    expect(asked).toEqual({ code, output: expect.stringMatching(output) });
  }
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
