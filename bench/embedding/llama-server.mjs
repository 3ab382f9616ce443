// Where the programs of llama.cpp are: the server that LLAMA_SERVER names, or the one built by `npm run setup:llama-server`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, root } from '../harness/cache.mjs';

/** The llama.cpp of node-llama-cpp: a git bundle of the release that it is built from, and the release's name. */
const brought = join(root, 'bench', 'node_modules', 'node-llama-cpp', 'llama');
export const bundle = join(brought, 'gitRelease.bundle');

/** The programs that are built: the server for this processor and held to older instructions, and the program that quantises files. */
const built = {
  server: 'llama-server',
  avx2: 'llama-server-avx2',
  vnni: 'llama-server-vnni',
  quantize: 'llama-quantize',
};

/** Whether this processor has AMX, which llama-server uses where it is built for the processor. */
export function hasAmx() {
  return existsSync('/proc/cpuinfo') && /\bamx_int8\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));
}

/** Path of a program as built for the release that is installed; undefined where node-llama-cpp is not. */
export function builtProgram(which = 'server') {
  const info = join(brought, 'llama.cpp.info.json');
  if (!existsSync(info)) return undefined;
  const { tag } = JSON.parse(readFileSync(info, 'utf8'));
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return cached('llama-server', `${built[which]}-${tag}${suffix}`);
}

/** Path of the built program if it is there. */
export function findBuilt(which) {
  const path = builtProgram(which);
  return path && existsSync(path) ? path : undefined;
}

/** Path of the server, or undefined. */
export function findServer() {
  return process.env.LLAMA_SERVER || findBuilt('server');
}
