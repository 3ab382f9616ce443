import { join } from 'node:path';
import { expect, test } from 'vitest';

const gpu = join(import.meta.dirname, '..', 'gpu');
const { boundsOf, costOf } = await import(join(gpu, 'bounds.mjs'));
const { shapeOf } = await import(join(gpu, '..', 'generation', 'models.mjs'));

const ceilings = { bytesPerSecond: 4e12, operationsPerSecond: 6e14, launchMs: 0.001 };
const shape = shapeOf('Llama-3.1-8B');
const least = (row: object) =>
  Object.entries(boundsOf({ shape, ...row }, ceilings) as Record<string, number>).sort(
    ([, a], [, b]) => a - b,
  )[0];

test('the weights of a shape are those of its model', () => {
  // 8.03e9 parameters, less 0.53e9 of the token embeddings and the norms.
  expect(costOf(shape).weights / 1e9).toBeCloseTo(7.5, 1);
});

test('a stream is bounded by bandwidth, a prompt by arithmetic, a small model by launches', () => {
  expect(least({ batch: 1, before: 512, kind: 'decode' })?.[0]).toBe('bandwidth');
  expect(least({ batch: 512, before: 0, kind: 'prefill' })?.[0]).toBe('arithmetic');
  expect(least({ shape: shapeOf('SmolLM2-135M random'), batch: 1, before: 512, kind: 'decode' })?.[0]).toBe(
    'launches',
  );
});
