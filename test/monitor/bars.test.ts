import { expect, it } from 'vitest';
import type { TurnRecord } from '../../src/operations/monitor/turn-record.js';
import { barsOf } from '../../web/monitor/bars.js';

const turn = (queuedMs: number, nodes: [type: string, ms: number, engine: object][]) =>
  ({
    status: 'completed',
    queuedMs,
    durationMs: nodes.reduce((sum, [, ms]) => sum + ms, 0),
    nodes: nodes.map(([type, duration_ms], n) => ({ node: `${n}`, type, duration_ms })),
    engine: nodes.map(([type, , engine], n) => ({
      node: `${n}`,
      type,
      diagnostics: { engine: { kind: type, ...engine } },
    })),
  }) as unknown as TurnRecord;

const shown = (record: TurnRecord) =>
  barsOf(record).map(({ label, start, length }) => [label, start, length]);

it('a search has bars of its embedding, filter, legs and fusion; legs begin together, after the wait for a thread', () => {
  const engine = { embed_ms: 4, search_ms: 10, filter_ms: 1, dense_ms: 5, lexical_ms: 2, fusion_ms: 1 };
  expect(shown(turn(2, [['retrieve', 15, engine]]))).toEqual([
    ['queue', 0, 2],
    ['0 (retrieve)', 2, 15],
    ['embedding', 2, 4],
    ['search', 6, 10],
    ['filter', 9, 1],
    ['by meaning', 10, 5],
    ['by words', 10, 2],
    ['fusion', 15, 1],
  ]);
});

it('a reply has bars of its prompt, its queue, prefill, decode and pauses, after the nodes before it', () => {
  const engine = { prepare_ms: 1, queue_ms: 2, prefill_ms: 30, decode_ms: 60, paused_ms: 7 };
  const record = turn(0, [
    ['retrieve', 5, {}],
    ['generate', 95, engine],
  ]);
  expect(shown(record)).toEqual([
    ['queue', 0, 0],
    ['0 (retrieve)', 0, 5],
    ['1 (generate)', 5, 95],
    ['prompt', 5, 1],
    ['queue', 6, 2],
    ['prefill', 8, 30],
    ['decode', 38, 60],
    ['pauses, inside the above', 5, 7],
  ]);
});

it('a node without numbers of the engine is one bar', () => {
  expect(shown({ ...turn(0, [['quote', 3, {}]]), engine: [] })).toEqual([
    ['queue', 0, 0],
    ['0 (quote)', 0, 3],
  ]);
});

it('a turn that failed or was cancelled has a bar of the node that did not end', () => {
  const record = turn(2, [['retrieve', 3, {}]]);
  const bars = [
    ['queue', 0, 2],
    ['0 (retrieve)', 2, 3],
  ];
  expect(shown({ ...record, durationMs: 53, status: 'failed' })).toEqual([
    ...bars,
    ['until it failed', 5, 50],
  ]);
  expect(shown({ ...record, durationMs: 53, status: 'cancelled' })).toEqual([
    ...bars,
    ['until it was cancelled', 5, 50],
  ]);
  expect(shown({ ...record, durationMs: 53 })).toEqual(bars);
});

it('a spoken turn begins with the time from the end of speech to its start', () => {
  const speech = { silence_ms: 420, recognition_ms: 200, wait_ms: 0 };
  expect(shown({ ...turn(2, [['canned_response', 1, {}]]), speech })).toEqual([
    ['silence after speech', 0, 420],
    ['recognition', 420, 200],
    ['end of the sentence', 620, 0],
    ['queue', 620, 2],
    ['0 (canned_response)', 622, 1],
  ]);
});
