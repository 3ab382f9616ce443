import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { LanguageModel, scheduler, setThrottle } from '../../lib/index.js';
import { writeDecoderModel } from '../helpers/models.js';

/** Nice values of the threads of this process, by id. */
function niceValues(): Map<string, number> {
  const values = new Map<string, number>();
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      // Behind the name, which may have blanks: state, then the 16 fields before nice.
      values.set(thread, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
    } catch {} // ended meanwhile
  }
  return values;
}

describe.skipIf(process.platform !== 'linux')('the threads of a language model', () => {
  it.each(['decoder', 'llama.cpp'] as const)('have the priority of the program with %s', async (runtime) => {
    const path = await writeDecoderModel(`threads-${runtime}.gguf`, { pooling: null });
    const before = niceValues();
    const own = before.get(String(process.pid)) as number;
    const model = await LanguageModel.load(path, { runtime, threads: 4, batchThreads: 4 });
    const { tokens } = await model.generate({
      prompt: Int32Array.from({ length: 60 }, (_, i) => 3 + i),
      maxTokens: 4,
    }).result;
    expect(tokens.length).toBeGreaterThan(0);
    const started = [...niceValues()].filter(([thread]) => !before.has(thread));
    expect(started.length).toBeGreaterThanOrEqual(3);
    expect(started.filter(([, nice]) => nice > own)).toEqual([]);
    await model.close();
  });
});

describe('a throttle', () => {
  afterEach(() => setThrottle(0));

  it('takes threads away as its level rises, and gives them back', async () => {
    const path = await writeDecoderModel('throttled.gguf', { pooling: null });
    const model = await LanguageModel.load(path, { runtime: 'decoder', threads: 4, batchThreads: 4 });
    const used = async (level: number) => {
      setThrottle(level);
      await model.generate({ prompt: 'a b c', maxTokens: 3 }).result;
      // A reply ends before its last step is reported; the next request comes after that.
      await model.generate({ prompt: 'd', maxTokens: 1 }).result;
      const { threads, threadReason } = scheduler.stats();
      return [threads, threadReason];
    };
    scheduler.configure({ interactiveVisible: { maxPauseMs: 0 } });
    const counts = [];
    for (const level of [0, 0.25, 0.5, 0.75, 1, 0]) counts.push(await used(level));
    const fewer = [3, 3, 2, 1].map((threads) => [threads, 'throttle']);
    expect(counts).toEqual([[4, 'all'], ...fewer, [4, 'all']]);
    scheduler.configure({ enabled: false });
    expect(await used(1)).toEqual([4, 'all']);
    scheduler.configure();
    await model.close();
  });

  it('leaves a deterministic model of llama.cpp its threads', async () => {
    const path = await writeDecoderModel('fixed.gguf', { pooling: null });
    const options = { runtime: 'llama.cpp', deterministic: true, threads: 2, batchThreads: 2 } as const;
    const model = await LanguageModel.load(path, options);
    setThrottle(1);
    await model.generate({ prompt: 'a b c', maxTokens: 3 }).result;
    await model.generate({ prompt: 'd', maxTokens: 1 }).result;
    expect(scheduler.stats()).toMatchObject({ threads: 2, threadReason: 'all' });
    await model.close();
  });
});
