import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { replyGrammar } from '../../src/agents/nodes/generate/constraints.js';
import type { GenerateParams } from '../../src/agents/nodes/generate/schema.js';
import { withSlices } from '../../src/base/waiting/next-slice.js';
import { toolGrammar } from '../../src/doors/openai/tools.js';

/** Each property takes some work of its own. */
const schema = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `p${n}`,
      { type: 'string', pattern: `^[a-z]{1,${n + 2}}x$`, maxLength: 40 },
    ]),
  ),
};

/** Work of a client whose slices are counted. */
async function slicesOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const nextSlice = async () => {
    count++;
    await nextTurn();
  };
  await withSlices({ sliceMs: 0.5, nextSlice }, work);
  return count;
}

it('JSON Schemas are converted in slices of the client', async () => {
  const params = { json_schema: schema } as unknown as GenerateParams;
  expect(await slicesOf(() => replyGrammar(params, 'node', undefined))).toBeGreaterThan(2);
  const tool = { name: 'a', description: '', parameters: schema, where: 'tools[0]' };
  const mode = { mode: 'required', parallel: false } as const;
  expect(await slicesOf(() => toolGrammar([tool], mode, undefined))).toBeGreaterThan(2);
});
