/** Stop texts in replies of remote models, which arrive in pieces of any length. */
import { expect, it } from 'vitest';
import { StopTexts } from '../../src/models/remote/stop-texts.js';
import { random, testSeed } from '../helpers/random.js';

it('a reply ends before the first stop text, however it is divided', () => {
  const next = random(testSeed);
  const textOf = (most: number) =>
    Array.from({ length: 1 + Math.floor(next() * most) }, () => 'ab'[Math.floor(next() * 2)]).join('');
  for (let n = 0; n < 3000; n++) {
    const stops = Array.from({ length: 1 + Math.floor(next() * 3) }, () => textOf(6));
    const pieces = Array.from({ length: 8 }, () => textOf(4));
    const whole = pieces.join('');
    const stopped = new StopTexts(stops);
    let passed = '';
    let read = 0;
    for (const piece of pieces) {
      if (stopped.found) break;
      read += piece.length;
      passed += stopped.push(piece);
      // Nothing that may be the beginning of a stop text is passed on.
      const held = whole.slice(passed.length, read);
      if (!stopped.found && held !== '') expect(stops.some((stop) => stop.startsWith(held))).toBe(true);
    }
    const begins = stops.map((stop) => whole.slice(0, read).indexOf(stop)).filter((begin) => begin >= 0);
    expect(stopped.found, `${JSON.stringify({ stops, pieces })}, seed ${testSeed}`).toBe(begins.length > 0);
    if (stopped.found) expect(passed).toBe(whole.slice(0, Math.min(...begins)));
    else expect(passed + stopped.finish()).toBe(whole);
  }
});

it('half a character waits for its other half', () => {
  const stopped = new StopTexts(['x']);
  expect(stopped.push('a\ud83d')).toBe('a');
  expect(stopped.push('\ude00')).toBe('😀');
});
