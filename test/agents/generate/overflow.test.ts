import { describe, expect, it } from 'vitest';
import { LorekeepError } from '../../../lib/index.js';
import { leaveOut, withinBudget } from '../../../src/agents/nodes/generate/overflow.js';
import type { ChatMessage } from '../../../src/models/text-model.js';
import { FakeTextModel } from '../../helpers/fake-text-model.js';
import { fittedWith, recordsOf, turnsOf } from './fitting.js';

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

/** Takes a token more for each blank line, which texts alone lack. */
class JoiningModel extends FakeTextModel {
  override async render(messages: readonly ChatMessage[]) {
    const { messageTokens } = await super.render(messages);
    const joined = messageTokens.map(
      (tokens, index) => tokens + (messages[index]?.content.split('\n\n').length ?? 1) - 1,
    );
    return {
      tokens: new Int32Array(joined.reduce((sum, each) => sum + each, 1)),
      parts: [],
      messageTokens: joined,
    };
  }
}

/** Records what it is asked to render and count, and refuses to render long messages. */
class MeasuredModel extends FakeTextModel {
  maxMessages = 0;
  counted = 0;
  /** Characters counted, in all and at most at once. */
  characters = 0;
  longestCounted = 0;
  longestRendered = 0;
  constructor(readonly longest = Number.POSITIVE_INFINITY) {
    super();
  }

  override async countTokens(text: string) {
    this.counted++;
    this.characters += text.length;
    this.longestCounted = Math.max(this.longestCounted, text.length);
    return super.countTokens(text);
  }

