import { expect, test } from 'vitest';
import { runChild } from '../helpers/children.js';
import { tinyBert } from '../helpers/models.js';

const limitMs = 5;
/** A collection of garbage, or a neighbour in the caches, can fall into a tick: what counts is that it goes without. */
const attempts = 3;

test('building 50,000 vectors and embedding 1,000 texts holds the event loop no longer than 5 ms', async () => {
  const seen: unknown[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const child = await runChild('event-loop.mjs', [await tinyBert()]);
    expect(child).toMatchObject({ code: 0, output: '' });
    const held = child.messages[0] as { longest: number; ticks: number; indexed: number; embedded: number };
    expect(held).toMatchObject({ indexed: 50_000, embedded: 1000 });
    expect(held.ticks).toBeGreaterThan(100);
    if (held.longest <= limitMs) return;
    seen.push(held);
  }
  expect.fail(`held for ${JSON.stringify(seen)} ms`);
}, 300_000);
