import { readFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { matchGrammar, stepWatch } from '../../lib/internal.js';
import { sliceWatch } from '../../src/base/waiting/slice-watch.js';
import { withWorkContext } from '../../src/base/waiting/work-context.js';
import { LoopScheduler } from '../../src/fairness/loop-scheduler.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from './program.js';

const at = temporaryFolder();

test('a task of the addon that takes longer than the limit is found, with its thread and its place', async () => {
  const { longSteps, watchSteps } = await stepWatch();
  const limitMs = 50;
  watchSteps(1e-6);
  onTestFinished(() => {
    watchSteps(limitMs);
    longSteps();
  });
  await matchGrammar('root ::= "a"', 'a');
  // The thread may report its task after the call has been settled.
  const found = [];
  while (found.length === 0) {
    found.push(...longSteps().filter(({ where }) => where.includes('grammar_binding.cc')));
    await new Promise(setImmediate);
  }
  expect(found[0]).toMatchObject({ thread: 'quick lane', where: expect.stringContaining('match_grammar') });
});

test('a slice that takes longer than the limit is found, with the request, unless the garbage collector took it', async () => {
  let now = 0;
  let pause = (_began: number, _ms: number): void => {};
  const scheduler = new LoopScheduler(undefined, {
    now: () => now,
    used: () => now,
    watchPauses: (tell) => {
      pause = tell;
      return () => {};
    },
  });
  const share = scheduler.join({ serve: () => 0, settle: () => {} });
  const work = async (ms: number) => {
    await share.nextSlice();
    now += ms;
  };
  await withWorkContext({ request: 'TurnRequest' }, () => work(60));
  await new Promise(setImmediate);
  expect(sliceWatch.take()).toEqual([{ where: 'TurnRequest', ms: 60 }]);
  await work(40);
  await work(60);
  await new Promise(setImmediate);
  pause(now - 30, 20);
  expect(sliceWatch.take()).toEqual([]);
});

test('a server under watch logs what blocks its event loop, writes it into the file, and ends with 1', async () => {
  writeFileSync(at('config.json'), JSON.stringify({ port: 0, storage_root: at(), logs_dir: '' }));
  writeFileSync(
    at('slow.mjs'),
    // Some hundred milliseconds of processor time.
    'setInterval(() => { for (let left = 3e8; left > 0; left--); }, 1000).unref();',
  );
  const server = Program.runIn(
    ['env', `NODE_OPTIONS=--import=${at('slow.mjs')}`, `LOREKEEP_WATCHDOG=${at('found.jsonl')}`],
    'dist/src/cli/main.js',
    ...['serve', '--config', at('config.json')],
  );
  await server.printed(/a step took too long/);
  server.child.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 1 });
  const [line] = readFileSync(at('found.jsonl'), 'utf8').split('\n');
  expect(JSON.parse(line as string)).toMatchObject({ thread: 'event loop', where: 'no request' });
});
