import { expect, it, vi } from 'vitest';
import { withSlices } from '../../src/base/waiting/next-slice.js';
import type { SearchableStorage } from '../../src/knowledge/index.js';
import { retrievalSchema } from '../../src/protocol/retrieval.js';
import { type SearchedStorage, type SearchResources, StorageSearch } from '../../src/storages/search.js';

const places = { text: 'text', fields: '', invalid: 1004 } as const;

it('compiles a long filter in a turn of the client, and once for a storage of many names', async () => {
  const compiled: string[] = [];
  const storageOf = (name: string) => {
    const check = () => {
      compiled.push(name);
      return {};
    };
    return { prepare: check, defaults: { topK: 5 }, size: 1, bytes: 1 } as unknown as SearchableStorage;
  };
  const named = ['a', 'b'].flatMap((name) => {
    const storage = storageOf(name);
    return [1, 2, 3].map(
      (n): SearchedStorage => ({ storage, place: { where: 'names', value: name }, name: `${name}${n}` }),
    );
  });
  const filter = { in: [{ knowledge: 'year' }, Array.from({ length: 100 }, (_, n) => n)] };
  const turn = vi.fn(async () => void compiled.push('turn'));
  await withSlices({ nextSlice: turn, sliceMs: 1 }, () =>
    StorageSearch.prepare(
      named as [SearchedStorage],
      retrievalSchema.parse({ filter }),
      places,
      {} as SearchResources,
    ),
  );
  expect(compiled).toEqual(['turn', 'a', 'turn', 'b']);
});
