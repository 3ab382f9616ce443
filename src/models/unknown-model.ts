import { didYouMean, nearestName } from '../base/schema/nearest.js';
import type { Catalog } from './catalog.js';
import type { CatalogEntry } from './schema.js';

/** Maximum number of names in a message; `known` has all of them. */
const longestList = 8;

/** Types of models that requests name. */
type NamedType = CatalogEntry['model_type'];

const called = {
  embedding: { one: 'an embedding model', none: 'no embedding model' },
  llm: { one: 'a language model', none: 'no language model (model_type "llm")' },
  reranker: { one: 'a reranker', none: 'no reranker (model_type "reranker")' },
  vad: { one: 'a model for voice activity', none: 'no model for voice activity (model_type "vad")' },
  stt: { one: 'a model for speech', none: 'no model for speech (model_type "stt")' },
} as const;

interface Unknown {
  /** Begins with "there is", "the" or "model". */
  readonly reason: string;
  /** Names of the type. */
  readonly known: readonly string[];
  readonly nearest: string | undefined;
}

/** Says why a name is not one of the catalog's models of a type. `other`: its entry of another type. */
export function whyUnknown(
  type: NamedType,
  name: string | undefined,
  other: CatalogEntry | undefined,
  known: readonly string[],
): Unknown {
  const { one, none } = called[type];
  const listed = known.slice(0, longestList).map((each) => JSON.stringify(each));
  const has = `the catalog has ${listed.length === 0 ? none : listed.join(', ')}`;
  if (name === undefined) return { reason: has, known, nearest: undefined };
  const shown = JSON.stringify(name.slice(0, 128));
  const nearest = nearestName(name, known);
  const reason =
    other === undefined
      ? `there is no ${one.slice(one.indexOf(' ') + 1)} ${shown}${didYouMean(nearest) || `; ${has}`}`
      : `model ${shown} is of type ${other.model_type}; ${one} is needed`;
  return { reason, known, nearest };
}

/** The catalog has no model of a name and type, or none at all. */
export class UnknownModelError extends Error {
  override readonly name = 'UnknownModelError';
  readonly known: readonly string[];
  readonly nearest: string | undefined;

  constructor({ reason, known, nearest }: Unknown) {
    super(reason);
    this.known = known;
    this.nearest = nearest;
  }
}

/** Returns the entry of a name, or the first of the type that is present, else the first. @throws UnknownModelError */
export function findModel(catalog: Catalog, type: NamedType, name: string | undefined): CatalogEntry {
  const names = catalog.namesOf(type);
  const wanted = name ?? names.find((each) => isPresent(catalog, each)) ?? names[0];
  const entry = wanted === undefined ? undefined : catalog.find(wanted);
  if (entry?.model_type === type) return entry;
  throw new UnknownModelError(whyUnknown(type, name, entry, names));
}

function isPresent(catalog: Catalog, name: string): boolean {
  const entry = catalog.find(name);
  return entry !== undefined && catalog.locate(entry).present;
}
