import { expect } from 'vitest';
import type { GenerateRequest, LanguageModel } from '../../lib/index.js';

/** Four requests fill the cache, and two of a better class take cells from them: all replies are as without. */
export async function continuesAfterParking(
  model: LanguageModel,
  request: (salt: number) => GenerateRequest,
) {
  const of = (salt: number, kind: GenerateRequest['class']) =>
    model.generate({ ...request(salt), class: kind });
  const salts = [1, 2, 3, 4];
  const alone: Int32Array[] = [];
  for (const salt of salts) alone.push((await of(salt, 'background').result).tokens);
  expect((await model.numbers()).parked).toBe(0);
  // On a busy machine, the four may have ended before the two come.
  for (let tries = 0; tries < 20 && (await model.numbers()).parked === 0; tries++) {
    const running = salts.map((salt) => of(salt, 'background'));
    await Promise.all(running.map((generation) => generation[Symbol.asyncIterator]().next()));
    const visible = [5, 6].map((salt) => of(salt, 'interactive_visible').result);
    for (const { finish } of await Promise.all(visible)) expect(finish).toBe('length');
    const results = await Promise.all(running.map((generation) => generation.result));
    expect(results.map((result) => result.tokens)).toEqual(alone);
  }
  expect((await model.numbers()).parked).toBeGreaterThan(0);
}
