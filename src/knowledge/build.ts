import { LorekeepError, Records } from '../../lib/index.js';
import { indexFingerprint } from './model.js';
import { PhaseReport, type PhaseTimes } from './progress.js';
import { findSource, type OpenKnowledgeBaseOptions, type Source } from './source.js';
import { buildVectors } from './vectors.js';
import { writeWords } from './words.js';

export interface KnowledgeBaseBuild {
  records: number;
  /** Texts given to the model. */
  embedded: number;
  /** Records whose embedding was there already. */
  reused: number;
  /** Absolute paths of the files that were written; a text index that was right already is not among them. */
  written: string[];
  /** Absolute path of the index; undefined when the config names none. */
  indexFile: string | undefined;
  times: PhaseTimes;
  /** One sentence per key of the config file that has no effect. */
  warnings: string[];
}

/**
 * Builds the files that opening wants to find: embeds the records, writes `index_file` and, where the config has one, the
 * text index. Each is written beside its place and renamed, so that a reader sees the old file or the new one; each says
 * what it was made from, so that a build that is stopped between two of them leaves nothing that is wrong.
 * @throws as openKnowledgeBase(); INVALID_ARGUMENT when the config names nothing to build, IO when a file cannot be written.
 */
export async function buildKnowledgeBase(
  configPath: string,
  options: OpenKnowledgeBaseOptions,
): Promise<KnowledgeBaseBuild> {
  const source = await findSource(configPath, options);
  const { config, files, signal, onProgress, warnings } = source;
  const indexFile = files.index;
  if (indexFile === undefined) throw nothingToBuild(source);
  const report = new PhaseReport(onProgress);
  await using records = await report.run(
    'read',
    0,
    () => Records.read(files.records, { fields: config.fields, signal }),
    ({ size }) => size,
  );
  const written = [await writeIndex(records, indexFile, source, report)];
  if (files.words !== undefined && (await writeWords(records, files.words, source, report))) {
    written.push(files.words);
  }
  const { size } = records;
  const { times } = report;
  return { records: size, embedded: size, reused: 0, written, indexFile, times, warnings };
}

async function writeIndex(
  records: Records,
  path: string,
  source: Source,
  report: PhaseReport,
): Promise<string> {
  await using vectors = await buildVectors(records, source, report);
  const { model, signal } = source;
  await vectors.save(path, { fingerprint: indexFingerprint(records, model), signal });
  return path;
}

function nothingToBuild({ path }: Source): LorekeepError {
  const message = `${path}: index_file: is missing; it says where to build`;
  return new LorekeepError('INVALID_ARGUMENT', message, { file: path, path: 'index_file' });
}
