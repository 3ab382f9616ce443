import type { EmbeddingModels } from '../catalog/embedding-models.js';
import type { CatalogEntry } from '../catalog/schema.js';
import { fail } from '../protocol/errors.js';
import { didYouMean, nearestName } from '../schema/nearest.js';

/** Names that a message lists; `details` has them all. */
const longestList = 8;

/** The catalog's entry of the embedding model that a storage names in the field `where`. @throws InvalidEmbeddedStringStorageData */
export function requireEmbeddingModel(models: EmbeddingModels, name: string, where: string): CatalogEntry {
  const entry = models.find(name);
  if (entry !== undefined) return entry;
  const known = models.names;
  const nearest = nearestName(name, known);
  const shown = JSON.stringify(name.slice(0, 128));
  const has =
    known.length === 0
      ? ''
      : `; it has ${known
          .slice(0, longestList)
          .map((each) => JSON.stringify(each))
          .join(', ')}`;
  const hint = nearest === undefined ? has : didYouMean(nearest);
  return fail(8003, `${where}: the catalog has no embedding model ${shown}${hint}`, {
    path: where,
    known,
    nearest,
  });
}
