import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openAudio } from '../../src/speech/audio.js';
import { AudioFormatError } from '../../src/speech/wav.js';
import { temporaryFolder } from '../helpers/folder.js';
import { wavFile } from '../helpers/speech-models.js';

const inFolder = temporaryFolder();
afterEach(() => vi.unstubAllEnvs());
const samples = Float32Array.from([0, 0.5, -0.5, 1, -1, 0.25]);

function file(name: string, bytes: Buffer): string {
  writeFileSync(inFolder(name), bytes);
  return inFolder(name);
}

async function all(path: string) {
  const audio = await openAudio(path);
  const found: number[] = [];
  for await (const piece of audio.pieces(new AbortController().signal)) found.push(...piece);
  return { ...audio, found };
}

/** A WAV file with another format of its samples. */
function wav(
  kind: number,
  bits: number,
  body: Buffer,
  { before = Buffer.alloc(0), stated = body.length, frame = bits / 8 } = {},
) {
  const head = wavFile(new Float32Array(0), 16_000, 1);
  head.writeUInt16LE(kind, 20);
  head.writeUInt16LE(frame, 32);
  head.writeUInt16LE(bits, 34);
  const data = Buffer.alloc(8);
  data.write('data');
  data.writeUInt32LE(stated, 4);
  return Buffer.concat([head.subarray(0, 36), before, data, body]);
}

describe('audio files', () => {
  it('are read in all usual forms of WAV', async () => {
    const close = (found: number[]) => {
      expect(found).toHaveLength(samples.length);
      for (const [i, value] of found.entries()) expect(value).toBeCloseTo(samples[i] as number, 1);
    };
    const plain = await all(file('plain.wav', wavFile(samples)));
    expect(plain).toMatchObject({ rate: 16_000, channels: 1, seconds: samples.length / 16_000 });
    close(plain.found);
    const floats = Buffer.from(samples.buffer.slice(0));
    close((await all(file('float.wav', wav(3, 32, floats)))).found);
    close((await all(file('double.wav', wav(3, 64, Buffer.from(Float64Array.from(samples).buffer))))).found);
    const bytes = Buffer.from(samples.map((value) => Math.min(255, Math.round(value * 128 + 128))));
    close((await all(file('byte.wav', wav(1, 8, bytes)))).found);
    const wide = Buffer.alloc(3 * samples.length);
    for (const [i, value] of samples.entries())
      wide.writeIntLE(Math.min(8_388_607, value * 8_388_608), 3 * i, 3);
    close((await all(file('wide.wav', wav(1, 24, wide)))).found);
    close((await all(file('unused.wav', wav(1, 20, wide, { frame: 3 })))).found);
  });

  it('may have other chunks before the samples, no length, or be cut', async () => {
    const body = wavFile(samples).subarray(44);
    const list = Buffer.from('LIST\x05\0\0\0abcde\0', 'latin1');
    expect((await all(file('list.wav', wav(1, 16, body, { before: list })))).found).toHaveLength(6);
    expect((await all(file('endless.wav', wav(1, 16, body, { stated: 0xffff_ffff })))).found).toHaveLength(6);
    expect(
      (await all(file('cut.wav', wav(1, 16, body.subarray(0, 7), { stated: 1000 })))).found,
    ).toHaveLength(3);
  });

  it('may be longer than 4 GiB, as RF64 says', async () => {
    const long = Buffer.from('ds64\x1c\0\0\0', 'latin1');
    const sizes = Buffer.alloc(28);
    sizes.writeBigUInt64LE(12n, 8);
    const list = Buffer.from('LIST\x04\0\0\0abcd', 'latin1');
    const bytes = wav(1, 16, Buffer.concat([wavFile(samples).subarray(44), list]), { stated: 0xffff_ffff });
    const head = bytes.subarray(0, 12);
    head.write('RF64');
    expect(
      (await all(file('long.wav', Buffer.concat([head, long, sizes, bytes.subarray(12)])))).found,
    ).toHaveLength(6);
  });

  it('say what is wrong with them', async () => {
    vi.stubEnv('PATH', inFolder('none')); // ffmpeg would read some of them
    const body = Buffer.alloc(8);
    const refusal = async (name: string, bytes: Buffer) => {
      const error = await all(file(name, bytes)).catch((thrown: unknown) => thrown);
      expect(error, name).toBeInstanceOf(AudioFormatError);
      return (error as Error).message;
    };
    expect(await refusal('mp3.wav', wav(0x55, 16, body))).toContain('kind 85');
    expect(await refusal('bits.wav', wav(1, 12, body))).toContain('12 bits');
    const rate = wav(1, 16, body);
    rate.writeUInt32LE(1, 24);
    expect(await refusal('rate.wav', rate)).toContain('1 samples a second');
    const channels = wav(1, 16, body);
    channels.writeUInt16LE(0, 22);
    expect(await refusal('channels.wav', channels)).toContain('0 channels');
    expect(await refusal('empty.wav', wavFile(samples).subarray(0, 36))).toContain('no samples');
  });

  it('in other formats are read by ffmpeg, if it is installed', async () => {
    const text = file('text.wav', Buffer.from('this is a text and no sound'));
    const aLaw = file('a-law.wav', wav(6, 8, Buffer.alloc(8)));
    const bin = inFolder('bin');
    mkdirSync(bin);
    vi.stubEnv('PATH', bin);
    await expect(all(text)).rejects.toThrow(/not a WAV file; .*ffmpeg, which is not installed/);
    await expect(all(aLaw)).rejects.toThrow(/kind 6; .*ffmpeg, which is not installed/);
    writeFileSync(join(bin, 'ffmpeg'), '#!/bin/sh\nprintf "\\000\\100"\n', { mode: 0o755 });
    expect(await all(aLaw)).toMatchObject({ rate: 16_000, channels: 1, found: [0.5] });
    for (const [stated, seconds] of [
      ['2.908563', 2.908563],
      ['N/A', undefined],
    ]) {
      writeFileSync(join(bin, 'ffprobe'), `#!/bin/sh\necho ${stated}\n`, { mode: 0o755 });
      expect((await openAudio(aLaw)).seconds).toBe(seconds);
    }
    writeFileSync(join(bin, 'ffmpeg'), '#!/bin/sh\necho no sound >&2\nexit 1\n', { mode: 0o755 });
    await expect(all(aLaw)).rejects.toThrow(/kind 6.*, and ffmpeg cannot read its sound: no sound/);
  });

  it('end for a signal', async () => {
    const audio = await openAudio(file('long.wav', wavFile(new Float32Array(500_000))));
    const ending = new AbortController();
    const read = async () => {
      for await (const _ of audio.pieces(ending.signal)) ending.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
  });
});
