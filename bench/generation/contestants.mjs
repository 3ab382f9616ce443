// Who takes part, with which settings.

const module = (name) => new URL(`contestants/${name}.mjs`, import.meta.url);

/** @param settings {threads, context, peers, server, batch?}: `batch` is llama-server's largest, 2048 by default */
export function contestantsOf({ path: model, end }, { threads, context, peers, server: program, batch }) {
  const options = { model, end, threads, context };
  const list = [{ name: 'lorekeep', module: module('lorekeep'), options, peer: false }];
  if (peers.includes('node-llama-cpp')) {
    list.push({ name: 'node-llama-cpp', module: module('node-llama-cpp'), options });
  }
  if (program && peers.includes('llama-server')) {
    list.push({
      name: 'llama-server',
      module: module('llama-server'),
      options: { ...options, program, batch },
    });
  }
  return list;
}
