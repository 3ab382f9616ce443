import { describe, expect, it } from 'vitest';
import { leaveOut, withinBudget } from '../../../src/agents/nodes/generate/overflow.js';
import { FakeTextModel } from '../../helpers/fake-text-model.js';
import { fittedWith, turnsOf } from './fitting.js';

describe('what a prompt leaves out', () => {
  const cases: [
    history: number[],
    knowledge: number[],
    excess: number,
    kept: { history: number; knowledge: number } | undefined,
  ][] = [
    [[10, 10, 10], [20, 20], 1, { history: 2, knowledge: 2 }],
    [[10, 10, 10], [20, 20], 10, { history: 2, knowledge: 2 }],
    [[10, 10, 10], [20, 20], 11, { history: 1, knowledge: 2 }],
    [[10, 10, 10], [20, 20], 30, { history: 0, knowledge: 2 }],
    [[10, 10, 10], [20, 20], 31, { history: 0, knowledge: 1 }],
    [[10, 10, 10], [20, 20], 70, { history: 0, knowledge: 0 }],
    [[10, 10, 10], [20, 20], 71, undefined],
    [[], [5, 50, 5], 1, { history: 0, knowledge: 2 }],
    [[], [5, 50, 5], 6, { history: 0, knowledge: 1 }],
    [[100], [], 1, { history: 0, knowledge: 0 }],
    [[], [], 1, undefined],
  ];
  it.each(cases)('of turns %j and records %j, %i tokens too many: %j', (history, knowledge, excess, kept) => {
    expect(leaveOut({ history, knowledge }, excess)).toEqual(kept);
  });

  it.each([
    [[10, 10, 10], 30, 3],
    [[10, 10, 10], 29, 2],
    [[10, 10, 10], 9, 0],
    [[], 5, 0],
  ])('records of %j tokens within %i: the first %i', (sizes, limit, count) => {
    expect(withinBudget(sizes, limit)).toBe(count);
  });
});

/** Each word is a token; a message has 2 more, a prompt 1. A turn of history has 10, a record 12. */
describe('a prompt that does not fit', () => {
  const table = [
    { name: 'everything fits', context: 200, history: 3, records: 3, kept: [3, 3] },
    { name: 'a long history loses its oldest turns', context: 126, history: 9, records: 1, kept: [6, 1] },
    { name: 'all history goes before any record', context: 94, history: 9, records: 4, kept: [0, 3] },
    { name: 'many records lose the last', context: 106, history: 0, records: 30, kept: [0, 4] },
    {
      name: 'a long message leaves nothing else',
      context: 138,
      history: 9,
      records: 9,
      message: 90,
      kept: [0, 0],
    },
  ];
  it.each(table)('$name', async ({ context, history, records, message = 4, kept }) => {
    const { fitted, limit } = await fittedWith({ context, history, records, message });
    const { parts, dropped, counted, messages } = fitted;
    expect([parts.history.length, parts.knowledge.length]).toEqual(kept);
    expect(dropped).toEqual({
      history_turns: history - parts.history.length,
      knowledge: records - parts.knowledge.length,
    });
    expect(counted.tokens).toBeLessThanOrEqual(limit);
    // The newest turns, the best records, and nothing cut.
    expect(parts.history).toEqual(turnsOf(history).slice(history - parts.history.length));
    const text = messages.map(({ content }) => content).join('\n');
    for (const turn of parts.history) expect(text).toContain(turn.reply);
    for (const { rank, text: record } of parts.knowledge) {
      expect(rank).toBeLessThanOrEqual(parts.knowledge.length);
      expect(text).toContain(record);
    }
  });

  it('leaves out no more than it must', async () => {
    for (let context = 70; context < 260; context += 7) {
      const { fitted, limit } = await fittedWith({ context, history: 8, records: 5, message: 4 });
      const { parts, counted } = fitted;
      if (parts.history.length < 8 && parts.knowledge.length === 5) {
        expect(counted.tokens + 10, `context ${context}`).toBeGreaterThan(limit);
      }
      if (parts.knowledge.length < 5 && parts.knowledge.length > 0) {
        expect(parts.history).toHaveLength(0);
        expect(counted.tokens + 12, `context ${context}`).toBeGreaterThan(limit);
      }
    }
  });

  it.each([
    { name: 'a message that is too long', message: 500, system: 'Be brief.' },
    { name: 'a system text that is too long', message: 4, system: 'word '.repeat(500) },
  ])('is refused with both numbers for $name', async ({ message, system }) => {
    const failing = fittedWith({ context: 132, history: 3, records: 3, message, system });
    await expect(failing).rejects.toMatchObject({
      code: 4016,
      details: { tokens: expect.toSatisfy((tokens) => tokens > 500), limit: 100, context: 132, reserved: 32 },
    });
  });

  it('never has more tokens of knowledge than the budget for it', async () => {
    const { fitted } = await fittedWith({
      context: 900,
      history: 2,
      records: 10,
      message: 4,
      knowledge: { max_tokens: 25 },
    });
    expect(fitted.parts.knowledge.map(({ rank }) => rank)).toEqual([1, 2]);
    expect(fitted.dropped).toEqual({ history_turns: 0, knowledge: 8 });
  });

  it('has at most the turns of history that the node asks for', async () => {
    const { fitted } = await fittedWith({ context: 900, history: 9, records: 0, message: 4, turns: 2 });
    expect(fitted.parts.history).toEqual(turnsOf(9).slice(-2));
    expect(fitted.dropped.history_turns).toBe(0);
  });

  it('is counted without a chat template, too', async () => {
    const model = new FakeTextModel({ facts: { chatTemplate: false } });
    const { fitted, limit } = await fittedWith({ context: 85, history: 9, records: 1, message: 4, model });
    expect(fitted.counted.request.prompt).toContain('message');
    expect(fitted.parts.history.length).toBeGreaterThan(0);
    expect(fitted.parts.history.length).toBeLessThan(9);
    expect(fitted.counted.tokens).toBeLessThanOrEqual(limit);
  });
});
