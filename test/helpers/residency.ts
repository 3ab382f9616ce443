import { writeFileSync } from 'node:fs';
import { vi } from 'vitest';
import { Catalog } from '../../src/models/catalog.js';
import type { ModelMemory } from '../../src/models/model-memory.js';
import type { Opener, OwnedModel } from '../../src/models/opener.js';
import { Residency } from '../../src/models/residency.js';
import type { Resident } from '../../src/models/resident.js';
import type { CatalogEntry } from '../../src/models/schema.js';

export type FakeOpener<Model extends OwnedModel> = Partial<Omit<Opener<Model>, 'entry'>> &
  Pick<Opener<Model>, 'open'>;

/** An owner of models whose files are absent: an opener makes them. `path`: of the catalog that it writes. */
export async function fakeResidency(
  path: string,
  names: readonly string[],
  { memory, placement }: { memory?: ModelMemory; placement?: 'vram' | 'auto' | undefined } = {},
) {
  const models = names.map((name) => ({
    name,
    model_type: 'llm',
    variants: [{ file: `${name}.gguf`, placement }],
  }));
  writeFileSync(path, JSON.stringify({ version: 1, models }));
  const log = { info: vi.fn(), error: vi.fn() };
  const residency = new Residency(await Catalog.load(path), { log, memory });
  const resident = <Model extends OwnedModel>(name: string, opener: FakeOpener<Model>): Resident<Model> =>
    residency.resident<Model>({
      entry: residency.catalog.find(name) as CatalogEntry,
      idleMs: 0,
      need: async () => ({}),
      ...opener,
    });
  return { residency, resident, log };
}
