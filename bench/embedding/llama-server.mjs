// Where llama-server is: the program that LLAMA_SERVER names, or the one that `npm run setup:llama-server` built.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, root } from '../harness/cache.mjs';

/** What node-llama-cpp brings of llama.cpp: a git bundle of the release that it is built from, and the release's name. */
const brought = join(root, 'bench', 'node_modules', 'node-llama-cpp', 'llama');
export const bundle = join(brought, 'gitRelease.bundle');

/** Path of the built program for the release that is installed; undefined where node-llama-cpp is not. */
export function builtServer() {
  const info = join(brought, 'llama.cpp.info.json');
  if (!existsSync(info)) return undefined;
  const { tag } = JSON.parse(readFileSync(info, 'utf8'));
  return cached('llama-server', `llama-server-${tag}${process.platform === 'win32' ? '.exe' : ''}`);
}

/** Path of the program, or undefined. */
export function findServer() {
  if (process.env.LLAMA_SERVER) return process.env.LLAMA_SERVER;
  const built = builtServer();
  return built && existsSync(built) ? built : undefined;
}
