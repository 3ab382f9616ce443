import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ChangeLog, identifyFile, Records } from '../../../lib/internal.js';
import { versionOfFile } from '../changes/base-log.js';
import { isEmptied } from '../changes/merge-files.js';
import { loadKnowledgeBaseConfig } from '../config.js';
import { fileNames, type IndexedFolder, indexFiles } from './place.js';

/**
 * Returns the number of records of an index with the changes since its last run; undefined if it was never changed.
 * @throws LorekeepError for files that cannot be read
 */
export async function liveRecords({ place, config: path }: IndexedFolder): Promise<number | undefined> {
  const file = join(place, fileNames.records);
  const changes = `${file}.changes`;
  if (!existsSync(changes)) return undefined;
  await using log = await ChangeLog.read(changes);
  const content = await identifyFile(file);
  const after = versionOfFile(log.facts, content) ?? log.facts.baseVersion;
  await using folded = await log.fold({ after, upTo: log.facts.version }, undefined);
  const { changed, removed } = folded.ids();
  if (isEmptied(content)) return changed.length;
  const { fields } = (await loadKnowledgeBaseConfig(path)).config;
  const mapped = await Records.fromIndexFile(join(place, indexFiles.index_file), file, { fields });
  await using records = mapped instanceof Records ? mapped : await Records.read(file, { fields });
  const touched = new Set([...changed.map(({ id }) => id), ...removed]);
  let untouched = records.size;
  if (touched.size > 0)
    for (let at = 0; at < records.size; at++) if (touched.has(records.idOf(at))) untouched--;
  return untouched + changed.length;
}
