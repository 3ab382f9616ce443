import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import type { PatternRequest } from '../../src/agents/lists/pattern-messages.js';
import { PatternThread } from '../../src/agents/lists/pattern-thread.js';
import { compilePatterns } from '../../src/agents/lists/patterns.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const never = new AbortController().signal;

/** A thread that fills its heap, or ends, when it is told so. */
function fragileThread(): PatternThread {
  const text = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', ({ patterns: [what] }) => {
      const held = [];
      while (what === 'grow') held.push(new Array(100_000).fill(held));
      if (what === 'end') process.exit();
      parentPort.postMessage({ kind: 'done', sizes: [1], matches: [] });
    });`;
  writeFileSync(file('worker.cjs'), text);
  const thread = new PatternThread({ file: file('worker.cjs'), heapMiB: 16 });
  onTestFinished(() => thread.close());
  return thread;
}

it('a thread whose heap is full, or that ends, fails its request, and the next one has a new thread', async () => {
  const share = fragileThread().join();
  const done = { kind: 'done', sizes: [1], matches: [] };
  expect(await share.run({ patterns: ['x'] })).toEqual(done);
  await expect(share.run({ patterns: ['grow'] })).rejects.toMatchObject({ code: 5003 });
  expect(await share.run({ patterns: ['x'] })).toEqual(done);
  await expect(share.run({ patterns: ['end'] })).rejects.toThrow('the pattern thread failed');
  expect(await share.run({ patterns: ['x'] })).toEqual(done);
});

it('requests wait for each other, clients take turns, and an aborted request is not waited for', async () => {
  const thread = new PatternThread();
  onTestFinished(() => thread.close());
  const [heavy, light] = [thread.join(), thread.join()];
  const order: string[] = [];
  const slow = { patterns: ['(a?){300}b'], text: 'a'.repeat(2000) };
  const requests = Array.from({ length: 4 }, () => heavy.run(slow, never).then(() => order.push('heavy')));
  const aborting = new AbortController();
  const aborted = heavy.run(slow, aborting.signal);
  aborting.abort(new Error('enough'));
  await expect(aborted).rejects.toThrow('enough');
  requests.push(light.run({ patterns: ['b'], text: 'ab' }, never).then(() => order.push('light')));
  await Promise.all(requests);
  expect(order.slice(0, 2)).toContain('light');
  expect(await light.run({ patterns: ['(', 'a'] })).toMatchObject({ kind: 'refused', index: 0 });
  expect(await light.run({ patterns: ['a', 'ß'], text: 'STRAẞE' })).toEqual({
    kind: 'done',
    sizes: [expect.any(Number), expect.any(Number)],
    matches: [
      { index: 0, start: 3, end: 4 },
      { index: 1, start: 4, end: 5 },
    ],
  });
});

it('a long list is compiled no further once the session has ended', async () => {
  const thread = new PatternThread();
  onTestFinished(() => thread.close());
  const share = thread.join();
  const session = new AbortController();
  let requests = 0;
  const counting = {
    run: async (request: PatternRequest, signal?: AbortSignal) => {
      if (++requests === 2) session.abort(new Error('the session has ended'));
      return share.run(request, signal);
    },
  };
  const lines = Array.from({ length: 100 }, (_, at) => ({ text: `a${at}`, line: at + 1 }));
  const compiled = compilePatterns(lines, { file: 'p.txt', where: 'here' }, counting, session.signal);
  await expect(compiled).rejects.toThrow('the session has ended');
  expect(requests).toBe(2);
});

it('a thread that is closed fails the requests that run and that wait, and starts no other', async () => {
  const thread = new PatternThread();
  const share = thread.join();
  const slow = { patterns: ['(a?){300}b'], text: 'a'.repeat(2000) };
  const requests = [share.run(slow), share.run(slow)];
  const refused = requests.map((one) => expect(one).rejects.toMatchObject({ code: 1008 }));
  await thread.close();
  await Promise.all(refused);
  await expect(share.run(slow)).rejects.toMatchObject({ code: 1008 });
});
