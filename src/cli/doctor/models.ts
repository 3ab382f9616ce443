import { LorekeepError } from '../../../lib/basics.js';
import { ModelLimit } from '../../base/machine/model-limit.js';
import type { LoadedConfig } from '../../config/load.js';
import { embeddingOptions, languageModelOptions, rerankerOptions } from '../../config/model-options.js';
import type { ServerConfig } from '../../config/schema.js';
import { Catalog } from '../../models/catalog.js';
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
  { config, catalogIsFound }: Pick<LoadedConfig, 'config' | 'catalogIsFound'>,
  { tryOut, signal, flags }: { tryOut: boolean; signal: AbortSignal; flags: string | undefined },
): Promise<Finding[]> {
  const path = config.models_catalog_path;
  let catalog: Catalog;
  try {
    catalog = await Catalog.load(path, config.models_download_dir);
    catalog.commandFlags = flags;
    catalog.mayAskOthers = !catalogIsFound;
  } catch (error) {
    const { message } = error as Error;
    return [failed('catalog', message, 'correct the file, or name another one with models_catalog_path')];
  }
  const findings = catalog.warnings.map((text) => warning('catalog', text, 'remove the key'));
  const room = new ModelLimit(config.models_cache_max_mb).bytes(0, true);
  let usable = false;
  const files = await modelFiles(catalog, signal, { withHeaders: tryOut });
  const remote = files.filter(({ state }) => state === 'remote');
  // The models that the package merely lists may be absent.
  const onlyListed = files.filter(({ state }) => path === shippedCatalog && state === 'absent');
  for (const file of files) {
    if (remote.includes(file) || onlyListed.includes(file)) continue;
    const subject = `model ${file.model}`;
    if (file.state === 'absent') {
      findings.push(warning(subject, `${file.path} is absent`, `put the ${file.type} model there to use it`));
      continue;
    }
    if (file.variant.remote !== undefined) {
      const found = await remoteFinding(file, catalog, { tryOut, signal });
      usable ||= file.type === 'embedding' && found.status === 'ok';
      findings.push(found);
      continue;
    }
    const isPresent = file.state === 'present';
    const embeds = file.type === 'embedding' && isPresent;
    const { need = 0, reason: refusal } = tryOut && isPresent ? await planOf(file, config) : {};
    const tried = tryOut && embeds && file.used;
    const failure = tried ? await failureOf(file.model, catalog, config, signal) : file.used && refusal;
    signal.throwIfAborted();
    const reason = failure || file.unusable?.replace(/^file: /, '');
    usable ||= embeds && reason === undefined;
    findings.push(
      reason === undefined
        ? ok(subject, presentText(file, need))
        : failed(subject, `${file.path}: ${reason}`, 'put the right file there, or correct the catalog'),
    );
    for (const { text } of file.contradictions.filter((one) => !one.refused))
      findings.push(warning(subject, text, 'correct the catalog'));
    for (const text of file.notes) findings.push(warning(subject, text, 'use a newer file of the model'));
    const told = `it needs ${size(need)} of memory, and models may take ${size(room)}`;
    if (need > room)
      findings.push(
        warning(subject, told, 'use a smaller variant, raise models_cache_max_mb, or free memory'),
      );
  }
  if (!usable) {
    const far = remote.find(({ type }) => type === 'embedding');
    const fix = far === undefined ? 'put one where the catalog says' : pullCommand(catalog, far.model);
    findings.push(failed('models', 'there is no embedding model to work with', fix));
  }
  const names = (some: readonly ModelFile[]) => [...new Set(some.map(({ model }) => model))];
  if (onlyListed.length > 0)
    findings.push(
      ok('other models', `known to the catalog, without files here: ${names(onlyListed).join(', ')}`),
    );
  if (remote[0] !== undefined) {
    const command = pullCommand(catalog, remote[0].model);
    findings.push(ok('other models', `can be downloaded (${command}): ${names(remote).join(', ')}`));
  }
  const memory = ok('memory of models', `${size(room)} for all loaded models together`);
  return [ok('catalog', path), ...findings, memory];
}

/** Asks the server of a model that the server would use. */
async function remoteFinding(
  { model, type, used, reason, variant }: ModelFile,
  catalog: Catalog,
  { tryOut, signal }: { tryOut: boolean; signal: AbortSignal },
): Promise<Finding> {
  const subject = `model ${model}`;
  if (reason !== undefined) return failed(subject, reason, 'name the config');
  const ask = async () => {
    const { probeRemote } = await import('../../models/remote/open-remote.js');
    await probeRemote(catalog, { name: model, model_type: type }, variant, signal);
  };
  const failure = tryOut && used ? await ask().then(() => undefined, reasonOf) : undefined;
  signal.throwIfAborted();
  const place = `computed by ${variant.remote?.url}`;
  return failure === undefined
    ? ok(subject, place)
    : failed(subject, `${place}: ${failure}`, 'correct remote in the catalog, or start its server');
}

function presentText({ path, bytes = 0, verified }: ModelFile, need: number): string {
  const checked = verified ? 'as the catalog states' : 'the catalog states no checksum';
  const needs = need === 0 ? '' : `, needs ${size(need)} of memory`;
  return `${path}, ${size(bytes)}${needs}, ${checked}`;
}

/**
 * Returns the bytes that the server would need for a model on all devices, or why it would refuse a language model;
 * neither if the header says nothing.
 */
async function planOf(
  { type, path = '', variant }: ModelFile,
  config: ServerConfig,
): Promise<{ need?: number; reason?: string }> {
  const { embeddingNeed, languageModelNeed, recogniserNeed, rerankerNeed } = await import(
    '../../models/model-need.js'
  );
  const { defaultContext, idleMs: _, ...settings } = languageModelOptions(config);
  const contextSize = variant.context_size ?? defaultContext;
  const need = async () => {
    if (type === 'embedding') return embeddingNeed(path, embeddingOptions(config).threads);
    if (type === 'reranker') return rerankerNeed(path, rerankerOptions(config).threads);
    if (type === 'vad') return undefined;
    if (type === 'stt') return recogniserNeed(path);
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
