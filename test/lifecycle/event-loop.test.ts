import { expect, test } from 'vitest';
import { runChild } from '../helpers/children.js';
import { tinyBert } from '../helpers/models.js';
import { repetitions } from '../helpers/repetitions.js';

const vectors = repetitions('VECTORS', 10_000, 50_000);

test('the event loop turns while many vectors are built and 1,000 texts are embedded', async () => {
  const child = await runChild('event-loop.mjs', [await tinyBert(), `${vectors}`]);
  expect(child).toMatchObject({ code: 0, output: '' });
  const held = child.messages[0] as Held;
  expect(held).toMatchObject({ indexed: vectors, embedded: 1000 });
  expect(held.ticks).toBeGreaterThan(100);
  // No limit in ms, since processors differ: all of this work on the event loop would be a share near 1.
  expect(held.longestMs / held.processorMs).toBeLessThan(0.01);
}, 300_000);

interface Held {
  longestMs: number;
  ticks: number;
  processorMs: number;
  indexed: number;
  embedded: number;
}
