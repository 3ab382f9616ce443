import { LorekeepError } from '../../../lib/basics.js';
import { ModelLimit } from '../../base/machine/model-limit.js';
import { embeddingOptions, languageModelOptions, rerankerOptions } from '../../config/model-options.js';
import type { ServerConfig } from '../../config/schema.js';
import { Catalog } from '../../models/catalog.js';
import type { Contradiction } from '../../models/contradictions.js';
import { pullCommand } from '../../models/pull-command.js';
import { shippedCatalog } from '../../models/shipped-catalog.js';
import { type ModelFile, modelFiles } from '../model-files.js';
import { size } from '../terminal/amounts.js';
import { type Finding, failed, ok, warning } from './finding.js';

/**
 * Checks the catalog and the file of each model. With `tryOut` it also embeds a text with each embedding model; without
 * the addon only the files can be checked.
 */
export async function checkModels(
  config: ServerConfig,
  { tryOut, signal, flags }: { tryOut: boolean; signal: AbortSignal; flags: string | undefined },
): Promise<Finding[]> {
  const path = config.models_catalog_path;
  let catalog: Catalog;
  try {
    catalog = await Catalog.load(path, config.models_download_dir);
    catalog.commandFlags = flags;
  } catch (error) {
    const { message } = error as Error;
    return [failed('catalog', message, 'correct the file, or name another one with models_catalog_path')];
  }
  const findings: Finding[] = [];
  const limit = new ModelLimit(config.models_cache_max_mb);
  let usable = false;
  const files = await modelFiles(catalog, signal);
  // The models that the package merely lists may be absent.
  const onlyListed = files.filter(({ state }) => path === shippedCatalog && state === 'absent');
  const remote = files.filter((file) => !isLocal(file));
  for (const file of files.filter(isLocal)) {
    if (onlyListed.includes(file)) continue;
    const embeds = file.type === 'embedding' && file.state === 'present';
    const tried = tryOut && embeds && isUsed(catalog, file);
    const planned = tryOut && file.state === 'present' ? await planOf(file, config) : {};
    const { need } = planned;
    const differing = tryOut && file.state === 'present' ? await differences(catalog, file) : [];
    const refusal = isUsed(catalog, file) ? planned.reason : undefined;
    const failure = tried ? await failureOf(file.model, catalog, config, signal) : refusal;
    signal.throwIfAborted();
    const refused = differing.find((one) => one.refused)?.text.replace(/^file: /, '');
    const reason = failure ?? refused;
    usable ||= embeds && reason === undefined;
    findings.push(fileFinding(reason === undefined ? file : { ...file, state: 'damaged', reason }, need));
    for (const { text } of differing.filter((one) => !one.refused))
      findings.push(warning(`model ${file.model}`, text, 'correct the catalog'));
    if (need !== undefined) findings.push(...memoryWarnings(file.model, need, limit));
  }
  if (!usable) {
    const far = remote.find(({ type }) => type === 'embedding');
    const fix = far === undefined ? 'put one where the catalog says' : pullCommand(catalog, far.model);
    findings.push(failed('models', 'there is no embedding model to work with', fix));
  }
  findings.push(...otherModels(catalog, onlyListed, remote));
  const warnings = catalog.warnings.map((text) => warning('catalog', text, 'remove the key'));
  const room = ok('memory of models', `${size(limit.bytes(0, true))} for all loaded models together`);
  return [ok('catalog', path), ...warnings, ...findings, room];
}

function memoryWarnings(model: string, need: number, limit: ModelLimit): Finding[] {
  const room = limit.bytes(0, true);
  if (need <= room) return [];
  const fix = 'use a smaller variant, raise models_cache_max_mb, or free memory';
  return [
    warning(`model ${model}`, `it needs ${size(need)} of memory, and models may take ${size(room)}`, fix),
  ];
}

