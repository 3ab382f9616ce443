#!/usr/bin/env node
// The command `lorekeep`. It is CommonJS because Node.js reads ES modules with libuv's threads, whose number is fixed from
// then on: `thread_count` has to be known before.
import fs = require('node:fs');
import path = require('node:path');

const mostThreads = 1024;

/** The config file of the server; whether it is right is said when it is loaded in earnest. */
function configFile(args: readonly string[], environment: NodeJS.ProcessEnv): string {
  const at = args.findIndex((arg) => arg === '--config' || arg.startsWith('--config='));
  const flag = args[at]?.slice('--config='.length) || args[at + 1];
  const named = at < 0 ? environment.LOREKEEP_CONFIG : flag;
  return named || path.join(__dirname, '..', '..', '..', 'data', 'server-config.json');
}

/** `thread_count` of a config file; undefined where it is absent or no number of threads. */
function threadCount(file: string): number | undefined {
  try {
    const { thread_count: count } = JSON.parse(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
    return Number.isInteger(count) && count >= 1 && count <= mostThreads ? count : undefined;
  } catch {
    return undefined;
  }
}

const args = process.argv.slice(2);
const [command = 'serve'] = args;
if ((command === 'serve' || command.startsWith('-')) && process.env.UV_THREADPOOL_SIZE === undefined) {
  const count = threadCount(configFile(args, process.env));
  if (count !== undefined) process.env.UV_THREADPOOL_SIZE = String(count);
}
void import('./main.js');