  override async render(messages: readonly ChatMessage[]) {
    this.maxMessages = Math.max(this.maxMessages, messages.length);
    const length = messages.reduce((sum, { content }) => sum + content.length, 0);
    this.longestRendered = Math.max(this.longestRendered, length);
    if (length > this.longest)
      throw new LorekeepError('TEXT_TOO_LONG', 'the messages are too long', {
        tokens: length,
        limit: this.longest,
      });
    return super.render(messages);
  }
}

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

  it('leaves out turns without a reply, which templates of some models refuse', async () => {
    const history = [
      { text: 'one', reply: 'first' },
      { text: 'two', reply: '' },
      { text: 'three', reply: ' \n' },
      { text: 'four', reply: '', action: { name: 'wave', arguments: {} } },
    ];
    const { fitted } = await fittedWith({ context: 300, history, records: 0, message: 4 });
    expect(fitted.parts.history.map(({ text }) => text)).toEqual(['one', 'four']);
    for (const { content } of fitted.messages) expect(content.trim()).not.toBe('');
    const { fitted: last } = await fittedWith({ context: 300, history, records: 0, message: 4, turns: 1 });
    expect(last.parts.history.map(({ text }) => text)).toEqual(['four']);
  });

  it('keeps the records that fit out of many whose borders take tokens, too', async () => {
    const { fitted, limit } = await fittedWith({
      context: 300,
      history: 20,
      records: 2000,
      message: 4,
      model: new JoiningModel(),
    });
    const { parts, counted } = fitted;
    expect(parts.history).toHaveLength(0);
    expect(counted.tokens).toBeLessThanOrEqual(limit);
    expect(counted.tokens + 12 + 2).toBeGreaterThan(limit);
  });

  it('is not rendered with a history that is much too long, and counts no more of it than may fit', async () => {
    const model = new MeasuredModel();
    const { fitted, limit } = await fittedWith({
      context: 400,
      history: 9000,
      records: 2,
      message: 4,
      turns: 10_000,
      model,
    });
    expect(fitted.parts.knowledge).toHaveLength(2);
    expect(fitted.counted.tokens + 10).toBeGreaterThan(limit);
    expect(model.maxMessages).toBeLessThan(300);
    expect(model.counted).toBeLessThan(500);
  });

  it('is refused with its tokens if it is too long to be rendered', async () => {
    const model = new MeasuredModel(1000);
    const failing = fittedWith({ context: 132, history: 3, records: 3, message: 700, model });
    await expect(failing).rejects.toMatchObject({
      code: 4016,
      details: { tokens: expect.toSatisfy((tokens) => tokens >= 700), limit: 100 },
    });
  });

  /** Some five slices of text that is counted at once. */
  const few = 80_000;

  it.each([true, false])(
    'is refused without counting the rest of a message of megabytes (template: %s)',
    async (chatTemplate) => {
      const model = new MeasuredModel();
      Object.assign(model, { facts: { ...model.facts, chatTemplate } });
      const failing = fittedWith({ context: 132, history: 3, records: 3, message: 300_000, model });
      await expect(failing).rejects.toMatchObject({
        code: 4016,
        message: expect.stringMatching(/the prompt has at least \d+ tokens without history and knowledge/),
        details: { at_least: true, tokens: expect.toSatisfy((tokens) => tokens > 100), limit: 100 },
      });
      expect(model.characters).toBeLessThan(few);
      expect(model.longestCounted).toBeLessThanOrEqual(16_384);
      expect(model.longestRendered).toBe(0);
    },
  );

  it('has its exact tokens in the refusal if they were all counted', async () => {
    const failing = fittedWith({ context: 132, history: 0, records: 0, message: 400 });
    const error = await failing.catch((thrown) => thrown);
    expect(error.details).toEqual(expect.objectContaining({ tokens: 400 + 2 + 2 + 2 + 1 }));
    expect(error.details).not.toHaveProperty('at_least');
  });

  it('drops turns and records of megabytes without counting all of them', async () => {
    const long = 'word '.repeat(300_000);
    const model = new MeasuredModel();
    const old = Array.from({ length: 9 }, () => ({ text: long, reply: long }));
    const { fitted } = await fittedWith({
      context: 200,
      history: [...old, ...turnsOf(2)],
      records: [...recordsOf(2), ...recordsOf(9).map((record) => ({ ...record, text: long }))],
      message: 4,
      model,
    });
    expect(fitted.parts.knowledge).toEqual(recordsOf(2));
    expect(fitted.dropped).toEqual({ history_turns: 11, knowledge: 9 });
    const { fitted: without } = await fittedWith({
      context: 200,
      history: [...old, ...turnsOf(2)],
      records: 2,
      message: 4,
      model,
    });
    expect(without.dropped).toEqual({ history_turns: 9, knowledge: 0 });
    expect(model.characters).toBeLessThan(2 * few);
    expect(model.longestRendered).toBeLessThan(few);
  });

  it('keeps a text of many characters that has few tokens, and blanks that a template trims', async () => {
    for (const text of ['a'.repeat(50_000), `Hello${' '.repeat(50_000)}`]) {
      const { fitted } = await fittedWith({ context: 132, history: 3, records: 3, message: text });
      expect(fitted.counted.stopped).toBeUndefined();
      expect(fitted.parts.knowledge).toHaveLength(3);
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

  it('is counted in parts of which none is negative, though records alone have more tokens', async () => {
    class BorderModel extends FakeTextModel {
      override async countTokens(text: string) {
        return (await super.countTokens(text)) + (text === '' ? 0 : 2);
      }
    }
    for (const placement of ['system', 'before_user', 'template'])
      for (const system of ['', 'Be brief.']) {
        const { count } = await fittedWith({
          ...{ context: 1000, history: 1, records: 10, message: 3, system },
          ...{ knowledge: { placement, header: '' }, model: new BorderModel() },
        });
        const { total, ...tokens } = await count();
        const { system: own, history, knowledge, prompt, template } = tokens;
        expect(own + history + knowledge + prompt + template).toBe(total);
        expect(Math.min(own, history, knowledge, prompt), `${placement} ${system}`).toBeGreaterThanOrEqual(0);
      }
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
