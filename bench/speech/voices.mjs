// Speech by espeak-ng, without the silence around it. Kept in .cache/bench/speech.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { atRate, frames, fromDecibels, readWav } from './audio.mjs';

/** Samples a second of everything that is mixed. */
export const mixRate = 48_000;

/** A clip's speech begins and ends where it is louder than this, relative to its loudest 10 ms. */
const floor = fromDecibels(-40);

export const haveVoices = () =>
  ['espeak-ng', 'sox'].every((program) => spawnSync(program, ['--version']).error === undefined);

/**
 * @param say voice as espeak-ng names it (`en-us+f3`), words a minute, pitch 0 to 99, text
 * @returns {samples, longestPause} samples at `rate`; the pause in ms
 */
export function spoken({ voice, speed = 160, pitch = 50, text }, rate = mixRate) {
  const wave = readWav(spokenFile({ voice, speed, pitch, text }));
  const loud = frames(wave.samples, wave.rate);
  const least = floor * Math.max(...loud);
  const heard = loud.map((value) => value >= least);
  const first = heard.indexOf(true);
  const last = heard.lastIndexOf(true);
  let [pause, longest] = [0, 0];
  for (const each of heard.slice(first, last + 1)) {
    pause = each ? 0 : pause + 10;
    longest = Math.max(longest, pause);
  }
  const frame = wave.rate / 100;
  const samples = wave.samples.slice(Math.round(first * frame), Math.round((last + 1) * frame));
  return { samples: atRate(samples, wave.rate, rate), longestPause: longest };
}

/** The WAV file that espeak-ng writes. */
export function spokenFile(say) {
  const name = createHash('sha256').update(JSON.stringify(say)).digest('hex').slice(0, 24);
  const path = cached('speech', `${name}.wav`);
  if (!existsSync(path)) {
    const { voice, speed, pitch, text } = say;
    const args = ['-v', voice, '-s', String(speed), '-p', String(pitch), '--stdout', text];
    const { stdout, status, stderr } = spawnSync('espeak-ng', args, { maxBuffer: 2 ** 28 });
    if (status !== 0) throw new Error(`espeak-ng: ${stderr}`);
    writeFileSync(path, stdout);
  }
  return readFileSync(path);
}
