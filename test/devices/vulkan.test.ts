// The Vulkan plugin of `npm run build:vulkan` on this machine's driver, which may be Mesa's llvmpipe. Tolerances:
// docs/guides/devices.md.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type BackendChoice, findBackend, type GpuDevice } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { cosine, runJson } from './run.js';

const folder = temporaryFolder();
const environment = { LOREKEEP_SOFTWARE_GPU: '1', LOREKEEP_CACHE: folder('cache') };

const { candidates } = await findBackend('vulkan', { software: true, fresh: true });
const [vulkan] = candidates;
const usable = vulkan?.state === 'chosen';
if (usable) console.log(`Vulkan runs on ${vulkan.reason}, with ${vulkan.file}`);
else
  console.log(
    `left out: Vulkan (${vulkan?.state}: ${vulkan?.reason}); npm run build:vulkan, and apt-get install mesa-vulkan-drivers`,
  );

/** llvmpipe compiles each kernel when it is first used: 20 s of a quiet processor, half an hour of a busy one. */
const limitMs = 3_600_000;
const all = process.env.LOREKEEP_TEST_VULKAN === 'all';
if (usable && !all) console.log('left out: computing with Vulkan; npm run test:vulkan does it');

it.skipIf(!usable)('Vulkan is chosen, and its plugin loads into the process', async () => {
  const choice = await runJson<BackendChoice>('choose.mjs', ['vulkan'], environment);
  expect(choice.backend).toBe('vulkan');
  expect(choice.device?.totalBytes).toBeGreaterThan(0);
});

it.skipIf(!usable || !haveModels(stories))(
  'placement, offload_kqv and n_batch reach the device',
  async () => {
    interface Bytes {
      model: number;
      context: number;
      compute: number;
    }
    interface Planned {
      device: GpuDevice;
      memory: Record<'vram' | 'ram' | 'withoutKqv' | 'smallBatch', Record<string, Bytes>>;
    }
    const found = await runJson<Planned>('place.mjs', [realModel(stories), 'vulkan', 'memory'], environment);
    const { memory } = found;
    const on = (kind: keyof typeof memory) => memory[kind][found.device.name] as Bytes;
    expect(memory.ram).not.toHaveProperty(found.device.name);
    expect(on('vram').model).toBeGreaterThan(0);
    expect([memory.vram.CPU?.context, on('withoutKqv').context]).toEqual([0, 0]);
    expect(memory.withoutKqv.CPU?.context).toBe(on('vram').context);
    expect(on('smallBatch').compute).toBeLessThan(on('vram').compute);
  },
);

describe.skipIf(!usable || !all)('Vulkan', { timeout: limitMs }, () => {
  it.skipIf(!haveModels(stories))(
    'generates the text of the CPU: many sequences, from the cache, cancelled and paused',
    async () => {
      interface Found {
        device: GpuDevice;
        places: string[];
        cpu: string[];
        gpu: string[];
        cached: number;
        finish: string;
        beside: string;
        paused: { text: string; ms: number };
      }
      const found = await runJson<Found>('generate.mjs', [realModel(stories), 'vulkan'], environment);
      expect(found.places).toEqual(['CPU', found.device.name]);
      expect(found.gpu).toEqual(found.cpu);
      expect(found.cached).toBeGreaterThan(0);
      expect([found.finish, found.beside, found.paused.text]).toEqual([
        'cancelled',
        found.cpu[2],
        found.cpu[3],
      ]);
      expect(found.paused.ms).toBeGreaterThan(0);
    },
  );

  it.skipIf(!haveModels(stories))('frees no buffer twice when replies grow', async (test) => {
    const library = folder('freed-twice.so');
    const source = fileURLToPath(new URL('children/freed-twice.c', import.meta.url));
    const arguments_ = ['-shared', '-fPIC', '-o', library, source, '-ldl', '-pthread'];
    const compiled = await promisify(execFile)('cc', arguments_).then(
      () => true,
      () => false,
    );
    if (!compiled) return test.skip('counting freed blocks needs cc');
    const counts = folder('freed.json');
    const env = { ...environment, LD_PRELOAD: library, LOREKEEP_FREED: counts };
    const { device } = await runJson<{ device: GpuDevice }>('grow.mjs', [realModel(stories), 'vulkan'], env);
    expect(device.name).toMatch(/^Vulkan/);
    const { blocks, twice } = JSON.parse(readFileSync(counts, 'utf8'));
    expect(blocks).toBeGreaterThan(0);
    expect(twice).toBe(0);
  });

  it('embeds as the CPU does: cosine of at least 0.999', async () => {
    interface Vectors {
      places: string[];
      cpu: number[][];
      gpu: number[][];
      many: number[][][];
    }
    const small = { dimension: 64, layers: 2 };
    const models = {
      mini: 'data/models/lorekeep-mini.gguf',
      f32: await tinyBert(small),
      q8: await tinyBert({ ...small, weightType: 'Q8_0' }),
    };
    const args = [Object.values(models).join(','), 'vulkan', '2'];
    const compared = await runJson<Vectors[]>('embed.mjs', args, environment);
    for (const [index, model] of Object.keys(models).entries()) {
      const found = compared[index] as Vectors;
      expect(found.places).toEqual(['CPU', expect.stringMatching(/^Vulkan/)]);
      for (const other of [found.gpu, ...found.many]) {
        for (const [row, vector] of found.cpu.entries())
          expect(cosine(vector, other[row] ?? []), `${model}, text ${row}`).toBeGreaterThanOrEqual(0.999);
      }
    }
  });
});
