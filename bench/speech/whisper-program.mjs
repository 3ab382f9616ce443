// whisper.cpp's own program, asked for tokens.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWav } from './audio.mjs';
import { whisperProgram } from './peers.mjs';

export const haveWhisperProgram = () => existsSync(whisperProgram);

/** As lorekeep recognises: this much silence before, and at least two seconds in all. */
const lead = 4000;
const shortest = 32_000;

/** Samples with the silence that lorekeep's recogniser adds. */
export function padded(samples, least = shortest) {
  const all = new Float32Array(Math.max(least, lead + samples.length));
  all.set(samples, lead);
  return all;
}

/**
 * @param options model, beams, threads, more: further arguments
 * @returns {found: [{text, tokens}], wall, cpu, timings?: {load, total}} found by clip; seconds of the process
 */
export async function byProgram(
  python,
  folder,
  clips,
  { model, beams = 1, threads = 2, timed = false, more = [] },
) {
  const files = clips.map((samples, n) => {
    const file = join(folder, `clip-${n}.wav`);
    writeFileSync(file, writeWav(padded(samples), 16_000));
    return file;
  });
  const search = beams > 1 ? ['-bs', String(beams)] : ['-bs', '1', '-bo', '5'];
  const args = ['-m', model, '-t', String(threads), '-l', 'en', '-sns', '-ojf', ...search, ...more];
  if (!timed) args.push('-np');
  const { said, ...reply } = await python.call('program', { args: [whisperProgram, ...args, ...files] });
  const found = files.map((file) => {
    // Tokens may be parts of characters, which are no UTF-8.
    const { transcription } = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
    const tokens = transcription
      .flatMap((segment) => segment.tokens.map(({ id }) => id))
      .filter((id) => id < firstSpecial);
    return {
      text: transcription
        .map(({ text }) => text)
        .join('')
        .trim(),
      tokens,
    };
  });
  return { found, ...reply, timings: timed ? timingsOf(said) : undefined };
}

/** The end of text of models that know English alone; what follows is special. */
const firstSpecial = 50_256;

/** The seconds that the program prints. */
function timingsOf(said) {
  const secondsOf = (what) => Number(new RegExp(`${what} time = +([\\d.]+) ms`).exec(said)?.[1]) / 1000;
  return { load: secondsOf('load'), total: secondsOf('total') };
}
