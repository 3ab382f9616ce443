// Video memory: where models go, what stays free, what is given back.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddingModel, findBackend } from 'lorekeep';
import { gpu, isStandIn, must, onGpu, root, runChild, runProgram, temporary } from './found.mjs';

const mebibyte = 1024 * 1024;
/** What a driver may keep for itself. */
const slackBytes = 2 * mebibyte;

export async function placement(options) {
  const { device, memory, ...replies } = await runChild('place.mjs', [options.stories, options.backend]);
  const on = (kind) => memory[kind][device.name];
  const places = Object.fromEntries(Object.entries(replies).map(([name, { place }]) => [name, place]));
  const found = { memory, places };
  const { ram, ...others } = places;
  must(ram === 'CPU', `placement ram: ${ram}`, found);
  must(
    Object.values(others).every((place) => place === device.name),
    'a model is not on the GPU',
    found,
  );
  must(
    memory.ram[device.name] === undefined && on('vram').model > 0,
    'weights are in the wrong place',
    found,
  );
  must(on('withoutKqv').context === 0 && on('vram').context > 0, 'offload_kqv moves no cache', found);
  must(on('smallBatch').compute < on('vram').compute, 'n_batch shrinks no buffer', found);
  return found;
}

export async function reserve(options) {
  const { device } = await findBackend(options.backend);
  const { auto, vram } = await runChild('place.mjs', [options.stories, options.backend], {
    RESERVE: String(device.totalBytes),
  });
  must(auto.place === 'CPU' && /stay reserved/.test(auto.placementNote), 'the model is not on the CPU', {
    auto,
  });
  must(vram.code === 'OUT_OF_MEMORY', 'placement vram was not refused', { vram });
  return { note: auto.placementNote };
}

export async function giveBack({ backend, shapes, small }) {
  const args = ['--plugin', backend, '--rounds', small ? '1' : '5', '--model', resolve(shapes[0])];
  const sizes = '--prompt 300 --embed 20 --context 2048 --streams 2'.split(' ');
  const program = join('bench', 'server', 'video-memory.mjs');
  const printed = await runProgram(program, [...args, ...(small ? sizes : [])]).catch((error) => {
    // On a software GPU it may be late, no more.
    if (small && error.code === 1 && error.stderr === '') return error.stdout;
    throw Object.assign(new Error(error.stderr || error.message), { found: error.stdout });
  });
  return { table: printed.trim().split('\n') };
}

/** Bytes of the device that are in use, by all processes. */
async function used(backend) {
  const told = process.env.STAND_IN_TELLS;
  if (told) return Number(readFileSync(told, 'utf8'));
  const { device } = await findBackend(backend, { fresh: true });
  return device.totalBytes - device.freeBytes;
}

export async function returns(options) {
  const { device } = await findBackend(options.backend);
  if (isStandIn(device)) process.env.STAND_IN_TELLS = join(temporary(), 'bytes');
  await gpu(options);
  const cycle = async () => {
    const words = await EmbeddingModel.load(join(root, 'data', 'models', 'all-MiniLM-L6-v2.gguf'), {
      placement: 'vram',
    });
    const model = await onGpu(options.stories);
    await Promise.all([words.embed('bees'), model.generate({ prompt: 'Once', maxTokens: 20 }).result]);
    const loaded = await used(options.backend);
    await model.close();
    await words.close();
    return { loaded, left: await used(options.backend) };
  };
  const cycles = [];
  for (let n = 0; n < (options.small ? 3 : 6); n++) cycles.push(await cycle());
  const [{ left: start }] = cycles; // the driver's own memory of this process came with the first
  const found = { start, cycles };
  must(
    cycles.every(({ loaded, left }) => loaded > left),
    'a loaded model takes no memory',
    found,
  );
  must(
    cycles.every(({ left }) => left <= start + slackBytes),
    'memory is not given back',
    found,
  );
  return found;
}
