import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stampAt, systemReason } from '../../lib/basics.js';
import { LorekeepError, Records, removeStrayFiles } from '../../lib/internal.js';
import { countReplacement } from './changes/count-replacement.js';
import { dropIfReplaced } from './changes/outdated-files.js';
import { checkDestinations, checkOwnDestination, makeFolderOf } from './destinations.js';
import { type EmbeddingCounts, embedRecords } from './embeddings.js';
import { PhaseReport, type PhaseTimes } from './progress.js';
import { indexedContent } from './records.js';
import { findSource, type OpenKnowledgeBaseOptions, type Source } from './resolve.js';
import { writeTextIndex } from './text-index.js';
import { buildVectors, saveVectors } from './vectors.js';

export interface KnowledgeBaseBuild extends EmbeddingCounts {
  records: number;
  /** Records that were linked into the index; the others kept the links of the index before. */
  linked: number;
  /** Absolute paths of the files that were written; current files are left out. */
  written: string[];
  /** Absolute path of the index; undefined when the config names none. */
  indexFile: string | undefined;
  times: PhaseTimes;
  /** One sentence per key of the config file that has no effect. */
  warnings: string[];
}

/**
 * Builds the files that the config names: `embeddings_file`, `index_file` and the text index. Each is written under a
 * temporary name and renamed, so that a reader sees the old file or the new one. Each identifies its sources, so that a
 * reader detects files of different builds after a kill. Temporary files of killed builds are removed.
 * @throws as openKnowledgeBase(); INVALID_ARGUMENT when the config names nothing to build, IO when a file cannot be written.
 */
export async function buildKnowledgeBase(
  configPath: string,
  options: OpenKnowledgeBaseOptions,
): Promise<KnowledgeBaseBuild> {
  const source = await findSource(configPath, options);
  const { files, log, onProgress, warnings } = source;
  const products = [files.embeddings, files.index, files.textIndex].filter((file) => file !== undefined);
  if (products.length === 0) throw nothingToBuild(source);
  await checkDestinations(source, ['textIndex', 'embeddings']);
  if (files.textIndex !== undefined) makeFolderOf(files.textIndex);
  await Promise.all([files.index, files.textIndex].map(checkPlace));
  await checkOwnDestination(source, 'index');
  await Promise.all(products.map(removeStrayFiles));
  const report = new PhaseReport(onProgress);
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const read = await stampAt(files.records);
    const built = await buildOnce(source, report);
    if (!(await dropIfReplaced(source, read)))
      return { ...built, indexFile: files.index, times: report.times, warnings };
    log.info({ file: files.records }, 'the records file was replaced meanwhile; the index is built again');
  }
  const reason = 'is replaced again and again while its index is built';
  throw LorekeepError.about('IO', { file: files.records, reason });
}

/** How often an index is built before the records file of that time is still there. */
const mostAttempts = 5;

async function buildOnce(
  source: Source,
  report: PhaseReport,
): Promise<Omit<KnowledgeBaseBuild, 'indexFile' | 'times' | 'warnings'>> {
  const { config, files, signal } = source;
  await using records = await report.run(
    'read',
    0,
    () => Records.read(files.records, { fields: config.fields, signal }),
    ({ size }) => size,
  );
  const former = await indexedContent(source);
  const { vectors, linked, counts } = await writeVectors(records, source, report);
  const wroteTexts =
    files.textIndex !== undefined && (await writeTextIndex(records, files.textIndex, source, report));
  await countReplacement(source, { former, content: records.content });
  const written = wroteTexts ? [...vectors, files.textIndex as string] : vectors;
  return { records: records.size, linked, ...counts, written };
}

/** Writes the embeddings file and the index, where there are to be any. */
async function writeVectors(
  records: Records,
  source: Source,
  report: PhaseReport,
): Promise<{ vectors: string[]; linked: number; counts: EmbeddingCounts }> {
  const { index, embeddings } = source.files;
  if (index === undefined) return { ...(await writeEmbeddings(records, source, report)), linked: 0 };
  const { vectors: built, written, ...counts } = await buildVectors(records, source, report);
  await using vectors = built;
  await saveVectors(vectors, records, source);
  const { linked } = vectors;
  return { vectors: written && embeddings !== undefined ? [embeddings, index] : [index], linked, counts };
}

async function writeEmbeddings(records: Records, source: Source, report: PhaseReport) {
  const { embeddings } = source.files;
  if (embeddings === undefined) return { vectors: [], counts: { embedded: 0, reused: 0, truncated: 0 } };
  const { rows, written, ...counts } = await embedRecords(records, source, report);
  await rows.close();
  return { vectors: written ? [embeddings] : [], counts };
}

/** Refuses early a file that could not be written at the end. The folder of the text index is made. @throws IO */
async function checkPlace(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  const refuse = (why: string) =>
    LorekeepError.about('IO', { file: path, reason: `cannot be written: ${why}` });
  const folder = dirname(path);
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw refuse('its folder does not exist');
  await access(folder, constants.W_OK).catch((cause: Error) => {
    throw refuse(`${systemReason(cause)} in its folder`);
  });
  const target = await stat(path).catch(() => undefined);
  if (target?.isDirectory()) throw refuse('it is a folder');
}

function nothingToBuild({ path }: Source): LorekeepError {
  const reason = 'is missing; it says where to build (embeddings_file and bm25_file are built, too)';
  return LorekeepError.about('INVALID_ARGUMENT', { file: path, field: 'index_file', reason });
}
