// How long each step of a test run may take. A step above its budget fails, so that slow tests are noticed when they come.
import { Worker } from 'node:worker_threads';
import { Stop } from '../tool/stop.mjs';

/** Budgets are this many times the usual time. */
const allowance = 2.5;

/**
 * Seconds that each step usually takes in a fresh clone on a quiet machine with two cores and an empty ccache. A step of a
 * built clone takes less.
 */
export const usualSeconds = {
  'set-up': 300,
  Biome: 5,
  'clang-format': 15,
  layers: 5,
  'scope and sizes': 5,
  'links of the documentation': 5,
  'third-party list': 5,
  'layouts between C++ and TypeScript': 5,
  'schemas and frames of clients': 5,
  'Unicode tables': 5,
  'automata of formats': 5,
  "types of the monitor's page": 5,
  'types of the tests': 15,
  'native tests, address and undefined-behaviour sanitizers': 350,
  'TypeScript tests': 300,
  'package smoke test': 90,
  'native tests of threads, thread sanitizer': 240,
  'every C++ file by itself': 150,
  'slow TypeScript tests': 450,
  'long forms of tests': 400,
  'slow native tests and long forms': 1100,
  prebuild: 360,
  'package tests': 120,
  'tests of the benchmarks': 60,
  'reliability campaign, short': 210,
  'soak, 3 minutes': 200,
};

/** Milliseconds that the calibration takes on that machine. */
const referenceMs = 400;

const loop = `
  let state = 1, sum = 0;
  const table = new Map();
  for (let i = 0; i < 3_000_000; i++) {
    state = Math.imul(state, 1664525) + 1013904223 | 0;
    table.set(state & 0xffff, i);
    sum += table.get(state >>> 16) ?? 0;
  }
`;

/** Returns how many times slower this machine is now than the reference machine, with two threads at work; at least 1. */
export async function measureSlowness(now = () => performance.now()) {
  const begin = now();
  await Promise.all([1, 2].map(() => runWorker(loop)));
  return Math.max(1, (now() - begin) / referenceMs);
}

function runWorker(code) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true });
    worker.on('error', reject).on('exit', resolve);
  });
}

/** Milliseconds that a step may take on a machine that is `slowness` times slower than the reference machine. */
export function budgetOf(step, slowness) {
  const usual = usualSeconds[step];
  if (usual === undefined)
    throw new Stop(`${step}: scripts/testing/budgets.mjs states no time for this step`);
  return usual * 1000 * allowance * slowness;
}

/**
 * Returns how many milliseconds a step exceeded its budget by; 0 if it did not. `slowness` was measured at the start of the
 * run; a machine that has become slower since is measured again with `measure`.
 */
export async function excessOf(step, took, slowness, measure = measureSlowness) {
  if (took <= budgetOf(step, slowness)) return 0;
  return Math.max(0, took - budgetOf(step, Math.max(slowness, await measure())));
}
