// What the checks share: models on both devices, and comparisons that allow for rounding.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LanguageModel, useBackend } from 'lorekeep';

/** A check that cannot be made here. */
export class LeftOut extends Error {}

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
/** Likelihoods (natural logarithms) that are this close may change places: the devices add in different orders. */
const tie = 0.05;

/** @throws Error with what was found */
export function must(holds, message, found) {
  if (!holds) throw Object.assign(new Error(message), { found });
}

export async function gpu({ backend }, options) {
  const { device } = await useBackend(backend, options);
  return device;
}

export const onCpu = (path, options = {}) =>
  LanguageModel.load(path, {
    contextSize: 512,
    kvCells: 2048,
    runtime: 'llama.cpp',
    ...options,
    placement: 'ram',
  });
export const onGpu = (path, options = {}) =>
  LanguageModel.load(path, { contextSize: 512, kvCells: 2048, ...options, placement: 'vram' });

export const beginnings = [
  'Once upon a time',
  'The little dog',
  'One day, a girl named Lily',
  'There was a big tree',
];

/** A greedy request whose result can be compared with another device's. */
export const greedy = (prompt, maxTokens = 48) => ({
  prompt,
  maxTokens,
  sampling: { temperature: 0 },
  logprobs: 10,
  drafts: false,
});

/** `count` tokens of a random model or of stories260K, the same for the same seed. */
export function someTokens(count, seed, most = 500) {
  let state = seed + 1;
  return Int32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return 300 + (state % (most - 300));
  });
}

/** Replies are equal, or part at a token that was as likely, on the CPU, as the CPU's. @returns where they part */
export function mustAgree(cpu, other, what) {
  const at = [...cpu.tokens].findIndex((token, i) => token !== other.tokens[i]);
  if (at < 0) {
    must(cpu.tokens.length === other.tokens.length, `${what}: a reply is longer`);
    return { tokens: cpu.tokens.length };
  }
  const { logprob, top } = cpu.logprobs[at];
  const theirs = top.find(({ token }) => token === other.tokens[at]);
  const gap = theirs === undefined ? Number.POSITIVE_INFINITY : logprob - theirs.logprob;
  must(gap <= tie, `${what}: token ${at} differs and was less likely by ${gap.toFixed(3)}, more than ${tie}`);
  return { tokens: at, partsBy: gap };
}

const runFile = promisify(execFile);

/** Runs a program of the repository, and returns what it printed. */
export async function runProgram(path, args, env = {}) {
  const options = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 64 << 20 };
  return (await runFile(process.execPath, [join(root, path), ...args], options)).stdout;
}

/** The last line, which is JSON, of a program of test/devices/children. */
export async function runChild(name, args, env) {
  const printed = await runProgram(join('test', 'devices', 'children', name), args, env);
  return JSON.parse(printed.trim().split('\n').at(-1));
}

export const temporary = () => mkdtempSync(join(tmpdir(), 'lorekeep-gpu-'));

/** The library that is put between the plugin and the CUDA runtime. @throws LeftOut */
export function shimOf({ backend, shim }, what) {
  if (backend !== 'cuda') throw new LeftOut(`${what} for CUDA alone`);
  if (!shim || !existsSync(shim)) throw new Error('--shim names no file: shim.c, compiled, is expected');
  return resolve(shim);
}

export const isStandIn = (device) => device.description === 'Stand-in';
