import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { stampAt } from '../../../lib/basics.js';
import { type FileOwner, inspectFile, VectorIndex } from '../../../lib/internal.js';
import { ownerOf } from '../destinations.js';
import type { LogSource } from './base-log.js';

/** A fingerprint of no records. */
const outdated = '0000000000000001';

/** Takes all texts from an index or a text index: the next opening builds it again. @throws IO, CANCELLED, system errors */
export async function dropAllTexts(
  file: string,
  { kind, dimension = 0 }: Pick<Awaited<ReturnType<typeof inspectFile>>, 'kind' | 'dimension'>,
  { owner, signal }: { owner: FileOwner; signal: AbortSignal | undefined },
): Promise<void> {
  if (kind === 'text index') await rm(file, { force: true });
  if (kind !== 'index') return;
  const row = new Float32Array(dimension).fill(1);
  await using index = await VectorIndex.build(row, dimension, { kind: 'hnsw', signal });
  await index.save(file, { fingerprint: outdated, owner, signal });
}

/**
 * Returns whether the records file is no more the one that indexes were made of. Takes all texts from these then: they may have forgotten
 * ones. `read`: its stamp when it was read. @throws as dropAllTexts()
 */
export async function dropIfReplaced(
  source: Pick<LogSource, 'path' | 'files' | 'signal'>,
  read: string | undefined,
): Promise<boolean> {
  const { files, signal } = source;
  if ((await stampAt(files.records)) === read) return false;
  for (const file of [files.indexPlace, files.textIndex]) {
    if (file === undefined || !existsSync(file)) continue;
    const facts = await inspectFile(file, { verify: false, signal });
    await dropAllTexts(file, facts, { owner: ownerOf(source), signal });
  }
  return true;
}
