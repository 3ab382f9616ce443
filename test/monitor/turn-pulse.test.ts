import { expect, it } from 'vitest';
import type { TurnFacts } from '../../src/agents/turn-facts.js';
import { RecentTurn, withoutTexts } from '../../src/operations/monitor/recent-turn.js';
import { TurnPulse } from '../../src/operations/monitor/turn-pulse.js';
import type { TurnRecord } from '../../src/operations/monitor/turn-record.js';
import { colourOf } from '../../web/monitor/node-colours.js';
import { everyTurn, matches } from '../../web/monitor/turn-matches.js';
import { factsOf, fieldsInWords, inWords, settingInWords, valueInWords } from '../../web/monitor/words.js';

const facts: TurnFacts = {
  turn: 's1.t1',
  agent: 's1.a1',
  status: 'completed',
  code: undefined,
  queuedMs: 0,
  durationMs: 10,
  nodes: [{ node: 'a', type: 'generate', duration_ms: 9, completion_tokens: 7 }],
  engine: () => [],
  skipped: 0,
  hits: 0,
  citations: 0,
  components: [],
  message: 'the secret question',
  reply: '',
};

it('the pulse counts the turns of the last hour by minute, and estimates durations within 10 %', () => {
  let now = 1_800_000_000_000;
  const pulse = new TurnPulse(() => now);
  for (let n = 1; n <= 100; n++) pulse.add({ ...facts, durationMs: n * 10 });
  now += 60_000;
  pulse.add({ ...facts, status: 'failed', durationMs: 100_000 });
  pulse.add({ ...facts, status: 'cancelled' });
  const { turns, failed, cancelled, tokens, p50, p95, minutes } = pulse.pulse;
  expect({ turns, failed, cancelled, tokens }).toEqual({ turns: 102, failed: 1, cancelled: 1, tokens: 714 });
  expect(p50).toBeGreaterThan(450);
  expect(p50).toBeLessThan(560);
  expect(p95).toBeGreaterThan(900);
  expect(p95).toBeLessThan(1060);
  expect(minutes).toHaveLength(60);
  expect(minutes.slice(-2)).toEqual([
    { turns: 100, failed: 0 },
    { turns: 2, failed: 1 },
  ]);
  now += 59 * 60_000;
  expect(pulse.pulse).toMatchObject({ turns: 2, failed: 1 });
  now += 60_000;
  expect(pulse.pulse).toMatchObject({ turns: 0, failed: 0, p50: 0, p95: 0 });
});

it('a failed turn says why and where in words; its message and the question only if texts may be shown', () => {
  const failed: TurnFacts = {
    ...facts,
    status: 'failed',
    code: 4003,
    failure: {
      name: 'InvalidParam',
      message: 'graph.nodes[0].params.filter: the secret question',
      path: 'graph.nodes[0].params.filter',
      node: { id: 'find', type: 'retrieve' },
    },
  };
  const record = (withTexts: boolean) => JSON.parse(new RecentTurn(1, failed, withTexts).json) as TurnRecord;
  expect(record(true).failure).toMatchObject(failed.failure as object);
  expect(record(true).message).toBe('the secret question');
  const forgotten = new RecentTurn(1, failed, true);
  expect(withoutTexts(forgotten.json)).not.toContain('secret');
  forgotten.dropTexts();
  expect(forgotten.json).not.toContain('secret');
  expect(forgotten.json).toContain('InvalidParam');
  const { failure } = record(false);
  expect(failure).toMatchObject({ name: 'InvalidParam', node: { id: 'find', type: 'retrieve' } });
  expect(failure?.meaning).toMatch(/param/);
  expect(failure?.remedy).not.toBe('');
  expect(JSON.stringify(record(false))).not.toContain('secret');
});

it('the list can be narrowed by status, session, duration and words', () => {
  const turn = {
    ...facts,
    turn: 's2.t9',
    status: 'failed',
    failure: { name: 'InvalidParam' },
  } as unknown as TurnRecord;
  expect(matches(turn, everyTurn)).toBe(true);
  expect(matches(turn, { ...everyTurn, status: 'failed', session: 's2', least: 10, words: 'invalidP' })).toBe(
    true,
  );
  expect(matches(turn, { ...everyTurn, status: 'completed' })).toBe(false);
  expect(matches(turn, { ...everyTurn, session: 's22' })).toBe(false);
  expect(matches(turn, { ...everyTurn, least: 11 })).toBe(false);
  expect(matches(turn, { ...everyTurn, words: 'nowhere' })).toBe(false);
});

it('a type of node has one colour, and facts are words with units', () => {
  expect(new Set(['retrieve', 'generate', 'quote', 'rerank'].map(colourOf)).size).toBe(4);
  expect(colourOf('a type of tomorrow')).toBe('n7');
  expect(inWords('longestWaitMs')).toBe('longest wait');
  expect(valueInWords('busyMs', 10_387.7)).toBe('10.39 s');
  expect(valueInWords('total_bytes', 2048)).toBe('2.0 KiB');
  expect(factsOf({ plan: { lexical: 0.30000000000000004, exact: true }, hits: 3, none: undefined })).toEqual([
    ['plan, by words', '0.3'],
    ['plan, exact', 'yes'],
    ['hits', '3'],
  ]);
});

it('fields of the config and of log lines are in words', () => {
  const settings = [null, '', [], {}, false, 9100, 'local', ['a', 1], { each: 2, all: null }];
  expect(settings.map(settingInWords)).toEqual([
    'not set',
    'empty',
    'none',
    'none',
    'no',
    '9100',
    'local',
    'a, 1',
    'each: 2, all: not set',
  ]);
  const line = {
    pid: 19_082,
    logFile: '/logs/a.log',
    waitMs: 2.5,
    tries: [1, 2],
    at: { port: 9100, tls: true },
  };
  expect(fieldsInWords(line)).toBe(
    'pid 19082; log file /logs/a.log; wait 2.50 ms; tries 1, 2; at, port 9100; at, tls yes',
  );
  expect(fieldsInWords({})).toBe('');
});
