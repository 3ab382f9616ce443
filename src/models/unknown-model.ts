import { didYouMean, nearestName } from '../base/schema/nearest.js';
import type { Catalog } from './catalog.js';
import type { CatalogEntry } from './schema.js';

/** Maximum number of names in a message; `known` has all of them. */
const longestList = 8;

/** Types of models that requests name. */
type NamedType = 'llm' | 'reranker';

const called = {
  llm: { one: 'a language model', none: 'no language model (model_type "llm")', there: 'language model' },
  reranker: { one: 'a reranker', none: 'no reranker (model_type "reranker")', there: 'reranker' },
} as const;

/** The catalog has no model of a name and type, or none at all. `message` begins with "there is", "the" or "model". */
export class UnknownModelError extends Error {
  override readonly name = 'UnknownModelError';
  readonly known: readonly string[];
  readonly nearest: string | undefined;

  constructor(
    type: NamedType,
    name: string | undefined,
    other: CatalogEntry | undefined,
    known: readonly string[],
  ) {
    const { one, none, there } = called[type];
    const shown = JSON.stringify(name?.slice(0, 128));
    const nearest = name === undefined ? undefined : nearestName(name, known);
    const listed = known.slice(0, longestList).map((each) => JSON.stringify(each));
    const has = listed.length === 0 ? none : listed.join(', ');
    if (name === undefined) super(`the catalog has ${has}`);
    else if (other !== undefined) super(`model ${shown} is of type ${other.model_type}; ${one} is needed`);
    else super(`there is no ${there} ${shown}${didYouMean(nearest) || `; the catalog has ${has}`}`);
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
  throw new UnknownModelError(type, name, entry, names);
}

function isPresent(catalog: Catalog, name: string): boolean {
  const entry = catalog.find(name);
  return entry !== undefined && catalog.locate(entry).present;
}
