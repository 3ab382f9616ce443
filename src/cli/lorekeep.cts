#!/usr/bin/env node
// The command `lorekeep`. It is CommonJS because Node.js reads ES modules with libuv's threads, whose number is fixed from
// then on: `thread_count` has to be known before. Old Node.js reads it, too, and says that it is too old.
import './closed-debugger.cjs';

import fs = require('node:fs');
import path = require('node:path');
import threadRoom = require('./thread-room.cjs');

const maxThreads = 1024;
/** As in files/read-text.ts. */
const largestConfigBytes = 4 * 1024 * 1024;
/** Threads of libuv's pool, unless UV_THREADPOOL_SIZE says otherwise. */
const usualPool = 4;
const root = path.join(__dirname, '..', '..', '..');

/** Why the package cannot run on this Node.js; undefined if it can. */
function whyTooOld(): string | undefined {
  const found = process.versions.node;
  const { engines } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const wanted = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const [minMajor, minMinor] = wanted.split('.').map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `Node.js ${wanted} or newer is needed, and ${process.execPath} is ${found}`;
}

/** The config file of the server. Its defects are reported when the server loads it. */
function configFile(args: readonly string[], environment: NodeJS.ProcessEnv): string {
  const at = args.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  const flag = args[at]?.slice('--config='.length) || args[at + 1];
  const named = at < 0 ? environment.LOREKEEP_CONFIG : flag;
  const shipped = path.join(root, 'data', 'server-config.json');
  return named || (fs.existsSync(shipped) ? shipped : 'server-config.json');
}

/** The text of a regular file. Opening a pipe without a writer would wait for ever, and a device may have no end. */
function regularText(file: string): string {
  const { O_RDONLY, O_NONBLOCK } = fs.constants;
  const opened = fs.openSync(file, O_RDONLY | (O_NONBLOCK || 0));
  try {
    const found = fs.fstatSync(opened);
    if (!found.isFile() || found.size > largestConfigBytes) throw new Error('no config');
    return fs.readFileSync(opened, 'utf8');
  } finally {
    fs.closeSync(opened);
  }
}

/** `thread_count` of a config file; undefined where it is absent or no number of threads. */
function threadCount(file: string): number | undefined {
  try {
    const { thread_count: count } = JSON.parse(regularText(file).replace(/^\uFEFF/, ''));
    return Number.isInteger(count) && count >= 1 && count <= maxThreads ? count : undefined;
  } catch {
    return undefined;
  }
}

/** A server that is still starting is not ended by SIGHUP, and ends well at SIGTERM and SIGINT, until `serve` takes them over. */
function takeSignals(): void {
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(0));
  try {
    process.on('SIGHUP', () => {});
  } catch {
    // This system has no such signal.
  }
}

function run(args: readonly string[]): void {
  const [command = 'serve'] = args;
  const serves = command === 'serve' || command.startsWith('-');
  if (serves) takeSignals();
  if (serves && process.env.UV_THREADPOOL_SIZE === undefined) {
    const count = threadCount(configFile(args, process.env));
    if (count !== undefined) process.env.UV_THREADPOOL_SIZE = String(count);
  }
  const refusal = leaveRoom(threadRoom(root));
  if (refusal === undefined) void import('./main.js');
  else fail(refusal);
}

/**
 * Makes libuv's pool small where the system allows few threads: Node.js aborts if the pool gets fewer than it wants. Half of
 * them are for computing. Returns why the process cannot work; undefined if it can.
 */
function leaveRoom(room: ReturnType<typeof threadRoom>): string | undefined {
  const wanted = Number(process.env.UV_THREADPOOL_SIZE) || usualPool;
  if (room === undefined || room.threads >= 2 * wanted) return undefined;
  const { threads, limits } = room;
  const by = `the limit of ${limits.join(', and of ')}`;
  if (threads === 0) return `the system refuses further threads, by ${by}; raise it`;
  const found = `the system allows only ${threads} more ${threads === 1 ? 'thread' : 'threads'}, by ${by}`;
  process.env.UV_THREADPOOL_SIZE = String(Math.max(1, Math.floor(threads / 2)));
  console.error(`lorekeep: warning: ${found}; lorekeep works more slowly with few`);
  return undefined;
}

function fail(problem: string): void {
  console.error(`lorekeep: ${problem}`);
  process.exitCode = 1;
}

const problem = whyTooOld();
if (problem === undefined) run(process.argv.slice(2));
else fail(problem);
