import { beforeAll, expect, test } from 'vitest';
import { runChild } from '../helpers/children.js';
import { tinyDecoder } from '../helpers/models.js';

let path: string;
beforeAll(async () => {
  path = await tinyDecoder({ pooling: null });
});

test.each([
  'exit',
  'exit while closing',
  'exit during a load',
  'throw',
  'close',
  'cancel',
  'run to the end',
  'forget the model',
  'exit with questions',
  'close with questions',
  'prefix',
])('a program that generates ends cleanly: %s', async (how) => {
  const child = await runChild('generation.mjs', [path, how], { execArgv: ['--expose-gc'] });
  expect(child).toMatchObject({ code: 0, signal: null, output: '' });
});

test('worker threads generate, and may be terminated in the middle of a reply', async () => {
  const child = await runChild('generation.mjs', [path, 'workers']);
  expect(child).toMatchObject({ code: 0, signal: null, output: '' });
});

test('a CommonJS program requires the library and generates', async () => {
  const child = await runChild('generation.cjs', [path], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  expect(child).toMatchObject({ code: 0, signal: null, output: '' });
  const [{ bytes, finish, usage, tokens, steps }] = child.messages as [
    { bytes: number; finish: string; usage: object; tokens: number[]; steps: number },
  ];
  expect(bytes).toBeGreaterThan(0);
  expect(['length', 'stop']).toContain(finish);
  expect(usage).toMatchObject({ prompt: 20, cached: 19 });
  expect(tokens.length).toBeGreaterThan(0);
  expect(steps).toBeGreaterThan(0);
});
