import { dirname, resolve } from 'node:path';
import { readTextFile } from '../config/file.js';
import { StartupError } from '../config/startup-error.js';
import { describeIssue } from '../schema/field-issue.js';
import { JsonSyntaxError, JsonText } from '../schema/json-text.js';
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
    const json = parseJson(path, await readCatalog(path));
    const shape = json.shapeProblem();
    if (shape !== undefined) throw new StartupError(`${path}${shape.place}: ${shape.what}`);
    const at = (keys: readonly PropertyKey[]) => {
      const { line, column } = json.positionOf(keys);
      return `${path}:${line}:${column}: ${entryName(json.value, keys)}`;
    };
    const parsed = parseLenient(catalogSchema, json.value);
    if (!parsed.ok) throw new StartupError(`${at(parsed.issue.keys)}${describeIssue(parsed.issue)}`);
    const entries = new Map<string, CatalogEntry>();
    for (const [index, entry] of parsed.value.models.entries()) {
      if (entries.has(entry.name)) {
        throw new StartupError(`${at(['models', index, 'name'])}the name is used twice`);
      }
      checkVariants(entry, (variant) => at(['models', index, 'variants', variant]));
      entries.set(entry.name, entry);
    }
    const warnings = parsed.ignored.map(
      (issue) => `${at(issue.keys)}${describeIssue(issue)}; it has no effect`,
    );
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
  const text = await readTextFile(path);
  if (text !== undefined) return text;
  throw new StartupError(`${path}: the model catalog does not exist; models_catalog_path names another one`);
}

function parseJson(path: string, text: string): JsonText {
  try {
    return new JsonText(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line, column } = error.position;
    throw new StartupError(
      `${path}:${line}:${column}: the model catalog is not valid JSON: ${error.message}`,
    );
  }
}

function checkVariants(entry: CatalogEntry, at: (variant: number) => string): void {
  entry.variants.forEach((variant, index) => {
    if ((variant.file === undefined) !== (variant.url === undefined)) return;
    throw new StartupError(`${at(index)}variants[${index}]: exactly one of "file" and "url" is expected`);
  });
}

/** `model "e5": ` when `keys` lead into an entry that has a name. */
function entryName(written: unknown, [list, index]: readonly PropertyKey[]): string {
  if (list !== 'models' || typeof index !== 'number') return '';
  const name = (written as { models: { name?: unknown }[] }).models[index]?.name;
  return typeof name === 'string' ? `model ${JSON.stringify(name.slice(0, 128))}: ` : '';
}
