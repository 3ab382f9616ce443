import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { speechNeed } from '../../src/models/model-need.js';
import { temporaryFolder } from '../helpers/folder.js';

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
  const { CPU: tiny = 0 } = await speechNeed('stt', await whisper(384, 4));
  const { CPU: large = 0 } = await speechNeed('stt', await whisper(1280, 32));
  expect(tiny / MiB).toBeGreaterThan(75);
  expect(tiny / MiB).toBeLessThan(90);
  expect(large / MiB).toBeGreaterThan(500);
  expect(large / MiB).toBeLessThan(650);
});

it('no header asks for more than the largest model has', async () => {
  const { CPU: forged } = await speechNeed('stt', await whisper(64 * 1024 * 1024, 1_000_000));
  expect(forged).toBe((await speechNeed('stt', await whisper(1280, 32))).CPU);
  const short = file('short.bin');
  await writeFile(short, 'ggml');
  expect(await speechNeed('stt', short)).toEqual({ CPU: 4 });
});
