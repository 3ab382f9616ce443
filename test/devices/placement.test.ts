import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';
import { cosine, runJson } from './run.js';

const folder = temporaryFolder();
const mini = 'data/models/lorekeep-mini.gguf';
const miniLm = 'data/models/all-MiniLM-L6-v2.gguf';
const mebibyte = 1024 * 1024;

interface Bytes {
  model: number;
  context: number;
  compute: number;
}

interface Reply {
  place?: string;
  placementNote?: string;
  texts?: string[];
  code?: string;
  message?: string;
}

interface Places {
  memory: Record<'vram' | 'ram' | 'withoutKqv' | 'smallBatch', Record<string, Bytes>>;
  ram: Reply;
  vram: Reply;
  auto: Reply;
  withoutKqv: Reply;
}

let plugins: string;
beforeAll(() => {
  plugins = standInFolder(folder('plugins'));
});

const place = (environment: NodeJS.ProcessEnv = {}, backend = 'vulkan') =>
  runJson<Places>('place.mjs', [realModel(stories), backend], {
    LOREKEEP_BACKENDS: plugins,
    LOREKEEP_CACHE: folder('cache'),
    ...environment,
  });

describe.skipIf(!haveModels(stories))('a language model', () => {
  it('is where placement, offload_kqv and n_batch put it, and replies the same everywhere', async () => {
    const { memory, ram, vram, auto, withoutKqv } = await place();
    expect(memory.ram).not.toHaveProperty('GPU0');
    const { GPU0: gpu, CPU: cpu } = memory.vram as { GPU0: Bytes; CPU: Bytes };
    // The masks of constraints stay in the memory of the CPU.
    const masks = 16 * 1024 * 1024;
    expect(gpu.model).toBeGreaterThan((cpu.model - masks) / 4);
    expect([gpu.context > 0, cpu.context]).toEqual([true, 0]);
    expect(memory.withoutKqv.GPU0?.context).toBe(0);
    expect(memory.withoutKqv.CPU?.context).toBe(gpu.context);
    expect(memory.smallBatch.GPU0?.compute).toBeLessThan(gpu.compute);
    expect([ram.place, vram.place, auto.place, withoutKqv.place]).toEqual(['CPU', 'GPU0', 'GPU0', 'GPU0']);
    const [text] = ram.texts ?? [];
    expect(text?.length).toBeGreaterThan(10);
    for (const reply of [ram, vram, auto, withoutKqv]) expect(reply.texts).toEqual([text, text, text]);
  });

  it('stays on the CPU beside a full GPU, or is refused if its placement is vram', async () => {
    const { vram, auto } = await place({ STAND_IN_MEMORY: String(mebibyte) });
    expect(auto).toMatchObject({
      place: 'CPU',
      placementNote: expect.stringMatching(/needs \d+ MiB .* 1 MiB/),
    });
    expect(vram).toMatchObject({
      code: 'OUT_OF_MEMORY',
      message: expect.stringMatching(/placement vram: it needs/),
    });
  });

  it('leaves the reserve of video memory free', async () => {
    const memory = { STAND_IN_MEMORY: String(64 * mebibyte) };
    expect((await place(memory)).auto.place).toBe('GPU0');
    const { auto } = await place({ ...memory, RESERVE: String(63 * mebibyte) });
    expect(auto).toMatchObject({
      place: 'CPU',
      placementNote: expect.stringMatching(/63 MiB stay reserved/),
    });
  });

  it('is on the CPU where no GPU is chosen, though a plugin is there', async () => {
    const { memory, auto, vram } = await place({}, 'cpu');
    expect([memory.vram, auto.place, vram.code]).toEqual(['UNSUPPORTED', 'CPU', 'UNSUPPORTED']);
  });
});

it('an embedding model on a GPU gives the vectors of the CPU, and can be closed while it computes', async () => {
  interface Vectors {
    places: string[];
    cpu: number[][];
    gpu: number[][];
    many: number[][][];
    ended: string[];
    taken: number;
  }
  const environment = {
    LOREKEEP_BACKENDS: plugins,
    LOREKEEP_CACHE: folder('cache'),
    STAND_IN_TELLS: folder('taken'),
  };
  const [found] = (await runJson<Vectors[]>('embed.mjs', [mini, 'vulkan'], environment)) as [Vectors];
  expect([found.places, found.taken]).toEqual([['CPU', 'GPU0'], 0]);
  expect(new Set(found.ended)).toEqual(new Set(['DEVICE_LOST']));
  for (const other of [found.gpu, ...found.many]) {
    for (const [row, vector] of found.cpu.entries())
      expect(cosine(vector, other[row] ?? [])).toBeGreaterThan(0.999);
  }
});

it('a long text on a slow GPU is embedded in steps of less than 500 ms', async () => {
  interface Found {
    vectors: [number[], number[]];
    /** Operations, and ms that the stand-in takes for them. */
    steps: [number, number][];
    cancelled: string;
  }
  const { vectors, steps, cancelled } = await runJson<Found>('steps.mjs', [miniLm, 'vulkan'], {
    LOREKEEP_BACKENDS: plugins,
    LOREKEEP_CACHE: folder('cache'),
    STAND_IN_SLOWNESS: '0.3',
    STAND_IN_STEPS: folder('steps'),
  });
  expect(steps.reduce((sum, [, ms]) => sum + ms, 0)).toBeGreaterThan(1000);
  for (const [, ms] of steps) expect(ms).toBeLessThan(500);
  expect(cosine(...vectors)).toBeGreaterThan(0.999);
  expect(cancelled).toBe('CANCELLED');
});
