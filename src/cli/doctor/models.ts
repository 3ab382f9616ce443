import { LorekeepError } from '../../../lib/errors.js';
import { Catalog } from '../../catalog/catalog.js';
import { embeddingOptions } from '../../config/embedding-options.js';
import type { ServerConfig } from '../../config/schema.js';
import { type ModelFile, modelFiles } from '../model-files.js';
import { size } from '../terminal/amounts.js';
import { type Finding, failed, ok, warning } from './finding.js';

/**
 * Checks the catalog and the file of each model. With `tryOut` it also embeds a text with each embedding model; without
 * the addon only the files can be checked.
 */
export async function checkModels(
  config: ServerConfig,
  { tryOut, signal }: { tryOut: boolean; signal: AbortSignal },
): Promise<Finding[]> {
  const path = config.models_catalog_path;
  let catalog: Catalog;
  try {
    catalog = await Catalog.load(path, config.models_download_dir);
  } catch (error) {
    const { message } = error as Error;
    return [failed('catalog', message, 'correct the file, or name another one with models_catalog_path')];
  }
  const findings: Finding[] = [];
  let usable = false;
  for (const file of await modelFiles(catalog, signal)) {
    const embeds = file.type === 'embedding' && file.state === 'present';
    const tried = tryOut && embeds && isUsed(catalog, file);
    const reason = tried ? await failureOf(file.model, catalog, config, signal) : undefined;
    signal.throwIfAborted();
    usable ||= embeds && reason === undefined;
    findings.push(fileFinding(reason === undefined ? file : { ...file, state: 'damaged', reason }));
  }
  if (!usable)
    findings.push(
      failed('models', 'there is no embedding model to work with', 'put one where the catalog says'),
    );
  const warnings = catalog.warnings.map((text) => warning('catalog', text, 'remove the key'));
  return [ok('catalog', path), ...warnings, ...findings];
}

function fileFinding({ model, type, path, state, reason, bytes = 0, verified }: ModelFile): Finding {
  const subject = `model ${model}`;
  switch (state) {
    case 'remote':
      return warning(subject, 'is not downloaded', `lorekeep models pull ${JSON.stringify(model)}`);
    case 'absent':
      return warning(subject, `${path} is absent`, `put the ${type} model there to use it`);
    case 'damaged':
      return failed(subject, `${path}: ${reason}`, 'put the right file there, or correct the catalog');
    case 'present': {
      const checked = verified ? 'as the catalog states' : 'the catalog states no checksum';
      return ok(subject, `${path}, ${size(bytes)}, ${checked}`);
    }
  }
}

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
  const { CatalogModels } = await import('../../catalog/catalog-models.js');
  const { embedQuery } = await import('../../knowledge/model.js');
  const models = new CatalogModels(catalog, { ...embeddingOptions(config), idleMs: 0 });
  try {
    await embedQuery(await models.resolve(model), 'lorekeep', signal);
    return undefined;
  } catch (error) {
    // The outer error names the model and the catalog, as the finding does.
    const { cause, message } = error as Error;
    return cause instanceof LorekeepError ? String(cause.detail.reason ?? cause.message) : message;
  } finally {
    await models.close();
  }
}
