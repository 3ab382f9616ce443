import { dirname } from 'node:path';
import { fileSizes } from '../../../lib/internal.js';
import { forgottenIn } from '../folder/forgotten.js';
import { keptEmbeddingsIn } from '../kept-embeddings.js';
import type { LogSource } from './base-log.js';
import { forgottenBatchesOf } from './forgotten-batches.js';
import { wordsOf } from './log-file.js';
import type { BaseDisk } from './public.js';

/** The disk behind a base. It holds nothing of the base itself. `path`, `files`: by their paths. */
export function baseDisk({ path, files }: Pick<LogSource, 'path' | 'files'>): BaseDisk {
  const { records, indexPlace, textIndex, embeddings, changes } = files;
  const place = dirname(path);
  const kept = keptEmbeddingsIn(place);
  const named = [records, indexPlace, textIndex, embeddings, changes].filter((file) => file !== undefined);
  const grown = [...named, forgottenBatchesOf(changes), wordsOf(changes), forgottenIn(place)];
  return {
    records,
    bytes: async () => (await fileSizes(grown, kept)).reduce((sum, size) => sum + size, 0),
  };
}
