import type { FileHandle } from 'node:fs/promises';

/** Where the samples of a WAV file are, and how they are written. */
export interface WavFormat {
  rate: number;
  channels: number;
  encoding: 'pcm' | 'float';
  /** Of a sample: 8, 16, 24 or 32; 32 or 64 for floats. */
  bits: number;
  /** Place and length of the samples in bytes. */
  begin: number;
  bytes: number;
}

/** A file that is no WAV file, or one that cannot be read. */
export class AudioFormatError extends Error {
  override readonly name = 'AudioFormatError';
}

/** Chunks before the samples, such as LIST, are skipped; more than this are none of a recorder's. */
const maxChunks = 1000;
const pcm = 1;
const float = 3;
const extensible = 0xfffe;

/** Whether a file begins as a WAV file does. Those of more than 4 GiB are RF64 or BW64. */
export const isWav = (head: Buffer): boolean =>
  head.length >= 12 &&
  ['RIFF', 'RF64', 'BW64'].includes(head.toString('latin1', 0, 4)) &&
  head.toString('latin1', 8, 12) === 'WAVE';

/** Finds the samples of a WAV file. A file that was cut, or whose recorder never wrote its length, is read to its end. @throws AudioFormatError */
export async function wavFormat(file: FileHandle, size: number): Promise<WavFormat> {
  let format: Omit<WavFormat, 'begin' | 'bytes'> | undefined;
  /** Of the samples, if it is too long for their chunk. */
  let long = size;
  let at = 12;
  for (let chunk = 0; chunk < maxChunks && at + 8 <= size; chunk++) {
    const head = await readAt(file, at, 8);
    const name = head.toString('latin1', 0, 4);
    const stated = head.readUInt32LE(4);
    at += 8;
    if (name === 'fmt ') format = formatOf(await readAt(file, at, Math.min(stated, 40)));
    if (name === 'ds64' && stated >= 16) long = Number((await readAt(file, at, 16)).readBigUInt64LE(8));
    if (name === 'data') {
      if (format === undefined) throw new AudioFormatError('its samples come before their format');
      const frame = (format.bits / 8) * format.channels;
      const bytes = Math.min(stated === 0xffff_ffff || stated === 0 ? long : stated, size - at);
      return { ...format, begin: at, bytes: bytes - (bytes % frame) };
    }
    at += stated + (stated % 2);
  }
  throw new AudioFormatError('it has no samples');
}

function formatOf(chunk: Buffer): Omit<WavFormat, 'begin' | 'bytes'> {
  if (chunk.length < 16) throw new AudioFormatError('its format is cut off');
  const tag = chunk.readUInt16LE(0);
  const kind = tag === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const [channels, rate, frame, used] = [
    chunk.readUInt16LE(2),
    chunk.readUInt32LE(4),
    chunk.readUInt16LE(12),
    chunk.readUInt16LE(14),
  ];
  if (kind !== pcm && kind !== float)
    throw new AudioFormatError(`its samples are of kind ${kind}; PCM and floating point are read`);
  if (channels < 1 || channels > 8)
    throw new AudioFormatError(`it has ${channels} channels; 1 to 8 are read`);
  // A sample with unused bits, such as 24 in 4 bytes, has them at its low end.
  const bits = kind === pcm ? Math.max(used, (8 * frame) / channels) : used;
  const known = kind === pcm ? [8, 16, 24, 32] : [32, 64];
  if (!known.includes(bits))
    throw new AudioFormatError(`its samples have ${bits} bits; ${known.join(', ')} are read`);
  if (rate < 8000 || rate > 48_000)
    throw new AudioFormatError(`it has ${rate} samples a second; 8000 to 48000 are read`);
  return { rate, channels, bits, encoding: kind === pcm ? 'pcm' : 'float' };
}

/** Returns whole samples as floats in [-1, 1], interleaved as in the file. */
export function decodeSamples(bytes: Buffer, { encoding, bits }: WavFormat): Float32Array {
  const width = bits / 8;
  const samples = new Float32Array(Math.floor(bytes.length / width));
  const read = reader(bytes, encoding, bits);
  for (let i = 0; i < samples.length; i++) samples[i] = read(i * width);
  return samples;
}

function reader(bytes: Buffer, encoding: WavFormat['encoding'], bits: number): (offset: number) => number {
  if (encoding === 'float')
    return bits === 32 ? (offset) => bytes.readFloatLE(offset) : (offset) => bytes.readDoubleLE(offset);
  // Eight bits are unsigned.
  if (bits === 8) return (offset) => (bytes.readUInt8(offset) - 128) / 128;
  const scale = 2 ** (bits - 1);
  return (offset) => bytes.readIntLE(offset, bits / 8) / scale;
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
