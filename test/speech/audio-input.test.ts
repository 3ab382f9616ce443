/** Audio that waits to be heard. */
import { expect, test } from 'vitest';
import { AudioInput } from '../../src/speech/audio-input.js';
import { random, testSeed } from '../helpers/random.js';

test('samples and marks come in the order in which they arrived, however they are taken', async () => {
  const draw = random(testSeed);
  const below = (count: number) => Math.floor(draw() * count);
  const input = new AudioInput('s16');
  const sent: (number | 'mark')[] = [];
  const heard: (number | 'mark')[] = [];
  let next = 0;
  let longest = 0;
  const take = async (most: number) => {
    const part = await input.next(most);
    if ('mark' in part) return void heard.push('mark');
    longest = Math.max(longest, part.samples.length / most);
    heard.push(...[...part.samples].map((sample) => sample * 32_768));
  };
  for (let round = 0; round < 1000; round++) {
    const bytes = new Int16Array(1 + below(round % 100 === 0 ? 3000 : 40));
    for (let at = 0; at < bytes.length; at++) bytes[at] = next++ % 30_000;
    sent.push(...bytes);
    input.append(new Uint8Array(bytes.buffer));
    for (let mark = below(3); mark > 0; mark--) {
      // A second mark at one place replaces the first.
      if (sent.at(-1) !== 'mark') sent.push('mark');
      input.mark(async () => {});
    }
    for (let taken = below(6); taken > 0 && (input.marks > 0 || !input.isEmpty); taken--)
      await take(1 + below(50));
  }
  while (input.marks > 0 || !input.isEmpty) await take(1 + below(5000));
  expect(longest).toBeLessThanOrEqual(1);
  expect(heard, `seed ${testSeed}`).toEqual(sent);
});

test('a mark after each of very many samples is passed without moving the others', async () => {
  const input = new AudioInput('f32');
  const count = 20_000;
  let passed = 0;
  for (let at = 0; at < count; at++) {
    input.append(new Uint8Array(4));
    input.mark(async () => void passed++);
  }
  expect(input.marks).toBe(count);
  while (input.marks > 0) {
    const part = await input.next(1000);
    if ('mark' in part) await part.mark();
  }
  expect([passed, input.isEmpty]).toEqual([count, true]);
});
