import { describe, expect, test } from 'vitest';
import { Storage } from '../../lib/index.js';
import { random, testSeed } from '../helpers/random.js';
import { type SlowRecord, type SlowRequest, slowSearch } from '../helpers/slow-search.js';

const storages = 12;
const requestsPerStorage = 40;
const vocabulary = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath', 'inlet', 'jetty'];

/** The query lies a quarter of a degree off, so that two records are equally far only if their vectors are equal. */
const offset = 0.25;

const direction = (angle: number) => {
  const radians = (angle * Math.PI) / 180;
  return [Math.cos(radians), Math.sin(radians)];
};

function build(records: readonly SlowRecord[]) {
  return Storage.build(
    records.map(({ words, year }, i) => ({ id: `r${i}`, text: words.join(' '), metadata: { year } })),
    Float32Array.from(records.flatMap(({ angle }) => direction(angle))),
    2,
    { fields: [{ name: 'year', type: 'int', default: 0 }] },
  );
}

describe('the three modes give what scoring every record gives', () => {
  for (let round = 0; round < storages; round++) {
    const seed = testSeed + round;
    test(`random records and requests, seed ${seed}`, async () => {
      const next = random(seed);
      const below = (limit: number) => Math.floor(next() * limit);
      const words = (most: number) =>
        Array.from({ length: 1 + below(most) }, () => vocabulary[below(vocabulary.length)] as string);
      const records = Array.from({ length: 1 + below(60) }, () => ({
        angle: below(180),
        words: words(8),
        year: below(10),
      }));
      const storage = await build(records);
      for (let i = 0; i < requestsPerStorage; i++) {
        const request: SlowRequest = {
          mode: (['dense', 'lexical', 'hybrid'] as const)[i % 3] as SlowRequest['mode'],
          angle: below(180) + offset,
          words: next() < 0.1 ? ['unknown'] : words(4),
          topK: 1 + below(next() < 0.3 ? 200 : 12),
          threshold: next() < 0.5 ? next() * 2 : undefined,
          before: next() < 0.5 ? below(11) : undefined,
          candidates: 0,
          rrfK: 60,
        };
        request.candidates = Math.max(request.topK, 1 + below(80));
        await compare(storage, records, request);
      }
      await storage.close();
    });
  }
});

async function compare(storage: Storage, records: readonly SlowRecord[], request: SlowRequest) {
  const wanted = slowSearch(records, request);
  const { hits, plan } = await storage.search({
    mode: request.mode,
    vector: request.mode === 'lexical' ? undefined : Float32Array.from(direction(request.angle)),
    text: request.words.join(' '),
    topK: request.topK,
    threshold: request.mode === 'lexical' ? undefined : request.threshold,
    rrf: request.mode === 'hybrid' ? { candidates: request.candidates, k: request.rrfK } : undefined,
    filter: request.before === undefined ? undefined : { '<': [{ knowledge: 'year' }, request.before] },
  });
  const context = JSON.stringify(request);
  expect(
    hits.map(({ ordinal }) => ordinal),
    context,
  ).toEqual(wanted.map(({ ordinal }) => ordinal));
  for (const [position, hit] of hits.entries()) {
    const twin = wanted[position] as (typeof wanted)[number];
    const record = records[hit.ordinal] as SlowRecord;
    expect(hit.rank).toBe(position + 1);
    expect([hit.id, hit.text, hit.metadata]).toEqual([
      `r${hit.ordinal}`,
      record.words.join(' '),
      { year: record.year },
    ]);
    expect([hit.denseRank, hit.lexicalRank], context).toEqual([twin.denseRank, twin.lexicalRank]);
    for (const value of ['score', 'distance', 'bm25Score'] as const) {
      if (twin[value] === undefined) expect(hit[value]).toBeUndefined();
      else expect(hit[value], `${value} ${context}`).toBeCloseTo(twin[value], 5);
    }
  }
  const matched = records.filter(({ year }) => request.before === undefined || year < request.before).length;
  if (plan.dense) expect(plan.dense).toMatchObject({ path: 'exact', exact: true, matched });
  if (plan.lexical) expect(plan.lexical.tokens).toBe(request.words.length);
  if (request.mode === 'dense' && request.threshold === undefined) {
    expect(hits.length).toBe(Math.min(request.topK, matched));
  }
}
