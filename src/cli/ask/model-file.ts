import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { LorekeepError } from '../../../lib/basics.js';
import type { Catalog } from '../../models/catalog.js';
import { modelHeader } from '../../models/model-header.js';
import type { CatalogEntry } from '../../models/schema.js';
import { CommandError } from '../failure.js';

/** A model of the flags: its name, and its entry if it is a file that the catalog does not have. */
export interface NamedModel {
  readonly name: string | undefined;
  readonly entry?: CatalogEntry;
}

/** Resolves --model: a name of the catalog, else a file. @throws CommandError for a path without a model of the type */
export async function modelOfFlag(
  given: string | undefined,
  catalog: Catalog,
  type: 'llm' | 'stt',
): Promise<NamedModel> {
  if (given === undefined || catalog.find(given) !== undefined) return { name: given };
  const found = await stat(given).catch(() => undefined);
  if (found?.isDirectory())
    throw new CommandError('INVALID_ARGUMENT', `--model: ${given}: is a folder; a model file is expected`);
  if (found === undefined) {
    // An unknown name is refused with the nearest one of the catalog.
    if (!/[\\/]|\.(gguf|bin)$/i.test(given)) return { name: given };
    throw new CommandError('NOT_FOUND', `--model: ${given}: the file does not exist`);
  }
  if (type === 'llm') await refuseOtherFile(given);
  const name = freeName(basename(given).slice(0, longestName), catalog);
  const file = resolve(given);
  return {
    name,
    entry: { name, model_type: type, variants: [{ file }], query_prefix: '', document_prefix: '' },
  };
}

/** Before a folder is indexed and the model loaded: the file may be no model, or one that does not write. @throws CommandError */
async function refuseOtherFile(path: string): Promise<void> {
  const refuse = (message: string) => new CommandError('INVALID_ARGUMENT', `--model: ${message}`);
  const { refusals } = await modelHeader(path).catch((error: unknown) => {
    throw error instanceof LorekeepError && error.code === 'MODEL_INVALID' ? refuse(error.message) : error;
  });
  if (refusals.llm !== undefined) throw refuse(`${path}: no language model: ${refusals.llm}`);
}

/** A catalog allows 128 characters; some are left for a number. */
const longestName = 120;

function freeName(name: string, catalog: Catalog): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name} (${number})`;
    if (catalog.find(free) === undefined) return free;
  }
}
