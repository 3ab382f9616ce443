import { expect, it } from 'vitest';
import { Pauses } from '../../src/speech/pauses.js';

const settings = { threshold: 0.5, endThreshold: 0.35, minSpeechMs: 250 };

/** The begin of the pause, in windows, after windows of speech (S), of silence (.) and of something between (-). */
function pauseAfter(windows: string, more: object = {}): number | undefined {
  const pauses = new Pauses({ ...settings, ...more });
  pauses.next(Float32Array.from(windows, (window) => (window === 'S' ? 0.9 : window === '-' ? 0.4 : 0.1)));
  return pauses.beginMs === undefined ? undefined : pauses.beginMs / 32;
}

it('a pause begins with the first silence, and ends with speech', () => {
  expect(pauseAfter('SSSSSSSS')).toBeUndefined();
  expect(pauseAfter('SSSSSSSS--')).toBeUndefined();
  expect(pauseAfter('SSSSSSSS..--.')).toBe(8);
  expect(pauseAfter('SSSSSSSS...SSSS')).toBeUndefined();
  expect(pauseAfter('SSSSSSSS...SS.SS')).toBeUndefined();
  expect(pauseAfter('SSSSSSSS...SSSS..')).toBe(15);
});

it('a short sound in a pause does not move its begin', () => {
  for (const sound of ['S', 'SSS', 'S-S-', 'SS...SS...SS'])
    for (const after of ['', '...', '..........']) expect(pauseAfter(`SSSSSSSS...${sound}${after}`)).toBe(8);
  expect(pauseAfter('SSSSSSSS...SS', { minSpeechMs: 64 })).toBeUndefined();
});
