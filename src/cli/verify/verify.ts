import { compareWithReference, readReference } from '../../models/reference.js';
import type { CatalogEntry } from '../../models/schema.js';
import { exitStatus } from '../exit-status.js';
import { CommandError, UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { interruptible } from '../interrupt.js';
import { modelFiles } from '../model-files.js';
import { CommandModels } from '../models.js';
import { print, printJson } from '../output.js';
import { printable } from '../terminal/printable.js';

export interface VerifyFlags extends ModelFlags {
  json?: boolean;
}

/** Result for one model. */
interface Verified {
  model: string;
  ok: boolean;
  message: string;
  least_cosine?: number;
  required_cosine?: number;
}

/** `lorekeep verify`: compares models with their checksums, and their tokens and vectors with a reference. */
export async function verify(names: readonly string[], flags: VerifyFlags): Promise<void> {
  await interruptible(async (signal) => {
    await using models = await CommandModels.open(flags);
    const { catalog } = models;
    const found: Verified[] = [];
    for (const name of names.length > 0 ? names : catalog.namesOf('embedding')) {
      const entry = catalog.find(name);
      if (entry?.model_type !== 'embedding')
        throw new UsageError(unknownModel(name, catalog.namesOf('embedding')));
      const files = await modelFiles(catalog, signal, { entries: [entry] });
      const file = files.find(({ state }) => state === 'present') ?? files[0];
      if (file?.state === 'present') found.push(await verified(entry, models));
      else if (names.length > 0 || file?.state === 'damaged') {
        found.push({ model: name, ok: false, message: file?.reason ?? `${file?.path ?? name} is absent` });
      }
    }
    if (found.length === 0) throw new CommandError('NOT_FOUND', `${catalog.file}: no model has a file`);
    if (found.some(({ ok }) => !ok)) process.exitCode = exitStatus.failed;
    if (flags.json) return printJson({ ok: found.every(({ ok }) => ok), models: found });
    for (const { model, ok, message } of found)
      print(printable(`${ok ? 'ok' : 'FAILED'}  ${model}: ${message}`));
  });
}

async function verified(entry: CatalogEntry, models: CommandModels): Promise<Verified> {
  const { name: model } = entry;
  const { reference } = models.catalog.locate(entry).variant;
  const loaded = await models.resolve(model);
  if (reference === undefined)
    return { model, ok: true, message: 'loads; the catalog has no reference for it' };
  const { file, least_cosine: required } = reference;
  const expected = await readReference(models.catalog.resolveFile(file));
  const { texts, otherTokens, minCosine } = await compareWithReference(loaded.model, expected);
  const cosines = { least_cosine: minCosine, required_cosine: required };
  const same = `the same tokens, cosine ${minCosine.toFixed(5)} and better; ${required} is required`;
  const message =
    otherTokens === undefined ? `${texts} texts: ${same}` : `other tokens for ${JSON.stringify(otherTokens)}`;
  return { model, ok: otherTokens === undefined && minCosine >= required, message, ...cosines };
}

function unknownModel(name: string, known: readonly string[]): string {
  return `${JSON.stringify(name)} is not an embedding model of the catalog; it has ${known.join(', ')}`;
}
