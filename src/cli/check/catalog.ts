import type { EmbeddingModel } from '../../../lib/internal.js';
import { commandName } from '../../base/schema/shell-word.js';
import { isFileError } from '../../knowledge/file-error.js';
import { Catalog } from '../../models/catalog.js';
import { CatalogModels } from '../../models/catalog-models.js';
import { compareWithReference, readReference } from '../../models/reference.js';
import { shippedCatalog } from '../../models/shipped-catalog.js';
import { findEntry } from '../catalog/open-catalog.js';
import { type ModelFile, modelFiles } from '../model-files.js';
import { counted } from '../terminal/amounts.js';
import { type CheckResult, type Finding, findingOf, warningFinding } from './findings.js';

interface CatalogOptions {
  signal: AbortSignal;
  /** The folder of downloads. */
  downloads?: string;
  /** Models to check, whose files must be there. Default: all, as far as their files are there. */
  names?: readonly string[] | undefined;
}

/** Checks the catalog in a file, and the files of its models. */
export async function checkCatalogFile(path: string, options: CatalogOptions): Promise<CheckResult> {
  const findings: Finding[] = [];
  const catalog = await findingOf(findings, isFileError, () => Catalog.load(path, options.downloads));
  if (catalog === undefined) return { findings };
  findings.push(...catalog.warnings.map(warningFinding));
  const checked = await checkCatalog(catalog, options);
  return { ...checked, findings: [...findings, ...checked.findings] };
}

/**
 * Compares model files with size, checksums and facts of the catalog and of downloads.json, and the tokens and vectors of
 * embedding models with their reference. A server starts without model files, but cannot use those models.
 */
export async function checkCatalog(
  catalog: Catalog,
  { signal, names }: CatalogOptions,
): Promise<CheckResult> {
  const findings: Finding[] = [];
  const notes: string[] = [];
  const entries = names?.map((name) => findEntry(catalog, name));
  const files = await modelFiles(catalog, signal, { entries });
  for (const file of files) findings.push(...fileFindings(catalog, file, names !== undefined));
  const models: object[] = [];
  for (const file of files) {
    const { model, type, variant, contradictions, ...facts } = file;
    const found = await compared(catalog, file, signal);
    const told = contradictions.map(({ text }) => text);
    models.push({
      name: model,
      type,
      variant: variant.name ?? null,
      ...facts,
      contradictions: told,
      ...found?.facts,
    });
    if (found === undefined) continue;
    const message = `${catalog.file}: model ${JSON.stringify(model)}: ${found.text}`;
    if (found.ok) notes.push(message);
    else findings.push({ severity: 'error', message });
  }
  const present = files.filter(
    ({ state, variant }) => state === 'present' && variant.remote === undefined,
  ).length;
  const remote = files.filter(({ state }) => state === 'remote').length;
  const pull = `files of ${counted(remote, 'model')} can be downloaded: ${commandName()} models pull NAME`;
  if (remote > 0) notes.push(`${catalog.file}: ${pull}`);
  const facts = `${counted(names?.length ?? catalog.entries.length, 'model')}, files of ${present} present`;
  return { findings, notes, facts, data: { models } };
}

function fileFindings(catalog: Catalog, file: ModelFile, isNamed: boolean): Finding[] {
  const { model, state, path, reason, unusable, contradictions, notes } = file;
  const where = `${catalog.file}: model ${JSON.stringify(model)}: ${path ?? ''}`;
  const error = (message: string): Finding => ({ severity: 'error', message });
  if (state === 'absent' || state === 'remote') {
    if (isNamed) return [error(`${where}: ${reason ?? 'the file does not exist'}`)];
    const isOnlyListed = state === 'remote' || catalog.file === shippedCatalog;
    return isOnlyListed ? [] : [warningFinding(`${where}: ${reason ?? 'the file does not exist'}`)];
  }
  if (state === 'damaged') return [error(`${where}: ${unusable}`)];
  return [
    ...contradictions.map(({ text, refused }) =>
      refused ? error(`${where}: ${text}`) : warningFinding(`${where}: ${text}`),
    ),
    ...notes.map((text) => warningFinding(`${where}: ${text}`)),
  ];
}

/** Compares an embedding model with the reference of its catalog entry, if it has one. @throws as the loading of the model */
async function compared(
  catalog: Catalog,
  { model: name, type, used, unusable, variant: { reference } }: ModelFile,
  signal: AbortSignal,
): Promise<{ ok: boolean; text: string; facts: object } | undefined> {
  if (type !== 'embedding' || !used || unusable !== undefined || reference === undefined) return undefined;
  const expected = await readReference(catalog.resolveFile(reference.file));
  const models = new CatalogModels(catalog, { idleMs: 0 });
  try {
    using lease = await (await models.resolve(name)).lease();
    signal.throwIfAborted();
    // The catalog takes a reference for files only.
    const model = lease.model as EmbeddingModel;
    const { texts, otherTokens, minCosine } = await compareWithReference(model, expected);
    const required = reference.least_cosine;
    const text =
      otherTokens === undefined
        ? `${counted(texts, 'text')}: the same tokens, cosine ${minCosine.toFixed(5)} and better; ${required} is required`
        : `other tokens for ${JSON.stringify(otherTokens)}`;
    const ok = otherTokens === undefined && minCosine >= required;
    return { ok, text, facts: { least_cosine: minCosine, required_cosine: required } };
  } finally {
    await models.close();
  }
}
