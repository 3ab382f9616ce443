import { type LorekeepError, Records, TextIndex } from '../../lib/internal.js';
import { loadKnowledgeBaseConfig } from './config.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import { checkDestinations } from './destinations.js';
import type { TextEmbedder } from './embedder.js';
import { embedRows, matchEmbeddings } from './embeddings.js';
import { isFileError } from './file-error.js';
import { type KnowledgeModel, modelResolver, recordsError, withModel } from './model.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import { besideConfig, type KnowledgeBaseFiles, resolveFiles } from './paths.js';
import { buildCommandOf, configArgument, findModel, type OpenKnowledgeBaseOptions } from './resolve.js';
import { reuseTextIndex } from './text-index.js';
import { isOutdated, openVectors, vectorsWarnings } from './vectors.js';

export interface KnowledgeBaseFinding {
  /** error: the knowledge base cannot be opened. warning: it can, but something has no effect or takes long. */
  severity: 'error' | 'warning';
  /** A code of LorekeepError, NO_EFFECT (a key without effect) or STALE (a file that opening would rebuild). */
  code: string;
  /** Absolute path of the file. */
  file: string;
  /** Names file, place and expectation, in a line for each mistake. */
  message: string;
  /** Number of mistakes if there may be several; 21 of records stand for more than 20. */
  mistakes?: number | undefined;
}

export interface KnowledgeBaseCheck {
  /** Whether there is no error among the findings. */
  ok: boolean;
  findings: KnowledgeBaseFinding[];
  /** Number of records; undefined if they cannot be read. */
  records: number | undefined;
}

export interface CheckKnowledgeBaseOptions extends Pick<OpenKnowledgeBaseOptions, 'signal' | 'resolvePath'> {
  /** Provides the model that the config names. Without it, checks that need the model are skipped. */
  models?: OpenKnowledgeBaseOptions['models'] | undefined;
}

const known: OptionNames<CheckKnowledgeBaseOptions> = { models: true, signal: true, resolvePath: true };

interface Checked {
  path: string;
  buildCommand: string;
  config: KnowledgeBaseConfig;
  files: KnowledgeBaseFiles;
  model: KnowledgeModel | undefined;
  signal: AbortSignal | undefined;
  findings: KnowledgeBaseFinding[];
}

/**
 * Makes every check of opening, continues after a mistake, and writes nothing: config, model, records, index file, text
 * index. Without an index file, texts that are not in the embeddings file are embedded, because only that shows whether the
 * model accepts them. @throws INVALID_ARGUMENT for the options, CANCELLED, OUT_OF_MEMORY; defects of the files are findings
 */
export async function checkKnowledgeBase(
  configPath: string,
  options: CheckKnowledgeBaseOptions = {},
): Promise<KnowledgeBaseCheck> {
  const path = configArgument(configPath);
  checkOptionNames(options, known, 'checkKnowledgeBase');
  const findings: KnowledgeBaseFinding[] = [];
  const { signal, models } = options;
  const loaded = await found(findings, path, () => loadKnowledgeBaseConfig(path));
  if (loaded === undefined) return { ok: false, findings, records: undefined };
  const { config, warnings } = loaded;
  for (const message of warnings)
    findings.push({ severity: 'warning', code: 'NO_EFFECT', file: path, message });
  const model =
    models && (await found(findings, path, () => findModel({ path, config }, modelResolver(models))));
  const files = await found(findings, path, async () => {
    const resolved = await resolveFiles(config, options.resolvePath ?? besideConfig(path));
    await checkDestinations({ path, config, files: resolved }, ['textIndex', 'embeddings']);
    return resolved;
  });
  const buildCommand = buildCommandOf(path, models);
  const checked = { path, buildCommand, config, model, signal, findings };
  const records = files && (await checkFiles({ ...checked, files }));
  const ok = findings.every(({ severity }) => severity !== 'error');
  return { ok, findings, records };
}

/** Returns the number of records if they can be read. */
async function checkFiles(checked: Checked): Promise<number | undefined> {
  const { config, files, signal, findings } = checked;
  const { fields } = config;
  await using records = await found(findings, files.records, () =>
    Records.read(files.records, { fields, signal }),
  );
  if (records === undefined) return undefined;
  await checkVectors(records, checked);
  await checkWords(records, checked);
  return records.size;
}

async function checkVectors(records: Records, checked: Checked): Promise<void> {
  const { config, files, model, signal, findings } = checked;
  if (model === undefined) return;
  const { index } = files;
  if (index === undefined) return checkTexts(records, { ...checked, model });
  const { buildCommand } = checked;
  const opening = openVectors(records, index, { buildCommand, config, model, signal });
  const opened = await found(findings, index, () =>
    opening.catch((error: unknown) => {
      if (isOutdated(error)) return error;
      throw error;
    }),
  );
  if (opened === undefined) return;
  if (opened instanceof Error) {
    const message = `${index}: the next opening builds the index again: ${opened.detail.reason}`;
    findings.push({ severity: 'warning', code: 'STALE', file: index, message });
    return checkTexts(records, { ...checked, model });
  }
  for (const message of await vectorsWarnings(opened, { config, files, pathOf: (name) => name })) {
    findings.push({ severity: 'warning', code: 'NO_EFFECT', file: index, message });
  }
  await opened.close();
}

/** Embeds every text that is missing from the embeddings file. */
async function checkTexts(records: Records, checked: Checked & { model: KnowledgeModel }): Promise<void> {
  const { config, files, model, signal, findings } = checked;
  await using rows = await matchEmbeddings(records, { config, model, files, signal });
  const { refusal, missing } = rows;
  if (files.embeddings !== undefined && refusal !== undefined) {
    const message = `${files.embeddings}: the next opening embeds ${missing} texts: ${refusal}`;
    findings.push({ severity: 'warning', code: 'STALE', file: files.embeddings, message });
  }
  const truncate = config.long_text === 'truncate';
  const prefix = model.documentPrefix;
  const embed = (native: TextEmbedder) => embedRows(rows, records, native, { prefix, truncate, signal });
  const { errors } = await withModel(model, embed, signal);
  if (errors.length === 0) return;
  findings.push(findingOf(recordsError(records, files.records, errors), files.records));
}

async function checkWords(records: Records, { config, files, signal, findings }: Checked): Promise<void> {
  const file = files.textIndex;
  if (file === undefined) return;
  const reused = await reuseTextIndex(records, file, { config, files, signal });
  if (reused instanceof TextIndex) return reused.close();
  const message = `${file}: the next opening builds the text index: ${reused.reason}`;
  findings.push({ severity: 'warning', code: 'STALE', file, message });
}

/** Returns the result, or undefined after adding a finding. @throws errors that are not about the files */
async function found<T>(
  findings: KnowledgeBaseFinding[],
  file: string,
  look: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (!isFileError(error)) throw error;
    findings.push(findingOf(error, file));
    return undefined;
  }
}

function findingOf({ code, message, detail }: LorekeepError, file: string): KnowledgeBaseFinding {
  const { mistakes } = detail as { mistakes?: number };
  return { severity: 'error', code, file: detail.file ?? file, message, mistakes };
}
