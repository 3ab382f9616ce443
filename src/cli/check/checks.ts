import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Records } from '../../../lib/internal.js';
import { homeFolder } from '../../base/files/home.js';
import { accessNotes } from '../../config/access.js';
import { checkServerConfig } from '../../config/check.js';
import { StartupError } from '../../config/startup-error.js';
import { loadKnowledgeBaseConfig } from '../../knowledge/config.js';
import { isFileError } from '../../knowledge/file-error.js';
import { checkKnowledgeBase } from '../../knowledge/index.js';
import { besideConfig, resolveFiles } from '../../knowledge/paths.js';
import { connectionsOf } from '../connections.js';
import { UsageError } from '../failure.js';
import { CommandModels } from '../models.js';
import { findConfig } from '../server-config.js';
import { counted } from '../terminal/amounts.js';
import { checkCatalogFile } from './catalog.js';
import { checkDatabase, isDatabaseConfig } from './database.js';
import { type Description, describeIndexFile, describeModelFile, factLines } from './describe.js';
import { type CheckResult, type Finding, findingOf, warningFinding } from './findings.js';
import type { CheckFlags } from './flags.js';
import type { CheckedKind } from './kind.js';
import { checkRecall } from './recall.js';

type Check = (file: string, flags: CheckFlags, signal: AbortSignal) => Promise<CheckResult>;

export const checks: Readonly<Record<CheckedKind, Check>> = {
  'knowledge-base': async (file, flags, signal) => {
    if (await isDatabaseConfig(file)) return checkDatabase(file, flags, signal);
    if (flags.against !== undefined)
      throw new UsageError('--against: it has no effect on a knowledge base in files');
    const findings: Finding[] = [];
    await using models = await findingOf(findings, isStartupError, () => CommandModels.open(flags));
    const checked = await checkKnowledgeBase(file, { models, signal });
    const { records } = checked;
    findings.push(...checked.findings);
    const made = flags.all ? await describeMadeFiles(file, flags, signal) : undefined;
    const facts = records === undefined ? {} : { facts: counted(records, 'record') };
    if (!flags.recall || models === undefined || !checked.ok) return { findings, ...facts, ...made };
    const recall = await checkRecall(file, models, signal);
    const data = { ...made?.data, ...recall.data };
    return { ...recall, findings: [...findings, ...recall.findings], ...facts, ...made, data };
  },

  'server-config': async (file, _, signal) => {
    const findings: Finding[] = await checkServerConfig(file);
    if (findings.some(({ severity }) => severity === 'error')) return { findings };
    // Environment variables are not part of the file.
    const { config } = await findConfig(file, {});
    const access = accessNotes(config, config.storage_root || homeFolder);
    for (const { field, message, remedy } of access.filter((note) => note.remedy !== undefined))
      findings.push(warningFinding(`${resolve(file)}: ${field}: ${message}; ${remedy}`));
    const downloads = config.models_download_dir;
    const loaded = { config, place: resolve(file), configIsFound: false };
    await findingOf(findings, isStartupError, () => connectionsOf(loaded));
    const catalog = await checkCatalogFile(config.models_catalog_path, { signal, downloads });
    const open = access.filter(({ remedy }) => remedy === undefined).map(({ message }) => message);
    const notes = [...(catalog.notes ?? []), ...open];
    return { findings: [...findings, ...catalog.findings], notes };
  },

  catalog: (file, { model: names }, signal) => checkCatalogFile(resolve(file), { signal, names }),

  model: async (file, flags, signal) =>
    described(file, await describeModelFile(file, { ...flags, signal }), flags),

  'index-file': async (file, flags, signal) =>
    described(file, await describeIndexFile(file, { ...flags, signal }), flags),

  records: async (file, _, signal) => {
    const findings: Finding[] = [];
    await using records = await findingOf(findings, isFileError, () =>
      Records.read(resolve(file), { signal }),
    );
    return records === undefined ? { findings } : { findings, facts: counted(records.size, 'record') };
  },
};

/** The result for a file that describes itself. */
function described(file: string, { facts, problems }: Description, { all = false }: CheckFlags): CheckResult {
  const findings = problems.map((problem): Finding => {
    return { severity: 'error', message: problem.startsWith(file) ? problem : `${file}: ${problem}` };
  });
  return { findings, lines: factLines(facts, all), data: facts };
}

/** Describes the files that a knowledge base's config names and `lorekeep build` makes, as far as they are there. */
async function describeMadeFiles(
  file: string,
  flags: CheckFlags,
  signal: AbortSignal,
): Promise<{ lines: string[]; data: object }> {
  const path = resolve(file);
  const { config } = await loadKnowledgeBaseConfig(path);
  const { index, textIndex, embeddings } = await resolveFiles(config, besideConfig(path));
  const lines: string[] = [];
  const files: object[] = [];
  for (const made of [index, textIndex, embeddings]) {
    if (made === undefined || !(await stat(made).catch(() => undefined))) continue;
    const { facts } = await describeIndexFile(made, { ...flags, signal });
    lines.push(made, ...factLines(facts, true).map((line) => `  ${line}`), '');
    files.push({ path: made, ...facts });
  }
  return { lines, data: { config, files } };
}

const isStartupError = (error: unknown): error is StartupError => error instanceof StartupError;
