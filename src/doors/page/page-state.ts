import type { DoorHost, PagePlace } from '../host.js';
import type { Exchange } from '../http/exchange.js';
import type { Route } from '../http/route.js';
import type { Targets } from '../openai/targets.js';
import { checkDeclared, declaredNames } from '../rest/storages.js';
import { FieldCounts, type FieldFacts } from './field-facts.js';

/** A model of the catalog, for people. */
export interface PageModel {
  readonly name: string;
  readonly kind: string;
  readonly present: boolean;
}

/** Who may answer: sentences are quoted, an agent of the config answers, or a language model. */
export interface PageAnswerer {
  readonly kind: 'quote' | 'agent' | 'model';
  readonly name: string;
}

/** The folders and models behind the page. */
export interface PageState {
  readonly version: string;
  readonly places: readonly PagePlace[];
  readonly models: readonly PageModel[];
  /** The first one is used unless another one is chosen. */
  readonly answerers: readonly PageAnswerer[];
}

/** A storage of the page, with its fields. */
export interface PageStorage {
  readonly name: string;
  readonly records: number;
  readonly fields: readonly FieldFacts[];
}

/** Records that are looked at for the values of fields, and records of one reading. */
const lookedAt = 5000;
const atOnce = 500;

export function pageStateRoutes(targets: Targets): Route[] {
  return [
    {
      ...{ method: 'GET', path: '/page/state', right: 'search' },
      operation: 'page_state',
      summary: 'The folders and models behind the page.',
      serve: (exchange) => exchange.sendJson(stateOf(exchange.host, targets)),
    },
    {
      ...{ method: 'GET', path: '/page/storages/{storage}', right: 'search' },
      operation: 'page_storage',
      summary: 'The fields of a storage and their values.',
      serve: sendStorage,
    },
  ];
}

function stateOf(host: DoorHost, targets: Targets): PageState {
  const places =
    host.page?.places ??
    declaredNames(host).map((name) => ({
      ...{ name, kind: 'config', state: 'ready' },
      path: name,
    }));
  const models = host.catalog.entries.map(({ name, model_type, variants }) => ({
    name,
    kind: model_type,
    present: variants.some((variant) => host.catalog.pathOf(variant).present),
  }));
  return {
    version: host.version,
    places: places as readonly PagePlace[],
    models,
    answerers: answerers(targets, host.page?.model),
  };
}

function answerers(targets: Targets, chosen: string | undefined): PageAnswerer[] {
  const named = (kind: 'agent' | 'model', names: readonly string[]) => names.map((name) => ({ kind, name }));
  const agents = targets.list.filter(({ kind }) => kind === 'agent').map(({ name }) => name);
  const models = targets.namesOf('llm');
  const [first, others] =
    chosen === undefined ? [[], models] : [[chosen], models.filter((name) => name !== chosen)];
  const quote: PageAnswerer = { kind: 'quote', name: 'sentences of the documents' };
  return [...named('agent', agents), ...named('model', [...first, ...others]), quote];
}

async function sendStorage(exchange: Exchange): Promise<void> {
  const { storage: name = '' } = exchange.params;
  const { host, session } = exchange;
  checkDeclared(host, name, 'storage');
  const pin = await session.pin(name, 'storage');
  const definitions = pin.value.storage.fields ?? [];
  const records = pin.value.size;
  await pin.release();
  const counts = new FieldCounts(definitions);
  // A large storage is looked at in pieces from all its parts.
  const pieces = Math.ceil(Math.min(records, lookedAt) / atOnce);
  for (let piece = 0; piece < pieces && definitions.length > 0; piece++) {
    const offset = records <= lookedAt ? piece * atOnce : Math.floor((piece * records) / pieces);
    const page = await session.call('ListEmbeddedStringStorageRequest', { name, offset, limit: atOnce });
    await counts.add(page.records);
  }
  const reply: PageStorage = { name, records, fields: counts.facts(records <= lookedAt) };
  await exchange.sendJson(reply);
}
