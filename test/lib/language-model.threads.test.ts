import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
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
