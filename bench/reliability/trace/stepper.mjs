// The program that stops others at their system calls, compiled when it is first wanted.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { cached } from '../../harness/cache.mjs';
import { compiled } from './compile.mjs';

const source = join(import.meta.dirname, 'stepper.cc');

/** @returns {path} of the program, or {reason} why there is none here */
export function stepper() {
  if (platform() !== 'linux' || arch() !== 'x64')
    return { reason: 'system calls are traced on Linux x64 only' };
  try {
    const path = compiled([source]);
    const out = cached('reliability', `probe-${process.pid}`);
    execFileSync(path, ['list', dirname(out), out, '--', 'true'], { stdio: 'pipe' });
    rmSync(out);
    return { path };
  } catch (error) {
    return { reason: `no program can be traced here: ${String(error.stderr ?? error.message).trim()}` };
  }
}

/** Runs `command` (a list of words) under the stepper. @returns {child, ended: exit status, output()} */
export function trace(path, args, command, env) {
  const child = spawn(path, [...args, '--', ...command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed = (printed + chunk).slice(-65_536);
    });
  }
  const ended = new Promise((done) => child.once('close', (code) => done(code)));
  return { child, ended, output: () => printed };
}

export const linesOf = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean);
