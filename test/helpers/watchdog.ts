/**
 * Fails every test during which a slice of a server's event loop, a task of the addon or a turn of the inference thread took too
 * long. Servers in processes of their own write what they found into a file.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { stepWatch } from '../../lib/internal.js';
import { sliceWatch } from '../../src/base/waiting/slice-watch.js';

/** Processor time in ms that one step of a thread may take, on the machine that budgets assume. */
const longestStepMs = 50;

/** A shared machine takes longer for the same step: a test fails at this many times the limit. */
const slack = 2;

/** The long forms of tests have the sizes of a stress test, not those of a client. */
const isLongForm = process.env.LOREKEEP_TEST_LONG !== undefined;

/** The folders of tests that run under it so far. */
const watched = /[\\/]test[\\/](lib|lifecycle|limits|monitor|server)[\\/]/;

const file = join(tmpdir(), `lorekeep-watchdog-${process.pid}.jsonl`);
const { longSteps, watchSteps } = await stepWatch();
const allowed: RegExp[] = [];

/** Lets steps at a place take longer in the tests of this file: known defects, and what only tests call. Say why. */
export function allowLongSteps(where: RegExp): void {
  allowed.push(where);
}

beforeAll(() => {
  process.env.LOREKEEP_WATCHDOG = file;
  watchSteps(longestStepMs);
  sliceWatch.limitMs = longestStepMs;
});

afterEach(async () => {
  await nextTurn(); // the garbage collector has reported its pauses
  const ofServers = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  rmSync(file, { force: true });
  const found = [...ofServers.map((line) => JSON.parse(line)), ...longSteps(), ...sliceWatch.take()];
  if (isLongForm || !watched.test(expect.getState().testPath ?? '')) return;
  const isLong = ({ ms }: { ms: number }) => ms > slack * longestStepMs;
  const notAllowed = found.filter((step) => isLong(step) && !allowed.some((place) => place.test(step.where)));
  expect(notAllowed, `steps of more than ${slack * longestStepMs} ms of processor time`).toEqual([]);
});

afterAll(() => rmSync(file, { force: true }));
