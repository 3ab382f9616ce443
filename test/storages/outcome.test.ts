import { describe, expect, it } from 'vitest';
import { wireOutcome } from '../../src/storages/wire.js';

const times = { filter: 1, dense: 2, lexical: 3, fusion: 4 };
const shown = { plan: { mode: 'dense' as const }, times, embedMs: 5, searchMs: 6 };
const outcome = { ...shown, version: 0 };

describe('the outcome of a search in protocol form', () => {
  it('has the floor of the cosines, if the search had one', async () => {
    const found = await wireOutcome({ hits: [], outcomes: [{ ...outcome, cosineFloor: 0.1 }] }, undefined);
    expect(found).toEqual({ hits: [], ...outcome, cosineFloor: 0.1 });
    expect(await wireOutcome({ hits: [], outcomes: [outcome] }, undefined)).not.toHaveProperty('cosineFloor');
  });

  it('has the plan of each named storage, and the times of all together', async () => {
    const outcomes = ['a', 'b'].map((storage) => ({ ...outcome, storage }));
    const { plans, times: all, embedMs, searchMs } = await wireOutcome({ hits: [], outcomes }, undefined);
    expect(plans?.map(({ storage }) => storage)).toEqual(['a', 'b']);
    expect({ all, embedMs, searchMs }).toEqual({
      all: { filter: 2, dense: 4, lexical: 6, fusion: 8 },
      embedMs: 10,
      searchMs: 12,
    });
  });
});
