import { resolve } from 'node:path';
import { Records } from '../../../lib/internal.js';
import { homeFolder } from '../../base/files/home.js';
import { commandName } from '../../base/schema/shell-word.js';
import { accessNotes } from '../../config/access.js';
import { checkServerConfig } from '../../config/check.js';
import type { ServerConfig } from '../../config/schema.js';
import { StartupError } from '../../config/startup-error.js';
import { storageRootProblem } from '../../config/storage-root-problem.js';
import { isFileError } from '../../knowledge/file-error.js';
import { checkKnowledgeBase } from '../../knowledge/index.js';
import { Catalog } from '../../models/catalog.js';
import { shippedCatalog } from '../../models/shipped-catalog.js';
import { modelFiles } from '../model-files.js';
import { CommandModels } from '../models.js';
import { findConfig } from '../server-config.js';
import { counted } from '../terminal/amounts.js';
import { type CheckResult, type Finding, findingOf, warningFinding } from './findings.js';
import type { CheckedKind, CheckFlags } from './flags.js';

type Check = (file: string, flags: CheckFlags, signal: AbortSignal) => Promise<CheckResult>;

export const checks: Readonly<Record<CheckedKind, Check>> = {
  'knowledge-base': async (file, flags, signal) => {
    const findings: Finding[] = [];
    await using models = await findingOf(findings, isStartupError, () => CommandModels.open(flags));
    const checked = await checkKnowledgeBase(file, { models, signal });
    const { records } = checked;
    findings.push(...checked.findings);
    return records === undefined ? { findings } : { findings, facts: counted(records, 'record') };
  },

  'server-config': async (file, _, signal) => {
    const findings: Finding[] = await checkServerConfig(file);
    if (findings.some(({ severity }) => severity === 'error')) return { findings };
    // Environment variables are not part of the file.
    const { config, withoutEffect } = await findConfig(file, {});
    findings.push(...accessFindings(resolve(file), config));
    if (withoutEffect !== undefined) findings.push(warningFinding(`${resolve(file)}: ${withoutEffect}`));
    const catalog = await checkCatalog(config.models_catalog_path, signal, config.models_download_dir);
    const [open] = accessNotes(config, config.storage_root || homeFolder);
    const notes = [...(catalog.notes ?? []), ...(open ? [open.message] : [])];
    return { findings: [...findings, ...catalog.findings], notes };
  },

  catalog: (file, _, signal) => checkCatalog(resolve(file), signal),

  records: async (file, _, signal) => {
    const findings: Finding[] = [];
    await using records = await findingOf(findings, isFileError, () =>
      Records.read(resolve(file), { signal }),
    );
    return records === undefined ? { findings } : { findings, facts: counted(records.size, 'record') };
  },
};

/** Returns the warnings of a server that starts with this config. */
function accessFindings(file: string, config: ServerConfig): Finding[] {
  const root = config.storage_root || homeFolder;
  const problem = storageRootProblem(root);
  const ofRoot = problem === undefined ? [] : [`storage_root: ${root} ${problem}`];
  const ofAccess = accessNotes(config, root)
    .filter(({ remedy }) => remedy !== undefined)
    .map(({ field, message, remedy }) => `${field}: ${message}; ${remedy}`);
  return [...ofRoot, ...ofAccess].map((text) => warningFinding(`${file}: ${text}`));
}

/** A server starts without model files, but cannot use those models. */
async function checkCatalog(path: string, signal: AbortSignal, downloads?: string): Promise<CheckResult> {
  const findings: Finding[] = [];
  const catalog = await findingOf(findings, isFileError, () => Catalog.load(path, downloads));
  if (catalog === undefined) return { findings };
  findings.push(...catalog.warnings.map(warningFinding));
  const files = await modelFiles(catalog, signal);
  for (const { model, state, reason, path: file } of files) {
    const where = `${path}: model ${JSON.stringify(model)}`;
    if (state === 'absent' && path !== shippedCatalog)
      findings.push(warningFinding(`${where}: ${file}: the file does not exist`));
    if (state === 'damaged') findings.push({ severity: 'error', message: `${where}: ${file}: ${reason}` });
  }
  const present = files.filter(({ state }) => state === 'present').length;
  const remote = files.filter(({ state }) => state === 'remote').length;
  const notes =
    remote === 0
      ? []
      : [
          `${path}: files of ${counted(remote, 'model')} can be downloaded: ${commandName()} models pull NAME`,
        ];
  return {
    findings,
    notes,
    facts: `${counted(catalog.entries.length, 'model')}, files of ${present} present`,
  };
}

const isStartupError = (error: unknown): error is StartupError => error instanceof StartupError;
