// Who takes part, with which settings.
import { existsSync } from 'node:fs';

const module = (name) => new URL(`contestants/${name}.mjs`, import.meta.url);

/** lorekeep's own runtime, with which the others are compared, and llama.cpp inside lorekeep. */
export const own = 'lorekeep';
export const withLlama = 'lorekeep, llama.cpp';

/**
 * @param settings {threads, context, peers, server, batch?, slots?, perStream?, env?, backend?}: `context` in all, `perStream` of one stream
 * where a peer divides it; `backend` puts lorekeep's model on a GPU; `batch` is llama-server's largest, 2048 by default; `peers` names who takes part beside lorekeep
 */
export function contestantsOf({ path: model, end }, settings) {
  const {
    threads,
    context,
    perStream = context,
    peers,
    server: program,
    batch,
    slots,
    env,
    backend,
  } = settings;
  const options = { model, end, threads, context };
  const list = [
    { name: own, module: module('lorekeep'), options: { ...options, backend }, env, peer: false },
  ];
  if (peers.includes('runtimes')) {
    const load = { ...options, runtime: 'llama.cpp' };
    list.push({ name: withLlama, module: module('lorekeep'), options: load, env, peer: false });
  }
  if (program && peers.includes('llama-server')) {
    const flags = { ...options, program, batch, slots };
    list.push({ name: 'llama-server', module: module('llama-server'), options: flags });
  }
  if (peers.includes('node-llama-cpp')) {
    const divided = { ...options, context: perStream };
    list.push({ name: 'node-llama-cpp', module: module('node-llama-cpp'), options: divided });
  }
  return list;
}

/** The peer that no program is there for, as part of a result. */
export function missingServer({ server, peers }) {
  if (!peers.includes('llama-server') || (server && existsSync(server))) return [];
  return [{ name: 'llama-server', reason: '`npm run setup:llama-server` in bench/ builds it' }];
}
