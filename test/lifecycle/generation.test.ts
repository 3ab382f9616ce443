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
  'prefix',
])('a program that generates ends cleanly: %s', async (how) => {
  const child = await runChild('generation.mjs', [path, how], { execArgv: ['--expose-gc'] });
  expect(child).toMatchObject({ code: 0, signal: null, output: '' });
});

test('worker threads generate, and may be terminated in the middle of a reply', async () => {
  const child = await runChild('generation.mjs', [path, 'workers']);
  expect(child).toMatchObject({ code: 0, signal: null, output: '' });
});
