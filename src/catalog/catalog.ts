import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StartupError } from '../config/startup-error.js';
import { describeIssue, type FieldIssue } from '../schema/field-issue.js';
import { parseLenient } from '../schema/lenient.js';
import { type CatalogEntry, catalogSchema } from './schema.js';

/** The models that the server may use, by name. Files are looked at when a model is first used. */
export class Catalog {
  readonly warnings: readonly string[];
  readonly #folder: string;
  readonly #entries: ReadonlyMap<string, CatalogEntry>;

  private constructor(
    folder: string,
    entries: ReadonlyMap<string, CatalogEntry>,
    warnings: readonly string[],
  ) {
    this.#folder = folder;
    this.#entries = entries;
    this.warnings = warnings;
  }

  /** @throws StartupError that names the file and the entry: the server does not start without a valid catalog. */
  static async load(path: string): Promise<Catalog> {
    const written = parseJson(path, await readCatalog(path));
    const parsed = parseLenient(catalogSchema, written);
    if (!parsed.ok)
      throw new StartupError(`${path}: ${entryName(written, parsed.issue)}${describeIssue(parsed.issue)}`);
    const entries = new Map<string, CatalogEntry>();
    for (const entry of parsed.value.models) {
      if (entries.has(entry.name)) {
        throw new StartupError(`${path}: model ${JSON.stringify(entry.name)}: the name is used twice`);
      }
      checkVariants(path, entry);
      entries.set(entry.name, entry);
    }
    const warnings = parsed.warnings.map((warning) => `${path}: ${warning}; it has no effect`);
    return new Catalog(dirname(path), entries, warnings);
  }

  find(name: string): CatalogEntry | undefined {
    return this.#entries.get(name);
  }

  /** All models, in the catalog's order. */
  get entries(): CatalogEntry[] {
    return [...this.#entries.values()];
  }

  /** Names of the embedding models, in the catalog's order. */
  get embeddingModels(): string[] {
    return this.entries.filter((entry) => entry.model_type === 'embedding').map(({ name }) => name);
  }

  /** The path of a variant's `file`. */
  resolveFile(file: string): string {
    return resolve(this.#folder, file);
  }
}

async function readCatalog(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new StartupError(
        `${path}: the model catalog does not exist; models_catalog_path names another one`,
      );
    }
    throw new StartupError(`${path}: the model catalog cannot be read: ${message}`);
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartupError(`${path}: the model catalog is not valid JSON: ${(error as Error).message}`);
  }
}

function checkVariants(path: string, entry: CatalogEntry): void {
  entry.variants.forEach((variant, index) => {
    if ((variant.file === undefined) === (variant.url === undefined)) {
      const where = `${path}: model ${JSON.stringify(entry.name)}: variants[${index}]`;
      throw new StartupError(`${where}: exactly one of "file" and "url" is expected`);
    }
  });
}

/** `model "e5": ` when the issue lies in an entry that has a name. */
function entryName(written: unknown, { keys }: FieldIssue): string {
  const [list, index] = keys;
  if (list !== 'models' || typeof index !== 'number') return '';
  const name = (written as { models: { name?: unknown }[] }).models[index]?.name;
  return typeof name === 'string' ? `model ${JSON.stringify(name)}: ` : '';
}