function otherModels(
  catalog: Catalog,
  onlyListed: readonly ModelFile[],
  remote: readonly ModelFile[],
): Finding[] {
  const findings: Finding[] = [];
  if (onlyListed.length > 0) {
    const names = onlyListed.map(({ model }) => model).join(', ');
    findings.push(ok('other models', `known to the catalog, without files here: ${names}`));
  }
  if (remote.length > 0) {
    const names = [...new Set(remote.map(({ model }) => model))];
    const command = pullCommand(catalog, names[0] as string);
    findings.push(ok('other models', `can be downloaded (${command}): ${names.join(', ')}`));
  }
  return findings;
}

type LocalFile = ModelFile & { state: Exclude<ModelFile['state'], 'remote'> };

const isLocal = (file: ModelFile): file is LocalFile => file.state !== 'remote';

function fileFinding(
  { model, type, path, state, reason, bytes = 0, verified }: LocalFile,
  need: number | undefined,
): Finding {
  const subject = `model ${model}`;
  switch (state) {
    case 'absent':
      return warning(subject, `${path} is absent`, `put the ${type} model there to use it`);
    case 'damaged':
      return failed(subject, `${path}: ${reason}`, 'put the right file there, or correct the catalog');
    case 'present': {
      const checked = verified ? 'as the catalog states' : 'the catalog states no checksum';
      const needs = need === undefined ? '' : `, needs ${size(need)} of memory`;
      const unused = type === 'vad' || type === 'stt' ? ', not used by this version' : '';
      return ok(subject, `${path}, ${size(bytes)}${needs}, ${checked}${unused}`);
    }
  }
}

/** Returns the facts that the catalog and a present file state differently. */
async function differences(
  catalog: Catalog,
  { model, path = '', variant }: ModelFile,
): Promise<readonly Contradiction[]> {
  const { contradictions } = await import('../../models/contradictions.js');
  const entry = catalog.find(model);
  return entry === undefined ? [] : contradictions(path, entry, variant);
}

/**
 * Returns the bytes that the server would need for a model on all devices, or why it would refuse a language model;
 * neither if the header says nothing.
 */
async function planOf(
  { type, path = '', variant }: ModelFile,
  config: ServerConfig,
): Promise<{ need?: number; reason?: string }> {
  const { embeddingNeed, languageModelNeed, rerankerNeed } = await import('../../models/model-need.js');
  const { defaultContext, idleMs: _, ...settings } = languageModelOptions(config);
  const contextSize = variant.context_size ?? defaultContext;
  const need = async () => {
    if (type === 'embedding') return embeddingNeed(path, embeddingOptions(config).threads);
    if (type === 'reranker') return rerankerNeed(path, rerankerOptions(config).threads);
    if (type !== 'llm') return undefined;
    return languageModelNeed(path, { ...settings, contextSize, placement: variant.placement });
  };
  try {
    const found = await need();
    return found ? { need: Object.values(found).reduce((sum, bytes) => sum + bytes, 0) } : {};
  } catch (error) {
    return type === 'llm' && error instanceof LorekeepError ? { reason: reasonOf(error) } : {};
  }
}

/** The subject of the finding is the file already. */
const reasonOf = ({ detail, message }: LorekeepError) => String(detail.reason ?? message);

/** The server takes the first variant whose file is present. */
function isUsed(catalog: Catalog, { model, path }: ModelFile): boolean {
  const entry = catalog.find(model);
  return entry !== undefined && catalog.locate(entry).path === path;
}

/** Loads a model as the server would and embeds one text. Returns the reason of a failure, or undefined. */
async function failureOf(
  model: string,
  catalog: Catalog,
  config: ServerConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  // These need the addon.
  const { CatalogModels } = await import('../../models/catalog-models.js');
  const { embedQuery } = await import('../../knowledge/model.js');
  const models = new CatalogModels(catalog, { ...embeddingOptions(config), idleMs: 0 });
  try {
    await embedQuery(await models.resolve(model), 'lorekeep', signal);
    return undefined;
  } catch (error) {
    // The outer error names the model and the catalog, as the finding does.
    const { cause, message } = error as Error;
    return cause instanceof LorekeepError ? reasonOf(cause) : message;
  } finally {
    await models.close();
  }
}
