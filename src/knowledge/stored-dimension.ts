import { ChangeLog, inspectFile } from '../../lib/internal.js';
import type { KnowledgeBaseFiles } from './paths.js';

/** Returns the dimension of the vectors in a knowledge base's files; undefined if there are none, or they cannot be read. */
export async function storedDimension({
  index,
  embeddings,
  changes,
}: KnowledgeBaseFiles): Promise<number | undefined> {
  for (const file of [index, embeddings]) {
    if (file === undefined) continue;
    const found = await inspectFile(file, { verify: false }).catch(() => undefined);
    if (found?.dimension !== undefined) return found.dimension;
  }
  try {
    await using log = await ChangeLog.read(changes);
    return log.facts.dimension;
  } catch {
    return undefined;
  }
}
