/** Real weights of speech are not part of the project: LOREKEEP_REAL_MODELS names their folder. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = resolve(process.env.LOREKEEP_REAL_MODELS ?? join(homedir(), '.cache', 'lorekeep-real-models'));

/** The shipped model that detects voice. */
export const silero: string = join(root, 'data', 'models', 'ggml-silero-v6.2.0.bin');

export const whisperTiny: string = join(folder, 'ggml-tiny.en-q8_0.bin');

/** Whether the recogniser is there; prints the reason for leaving tests out if not. */
export function haveWhisper(): boolean {
  const isThere = existsSync(whisperTiny);
  if (!isThere) console.log(`left out: no ${whisperTiny}; LOREKEEP_REAL_MODELS names its folder`);
  return isThere;
}

/** A 16-bit WAV file of samples in [-1, 1]. */
export function wavFile(samples: Float32Array, rate = 16_000, channels = 1): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + 2 * samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(2 * rate * channels, 28);
  head.writeUInt16LE(2 * channels, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(2 * samples.length, 40);
  const body = Buffer.alloc(2 * samples.length);
  for (const [i, sample] of samples.entries())
    body.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), 2 * i);
  return Buffer.concat([head, body]);
}

/** Speech-like sound: a vowel of a voice at 120 Hz with a slow vibrato. */
export function vowel(seconds: number, rate = 16_000): Float32Array {
  return Float32Array.from({ length: seconds * rate }, (_, i) => {
    const t = i / rate;
    let sum = 0;
    for (let k = 1; k < 30; k++) {
      const hertz = 120 * k;
      const gain = Math.exp(-(((hertz - 700) / 250) ** 2)) + Math.exp(-(((hertz - 1200) / 300) ** 2));
      sum += gain * Math.sin(2 * Math.PI * hertz * t + 0.4 * k * Math.sin(2 * Math.PI * 5 * t));
    }
    return 0.1 * sum;
  });
}

/** First three formants of a, i, u, e and o, in Hz. */
const formants = [
  [700, 1200, 2600],
  [300, 2300, 3000],
  [350, 800, 2400],
  [500, 1800, 2500],
  [600, 1000, 2500],
] as const;
const syllableSeconds = 0.2;

/** Speech-like sound that Silero takes for speech from beginning to end: five vowels in turn, at a falling pitch. */
export function syllables(seconds: number, rate = 16_000): Float32Array {
  let phase = 0;
  return Float32Array.from({ length: Math.round(seconds * rate) }, (_, i) => {
    const t = i / rate;
    const n = Math.floor(t / syllableSeconds);
    const within = t / syllableSeconds - n;
    const pitch = 130 * (1.15 - 0.25 * (t / seconds) + 0.08 * Math.sin(2 * Math.PI * 1.7 * t));
    phase += pitch / rate;
    const glide = Math.max(0, (within - 0.6) / 0.4);
    let sum = 0;
    for (let k = 1; k * pitch < Math.min(4000, rate / 2); k++) {
      let gain = 0.02;
      for (const [j, from] of (formants[n % 5] as (typeof formants)[number]).entries()) {
        const to = formants[(n + 1) % 5]?.[j] as number;
        const centre = from * (1 - glide) + to * glide;
        gain += Math.exp(-(((k * pitch - centre) / (80 + 40 * j)) ** 2)) / (1 + j);
      }
      sum += (gain / Math.sqrt(k)) * Math.sin(2 * Math.PI * k * phase);
    }
    const loudness = 0.1 + 0.9 * Math.min(1, within / 0.2) * Math.min(1, (1 - within) / 0.25);
    return 0.25 * loudness * sum;
  });
}
