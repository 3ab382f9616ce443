import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Catalog } from '../../src/models/catalog.js';
import { ModelMemory } from '../../src/models/model-memory.js';
import { recogniserNeed } from '../../src/models/model-need.js';
import { Residency } from '../../src/models/residency.js';
import { SpeechModels } from '../../src/models/speech-models.js';
import { temporaryFolder } from '../helpers/folder.js';
import { silero } from '../helpers/speech-models.js';

const file = temporaryFolder();

const MiB = 1024 * 1024;

/** A file with the header of a Whisper model of this shape. */
async function whisper(width: number, layers: number): Promise<string> {
  const numbers = [
    0x67676d6c,
    51_864,
    1500,
    width,
    width / 64,
    layers,
    448,
    width,
    width / 64,
    layers,
    80,
    1,
  ];
  const path = file(`ggml-${width}.bin`);
  await writeFile(path, Buffer.from(Uint32Array.from(numbers).buffer));
  return path;
}

it('the memory of a recogniser grows with its width and layers, beside its file', async () => {
  const { CPU: tiny = 0 } = await recogniserNeed(await whisper(384, 4));
  const { CPU: large = 0 } = await recogniserNeed(await whisper(1280, 32));
  expect(tiny / MiB).toBeGreaterThan(75);
  expect(tiny / MiB).toBeLessThan(90);
  expect(large / MiB).toBeGreaterThan(500);
  expect(large / MiB).toBeLessThan(650);
});

it('no header asks for more than the largest model has', async () => {
  const { CPU: forged } = await recogniserNeed(await whisper(64 * 1024 * 1024, 1_000_000));
  expect(forged).toBe((await recogniserNeed(await whisper(1280, 32))).CPU);
  const short = file('short.bin');
  await writeFile(short, 'ggml');
  expect(await recogniserNeed(short)).toEqual({ CPU: 4 });
});

it('a detector, which a stream has as long as it is open, takes no room from other models', async () => {
  const catalog = file('catalog.json');
  const entry = { name: 'Silero VAD', model_type: 'vad', variants: [{ file: silero }] };
  await writeFile(catalog, JSON.stringify({ version: 1, models: [entry] }));
  const memory = new ModelMemory({ limit: () => 100 });
  const log = { info: () => {}, error: () => {} };
  const residency = new Residency(await Catalog.load(catalog), { log, memory });
  onTestFinished(() => residency.close());
  const speech = new SpeechModels(residency, { threads: 1, idleMs: 0 });
  using _ = await speech.detector(undefined).lease();
  const other = { busy: () => true, evict: async () => {} };
  (await memory.admit('other', { CPU: 100 }, other)).release();
});
