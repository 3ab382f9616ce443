import { describe, expect, it } from 'vitest';
import { AgentHistory } from '../../src/agents/history.js';
import type { Holding } from '../../src/fairness/client-memory.js';
import { historyTurnBytes } from '../../src/fairness/estimates.js';
import { serverError } from '../../src/protocol/errors.js';
import { type HistoryTurn, historySchema, maxHistoryValues } from '../../src/protocol/history.js';

/** A budget of so many bytes, and how often it was asked for more. */
function budget(limit = Number.POSITIVE_INFINITY) {
  const state = { held: 0, asked: 0 };
  const holding: Holding = {
    add({ heap = 0 }) {
      state.asked++;
      if (state.held + heap > limit) throw serverError(6001, 'full', {} as never);
      state.held += heap;
    },
    settle({ heap = 0 }) {
      state.held = heap;
    },
    release() {
      state.held = 0;
    },
  };
  return { state, holding };
}

const turn = (n: number): HistoryTurn => ({ text: `text ${n}`, reply: 'a reply' });
const bytes = (turns: readonly HistoryTurn[]) =>
  turns.reduce((sum, one) => sum + historyTurnBytes(one).heap, 0);

describe('the history of an agent', () => {
  it('keeps the latest turns, and counts exactly those', () => {
    const { state, holding } = budget();
    const history = new AgentHistory(3, holding, [turn(1), turn(2)]);
    for (let n = 3; n <= 10; n++) history.add('t', turn(n));
    expect(history.turns).toEqual([turn(8), turn(9), turn(10)]);
    expect([history.forgotten, state.held, history.heap]).toEqual([7, bytes(history.turns), state.held]);
    history.release();
    expect(state.held).toBe(0);
  });

  it('forgets the oldest turns of a full budget, as many as it must, and asks for memory once', () => {
    const most = 2000;
    const old = Array.from({ length: most }, (_, n) => turn(n));
    const { state, holding } = budget(bytes(old));
    const history = new AgentHistory(10_000, holding, old);
    state.asked = 0;
    const long = { text: 'x'.repeat((bytes(old) - bytes([{ text: '', reply: '' }])) / 2), reply: '' };
    history.add('t', long);
    expect(history.turns.length).toBe(1);
    expect(history.turns[0] === long).toBe(true);
    expect([history.forgotten, state.asked]).toEqual([most, 1]);
    expect(state.held).toBe(bytes([long]));
    history.add('t', { text: 'x'.repeat(bytes(old)), reply: '' });
    expect([history.turns.length, history.forgotten, state.held]).toEqual([0, most + 2, 0]);
  });

  it('keeps the part of a reply that the user heard, without half a character', () => {
    const { state, holding } = budget();
    const history = new AgentHistory(3, holding);
    history.add('s1.t1', { text: 'hi', reply: 'one \u{1F41D} two' });
    expect(history.heard('s1.t2', 1)).toBe(false);
    expect(history.heard('s1.t1', 99)).toBe(true);
    expect(history.turns).toEqual([{ text: 'hi', reply: 'one \u{1F41D} two' }]);
    expect(history.heard('s1.t1', 5)).toBe(true);
    expect(history.turns).toEqual([{ text: 'hi', reply: 'one ', interrupted: true }]);
    expect([history.heap, state.held]).toEqual([bytes(history.turns), bytes(history.turns)]);
  });

  it('never exports more than can be imported', () => {
    const history = new AgentHistory(10_000, budget().holding);
    const action_result = Array.from({ length: 999 }, (_, n) => n);
    for (let n = 0; n < 120; n++) history.add('t', { ...turn(n), action_result });
    expect(history.forgotten).toBeGreaterThan(0);
    expect(historySchema.safeParse(history.export()).success).toBe(true);
  });

  it('counts the turns that it was given and does not keep', () => {
    const given = Array.from({ length: 9 }, (_, n) => turn(n));
    expect(new AgentHistory(4, budget().holding, given).forgotten).toBe(5);
    expect(new AgentHistory(0, budget().holding, given).forgotten).toBe(0);
  });

  it('never keeps a turn of more values than can be imported', () => {
    const history = new AgentHistory(9, budget().holding, [turn(1)]);
    const given = Array.from({ length: maxHistoryValues }, () => 1);
    history.add('t', { ...turn(2), action: { name: 'count', arguments: given } });
    expect([history.turns.length, history.forgotten]).toEqual([0, 2]);
  });

  it('takes arguments of an action of any number of values', () => {
    const history = new AgentHistory(9, budget().holding);
    history.add('t', {
      ...turn(1),
      action: { name: 'count', arguments: Array.from({ length: 5000 }, () => 1) },
    });
    expect(historySchema.safeParse(history.export()).success).toBe(true);
  });

  it.each([0, 1])('takes the result of the latest action, also if it keeps %i turns', (most) => {
    const history = new AgentHistory(most, budget().holding);
    expect(() => history.checkResult('open')).toThrow();
    history.add('t', { ...turn(1), action: { name: 'open', arguments: {} } });
    history.checkResult('open');
    history.add('t', turn(2));
    expect(() => history.checkResult('open')).toThrow();
    const restored = new AgentHistory(most, budget().holding, [
      { ...turn(1), action: { name: 'open', arguments: {} } },
    ]);
    restored.checkResult('open');
  });

  it('is refused when it has too many values, before its turns are looked at', () => {
    const action_result = Array.from({ length: 999 }, (_, n) => n);
    const turns = Array.from({ length: 101 }, () => ({ text: 1, reply: '', action_result }));
    const { error } = historySchema.safeParse({ version: 1, turns });
    expect(error?.issues).toMatchObject([
      { path: ['turns'], message: `at most ${maxHistoryValues} values are expected, and it has more` },
    ]);
  });
});
