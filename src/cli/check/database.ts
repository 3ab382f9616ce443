import { isInDatabase, loadAnyConfig } from '../../knowledge/config.js';
import { isFileError } from '../../knowledge/file-error.js';
import { compareKnowledgeBase } from '../../knowledge/postgres/transfer.js';
import { UsageError } from '../failure.js';
import { CommandModels } from '../models.js';
import { counted } from '../terminal/amounts.js';
import { type CheckResult, type Finding, findingOf } from './findings.js';
import type { CheckFlags } from './flags.js';

/** Whether a config is of a knowledge base in a database; false for one that cannot be read, whose defects the usual check lists. */
export async function isDatabaseConfig(file: string): Promise<boolean> {
  const loaded = await loadAnyConfig(file).catch(() => undefined);
  return loaded !== undefined && isInDatabase(loaded);
}

/** Compares the parts of a knowledge base in a database, and with `--against` its records with those of files. */
export async function checkDatabase(
  file: string,
  { against, recall, ...flags }: CheckFlags,
  signal: AbortSignal,
): Promise<CheckResult> {
  if (recall) throw new UsageError('--recall: it has no effect on a knowledge base in a database');
  const findings: Finding[] = [];
  await using models = await CommandModels.open(flags);
  const { connections } = models;
  const compared = await findingOf(findings, isFileError, () =>
    compareKnowledgeBase(file, { models, connections, signal, against }),
  );
  if (compared === undefined) return { findings };
  for (const difference of compared.differences)
    findings.push({ severity: 'error', message: `${file}: ${difference}` });
  return { findings, facts: counted(compared.records, 'record') };
}
