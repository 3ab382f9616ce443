import { beforeAll, describe, expect, test } from 'vitest';
import { runChild } from '../helpers/children.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';
import { repetitions } from '../helpers/repetitions.js';

const folder = temporaryFolder();
/** The number of steps in children/workload.mjs; the test below notices when it is wrong. */
const stepCount = 10;
const counts = Array.from({ length: stepCount + 1 }, (_, i) => i);
/** Of the three ends below, each follows some of the steps in `npm test`, together all of them; in the long form each follows all. */
const steps = repetitions('STEPS', 4, counts.length);
const countsOf = (end: number) => counts.filter((count) => steps === counts.length || count % 3 === end);
let modelPath: string;

beforeAll(async () => {
  modelPath = await tinyBert();
});

describe('a process that has finished some steps of life', () => {
  test.each(countsOf(0))('ends cleanly after %i of them, with nothing closed', async (count) => {
    const child = await runChild('stop-after.mjs', [folder(), modelPath, `${count}`, 'finish']);
    expect(child).toMatchObject({ code: 0, signal: null, output: '' });
  });

  test.each(countsOf(1))('finishes the step after %i before the loop runs empty', async (count) => {
    const child = await runChild('stop-after.mjs', [folder(), modelPath, `${count}`, 'pending']);
    expect(child).toMatchObject({ code: 0, signal: null, output: '' });
  });

  test.each(countsOf(2))('survives process.exit() in the middle of the step after %i', async (count) => {
    const child = await runChild('stop-after.mjs', [folder(), modelPath, `${count}`, 'exit']);
    expect(child).toMatchObject({ code: 0, signal: null, output: '' });
  });
});

test('worker threads use the addon and may be terminated in the middle of every step', async () => {
  const child = await runChild('in-worker.mjs', [folder(), modelPath]);
  expect(child).toMatchObject({ code: 0, signal: null, output: '' });
  expect(child.messages).toEqual(counts);
});

describe('memory', () => {
  /** Allocators keep some; 200 leaked indexes and models of 1 MiB each would be far more. */
  const slackMiB = 24;
  /** Of 800 MB. */
  const uncollectedMiB = 100;

  test('does not grow over 200 cycles of opening and closing an index and a model', async () => {
    const child = await runChild('memory.mjs', ['cycles', folder(), modelPath, `${slackMiB}`], {
      execArgv: ['--expose-gc'],
    });
    expect(child).toMatchObject({ code: 0, output: '' });
    const { before, after } = child.messages[0] as { before: number; after: number };
    expect(after - before).toBeLessThanOrEqual(slackMiB);
  });

  test('of objects that nobody closed is freed by the garbage collector', async () => {
    const child = await runChild('memory.mjs', ['collect', folder(), modelPath, `${uncollectedMiB}`], {
      execArgv: ['--expose-gc'],
    });
    expect(child).toMatchObject({ code: 0, output: '' });
    const { before, after } = child.messages[0] as { before: number; after: number };
    expect(after - before).toBeLessThanOrEqual(uncollectedMiB);
  });
});
