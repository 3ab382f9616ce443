import { expect, it } from 'vitest';
import type { TurnFacts } from '../../src/agents/turn-facts.js';
import type { KeptTurn, TurnRecord } from '../../src/operations/monitor/turn-record.js';
import { TurnRing } from '../../src/operations/monitor/turn-ring.js';
import { random, testSeed } from '../helpers/random.js';

const facts: TurnFacts = {
  turn: 's1.t1',
  agent: 's1.a1',
  status: 'completed',
  code: undefined,
  queuedMs: 0,
  durationMs: 1,
  nodes: [],
  engine: () => [],
  skipped: 0,
  hits: 0,
  citations: 0,
  components: [{ _type: 'character_reply', node: 'a', text: 'an answer' }],
  message: 'a question',
  reply: 'an answer',
};

const add = (ring: TurnRing, turn: string, fields: Partial<TurnFacts> = {}) =>
  ring.add({ ...facts, turn, ...fields });
const read = (turns: readonly KeptTurn[]) =>
  turns.map(({ seq, json }) => {
    const turn = JSON.parse(json) as TurnRecord;
    expect(turn.seq).toBe(seq);
    return turn;
  });
const names = (turns: readonly KeptTurn[]) => read(turns).map(({ turn }) => turn);

it('a ring keeps the latest turns, without texts unless they are allowed', () => {
  const ring = new TurnRing(3, false);
  for (let n = 1; n <= 5; n++) add(ring, `t${n}`);
  expect(names(ring.after(0))).toEqual(['t3', 't4', 't5']);
  expect(names(ring.after(0, 2))).toEqual(['t3', 't4']);
  expect(names(ring.after(3, 1))).toEqual(['t4']);
  expect(names(ring.after(4))).toEqual(['t5']);
  expect(ring.after(9)).toHaveLength(0);
  expect(JSON.stringify(ring.after(0))).not.toContain('an answer');
  expect(new TurnRing(0, false).after(0)).toEqual([]);
});

it('a turn has a bounded size, whatever its components hold', () => {
  const ring = new TurnRing(1, true);
  const neighbours = Array.from({ length: 20 }, () => ({ text: 'y'.repeat(1_000_000) }));
  const wide = Array.from({ length: 100_000 }, (_, n) => n);
  let deep: object = {};
  for (let depth = 0; depth < 1000; depth++) deep = { deep };
  const hit = { _type: 'knowledge', text: 'a text', context: neighbours, metadata: { wide, deep } };
  add(ring, 't', { components: Array.from({ length: 90 }, () => hit) as never });
  const [turn] = read(ring.after(0));
  expect(turn?.shortened).toBe(true);
  expect(JSON.stringify(turn?.components)).toContain('a text');
  expect(JSON.stringify(turn).length).toBeLessThan(1_000_000);
});

it.each([200, 600])('a ring of %i turns has a bounded size: the oldest lose what they found', (size) => {
  const ring = new TurnRing(size, true);
  const hit = { _type: 'knowledge', text: 'x'.repeat(4000) };
  for (let n = 0; n < 700; n++) add(ring, `t${n}`, { components: Array(100).fill(hit) });
  const turns = read(ring.after(0));
  expect(turns.length).toBeGreaterThanOrEqual(size);
  expect(JSON.stringify(turns).length).toBeLessThan(6_000_000);
  expect(turns.at(-1)?.components).toHaveLength(100);
  expect(turns[0]).toMatchObject({ components: [], shortened: true, message: 'a question' });
});

it('long texts are cut, and a turn says so', () => {
  const ring = new TurnRing(1, true);
  const text = 'y'.repeat(10_000);
  add(ring, 't', { components: [{ _type: 'character_reply', node: 'a', text }] });
  const [turn] = read(ring.after(0));
  expect(JSON.stringify(turn?.components)).toContain('yyy');
  expect(JSON.stringify(turn).length).toBeLessThan(6000);
  expect(turn?.shortened).toBe(true);
});

/** A JSON value of a report, with the odd ones among them. */
function anyValue(draw: () => number, depth = 0): unknown {
  const pick = Math.floor(draw() * (depth < 3 ? 8 : 6));
  if (pick === 6) return Array.from({ length: Math.floor(draw() * 4) }, () => anyValue(draw, depth + 1));
  if (pick === 7)
    return Object.fromEntries(
      Array.from({ length: Math.floor(draw() * 4) }, (_, n) => [`key${n}`, anyValue(draw, depth + 1)]),
    );
  const numbers = [draw(), -1e300, 5e-324, 0, 4_294_967_296];
  return [numbers[Math.floor(draw() * 5)], 'text', '', true, false, null][pick];
}

for (const size of [1, 255, 256, 257, 288, 289, 700, 2000])
  it(`a ring of ${size} gives back every value of a turn as a ring of objects would, seed ${testSeed}`, () => {
    const draw = random(testSeed + size);
    const ring = new TurnRing(size, false);
    const twin: unknown[] = [];
    for (let seq = 1; seq <= 3 * size + 300; seq++) {
      const nodes = Array.from({ length: Math.floor(draw() * 3) }, (_, n) => ({
        ...{ node: `n${n}`, type: 'retrieve', duration_ms: draw(), plan: anyValue(draw) },
        ...{ relevance: undefined, dropped: anyValue(draw) },
      }));
      const engine = nodes.map(({ node, type }) => ({
        ...{ node, type },
        diagnostics: {
          engine: { kind: 'retrieval', tokens: Math.floor(draw() * 100), more: anyValue(draw) },
        },
      }));
      const failed = draw() < 0.1 ? ({ status: 'failed', code: 1009 } as const) : {};
      const numbers = { queuedMs: draw(), durationMs: 1000 * draw(), nodes };
      add(ring, `t${seq}`, { ...numbers, ...failed, engine: () => engine });
      twin.push({ seq, turn: `t${seq}`, status: 'completed', ...failed, ...numbers, engine });
    }
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
    const kept = read(ring.after(0));
    expect(kept.length).toBe(size);
    expect(kept).toMatchObject(plain(twin.slice(-size)));
    const from = twin.length - Math.ceil(size / 2);
    expect(read(ring.after(from, 3))).toMatchObject(plain(twin.slice(from, from + 3)));
  });
