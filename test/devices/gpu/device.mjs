// The plugin and its device: choice, names, graphs, loss.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findBackend, useBackend } from 'lorekeep';
import { LeftOut, must, runChild, runProgram, shimOf, temporary } from './found.mjs';

const mini = join('data', 'models', 'lorekeep-mini.gguf');
/** Tokens that generate.mjs decodes alone, at least: a graph is launched for each once it has been recorded. */
const fewestLaunches = 20;

async function chosen(backend) {
  const { device, candidates } = await findBackend(backend, { fresh: true });
  const [first] = candidates;
  must(first.state === 'chosen', `${first.state}: ${first.reason}`, { candidates });
  return { device, file: first.file };
}

export async function loads({ backend }) {
  const found = await chosen(backend);
  const { backend: loaded } = await useBackend(backend);
  must(loaded === backend, `${loaded} was loaded`);
  must(found.device.totalBytes > 0, 'the device has no memory', found);
  return found;
}

export async function auto({ backend }) {
  const cuda = await findBackend('cuda');
  if (backend === 'vulkan' && cuda.backend === 'cuda')
    throw new LeftOut('auto takes CUDA first, and it is there');
  const { backend: found, candidates } = await findBackend('auto', { fresh: true });
  must(found === backend, `auto chose ${found}`, { candidates });
  return { candidates: candidates.map(({ backend: name, state }) => `${name}: ${state}`) };
}

export async function doctor({ backend }) {
  const { device } = await chosen(backend);
  const printed = await runProgram(join('dist', 'src', 'cli', 'main.js'), ['doctor']).catch(
    ({ stdout }) => stdout,
  );
  must(printed?.includes(device.description), `it does not print "${device.description}"`, { printed });
  return { line: printed.split('\n').find((line) => line.includes(device.description)) };
}

export async function graphs(options) {
  const counts = join(temporary(), 'counts.json');
  const env = { LD_PRELOAD: shimOf(options, 'graphs are'), LOREKEEP_SHIM_COUNTS: counts };
  await runChild('generate.mjs', [options.stories, 'cuda'], env);
  must(existsSync(counts), 'the CUDA runtime was not called through the shim');
  const { launches } = JSON.parse(readFileSync(counts, 'utf8'));
  must(launches >= fewestLaunches, `${launches} launches of graphs, ${fewestLaunches} are expected`);
  return { launches };
}

export async function loss(options) {
  const { device } = await chosen(options.backend);
  const lost = join(temporary(), 'lost');
  const standIn = device.description === 'Stand-in';
  const env = standIn
    ? { STAND_IN_LOST: lost }
    : { STAND_IN_LOST: lost, LOREKEEP_SHIM_LOST: lost, LD_PRELOAD: shimOf(options, 'a loss is injected') };
  const found = await runChild('lose.mjs', [options.stories, mini, options.backend, 'status'], env);
  const failed = 'DEVICE_LOST';
  const expected = {
    second: failed,
    after: failed,
    embedding: [failed, failed],
    bystander: 'done',
    reloaded: ['done', 'done'],
  };
  must(JSON.stringify(found) === JSON.stringify(expected), `found ${JSON.stringify(found)}`, found);
  return found;
}
