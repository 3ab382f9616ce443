import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Generation,
  type GenerationResult,
  LanguageModel,
  scheduler,
  setThrottle,
} from '../../lib/index.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';

const promptTokens = 400;
const contextSize = 512;

/** A prompt of its own for each number, so that no cache helps. */
const prompt = (salt: number, tokens = promptTokens) =>
  Int32Array.from({ length: tokens }, (_, i) => 3 + ((i * 7 + salt * 31 + (i >> 3) * salt) % 250));

/** Records in `order` when the first piece of a reply and its end have come. */
async function follow(name: string, generation: Generation, order: string[]): Promise<GenerationResult> {
  let begun = false;
  for await (const _ of generation) {
    if (!begun) order.push(`${name} begins`);
    begun = true;
  }
  order.push(`${name} ends`);
  return generation.result;
}

describe.skipIf(!haveModels(stories))('requests on one language model', () => {
  let model: LanguageModel;
  let salt = 0;
  const generate = (maxTokens: number, request: object = {}) =>
    model.generate({ prompt: prompt(++salt), maxTokens, sampling: { temperature: 0 }, ...request });
  const chunks = async (request: object = {}) => (await generate(1, request).result).timing.prefillChunks;

  beforeAll(async () => {
    // One thread: beside other programs, two wait for each other.
    const threads = { threads: 1, batchThreads: 1 };
    model = await LanguageModel.load(realModel(stories), {
      ...threads,
      contextSize,
      kvCells: 8 * contextSize,
    });
  });
  afterEach(() => {
    scheduler.configure();
    setThrottle(0);
  });
  afterAll(() => model.close());

  it('a prompt is computed in chunks of its class', async () => {
    expect(await chunks({ class: 'interactive_visible' })).toBe(2); // 256
    expect(await chunks({ class: 'interactive_buffered' })).toBe(1); // 512
    expect(await chunks({ class: 'background' })).toBe(4); // 128
  });

  it('a deadline within the prompt tells its time, and the tokens that were computed', async () => {
    scheduler.configure({ interactiveVisible: { prefillQuantumTokens: 1 } });
    const { finish, usage, timing } = await generate(1, { deadlineMs: 1 }).result;
    expect(finish).toBe('deadline');
    expect(usage).toMatchObject({ prompt: promptTokens, cached: 0, completion: 0 });
    expect(usage.computed).toBeLessThan(promptTokens);
    expect(timing.queuedMs + timing.prefillMs).toBeGreaterThan(0.5);
    const whole = await generate(1).result;
    expect(whole.usage.computed + whole.usage.cached).toBe(promptTokens);
  });

  it('settings hold for the next request', async () => {
    scheduler.configure({ interactiveVisible: { prefillQuantumTokens: 100 } });
    expect(await chunks()).toBe(4);
    scheduler.configure({ prefillQuantumTokens: 50 });
    expect(await chunks({ class: 'background' })).toBe(8);
    scheduler.configure({ prefillQuantumTokens: 50, prefillYieldEnabled: false });
    expect(await chunks({ class: 'background' })).toBe(1);
    scheduler.configure({ prefillQuantumTokens: 50, enabled: false });
    expect(await chunks({ class: 'background' })).toBe(1);
  });

  it('a chunk is at most a batch', async () => {
    const small = await LanguageModel.load(realModel(stories), {
      batchSize: 64,
      threads: 1,
      batchThreads: 1,
    });
    const { result } = small.generate({ prompt: prompt(++salt), maxTokens: 1 });
    expect((await result).timing.prefillChunks).toBe(7);
    await small.close();
  });

  it('requests under way and waiting are counted by class', async () => {
    const idle = { running: 0, queued: 0 };
    const room = 8;
    const many = Array.from({ length: room + 3 }, () =>
      generate(contextSize - promptTokens, { class: 'background' }),
    );
    const counts = () => {
      const { running, queued, background, interactiveVisible, interactiveBuffered } = scheduler.stats();
      expect([interactiveVisible, interactiveBuffered]).toMatchObject([idle, idle]);
      expect(background).toMatchObject({ running, queued });
      return { running, queued };
    };
    await expect.poll(counts, { interval: 5, timeout: 60_000 }).toEqual({ running: room, queued: 3 });
    await Promise.all(many.map(({ result }) => result));
    await expect.poll(counts, { interval: 5, timeout: 60_000 }).toEqual(idle);
  });

  it('without the scheduler, requests run one after the other in order of arrival', async () => {
    scheduler.configure({ enabled: false });
    const order: string[] = [];
    const running = [
      follow('first', generate(30, { class: 'background' }), order),
      follow('second', generate(3, { class: 'interactive_visible' }), order),
      follow('third', generate(3, { class: 'interactive_buffered' }), order),
    ];
    await Promise.all(running);
    const ends = order.filter((event) => event.endsWith('ends'));
    expect(ends).toEqual(['first ends', 'second ends', 'third ends']);
    expect(order.indexOf('second begins')).toBeGreaterThan(order.indexOf('first begins'));
  });

  it('a short visible request overtakes long background ones', async () => {
    // Pauses hold the background, however late this thread asks for the visible reply. An arrival ends a pause.
    scheduler.configure({ background: { maxPauseMs: 100 } });
    setThrottle(1);
    const order: string[] = [];
    const background = [1, 2, 3].map((i) => follow(`b${i}`, generate(100, { class: 'background' }), order));
    const visible = follow('visible', generate(3, { prompt: prompt(++salt, 20) }), order);
    await visible;
    setThrottle(0);
    await Promise.all(background);
    expect(order.filter((event) => event.endsWith('ends'))[0]).toBe('visible ends');
  });

  it('every step is followed by a pause at full throttle, and by none without', async () => {
    const counted = async (level: number) => {
      setThrottle(level);
      const { pauses, pausedMs } = scheduler.stats();
      const { timing } = await generate(10).result;
      const after = scheduler.stats();
      return { pauses: after.pauses - pauses, pausedMs: after.pausedMs - pausedMs, own: timing.pausedMs };
    };
    scheduler.configure({ interactiveVisible: { maxPauseMs: 3 } });
    expect(await counted(0)).toEqual({ pauses: 0, pausedMs: 0, own: 0 });
    const { pauses, pausedMs, own } = await counted(1);
    expect(pauses).toBeGreaterThanOrEqual(10);
    expect(pausedMs).toBeGreaterThanOrEqual(pauses * 2.9);
    expect(own).toBeGreaterThan(0);
  });

  it('the scheduler counts tokens by class', async () => {
    // A reply ends before its last step is counted; the next request comes after that.
    await generate(1).result;
    const before = scheduler.stats();
    await generate(5, { class: 'background' }).result;
    await generate(1, { class: 'interactive_visible' }).result;
    const after = scheduler.stats();
    expect(after.background.prefillTokens - before.background.prefillTokens).toBe(promptTokens);
    expect(after.background.decodeTokens - before.background.decodeTokens).toBe(4); // the prompt gives the first
    expect(after.interactiveBuffered).toEqual(before.interactiveBuffered);
    expect(after.steps - before.steps).toBeGreaterThanOrEqual(4 + 4);
  });
});
