// Samples as floats in [-1, 1], mono unless said otherwise: WAV files, rates, loudness.
import { spawnSync } from 'node:child_process';

/** The samples of a 16-bit or floating-point WAV file, interleaved. */
export function readWav(bytes) {
  let format;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const stated = bytes.readUInt32LE(at + 4);
    const begin = at + 8;
    if (name === 'fmt ')
      format = {
        kind: bytes.readUInt16LE(begin),
        channels: bytes.readUInt16LE(begin + 2),
        rate: bytes.readUInt32LE(begin + 4),
      };
    if (name === 'data') {
      // espeak-ng writes to a pipe and cannot know the length.
      const body = bytes.subarray(begin, Math.min(bytes.length, begin + stated));
      const width = format.kind === 3 ? 4 : 2;
      const samples = Float32Array.from({ length: Math.floor(body.length / width) }, (_, i) =>
        width === 4 ? body.readFloatLE(4 * i) : body.readInt16LE(2 * i) / 32_768,
      );
      return { rate: format.rate, channels: format.channels, samples };
    }
    at = begin + stated + (stated % 2);
  }
  throw new Error('a WAV file without samples');
}

export function writeWav(samples, rate, channels = 1, kind = 'int16') {
  const width = kind === 'float' ? 4 : 2;
  const bytes = Buffer.alloc(44 + width * samples.length);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + width * samples.length, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(kind === 'float' ? 3 : 1, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * channels * width, 28);
  bytes.writeUInt16LE(channels * width, 32);
  bytes.writeUInt16LE(8 * width, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(width * samples.length, 40);
  for (const [i, value] of samples.entries())
    if (kind === 'float') bytes.writeFloatLE(value, 44 + 4 * i);
    else bytes.writeInt16LE(toInt16(value), 44 + 2 * i);
  return bytes;
}

export const toInt16 = (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767);

/** The same sound at another rate, by sox. */
export function atRate(samples, from, to) {
  if (from === to) return samples;
  const form = (rate) => ['-t', 'f32', '-r', String(rate), '-c', '1', '-'];
  const input = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const { stdout, status, stderr } = spawnSync('sox', ['-G', ...form(from), ...form(to)], {
    input,
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`sox: ${stderr}`);
  return new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.length));
}

export function loudness(samples) {
  let sum = 0;
  for (const value of samples) sum += value * value;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** Root mean squares of frames of 10 ms. */
export function frames(samples, rate) {
  const length = Math.round(rate / 100);
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, i) =>
    loudness(samples.subarray(i * length, (i + 1) * length)),
  );
}

export const fromDecibels = (decibels) => 10 ** (decibels / 20);
