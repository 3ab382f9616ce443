import { readFile } from 'node:fs/promises';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { StartupError } from '../../config/startup-error.js';
import { kindNames } from '../../models/file-kind.js';
import type { CatalogEntry } from '../../models/schema.js';
import type { Graph } from '../../protocol/graph.js';
import { checkedGraph } from '../graph-file.js';
import type { DoorHost } from '../host.js';
import { HttpRefusal } from '../http/failure.js';

/** Something that a client may name as the `model` of a reply. */
export type Target =
  | { readonly kind: 'agent'; readonly name: string; readonly graph: Graph }
  | { readonly kind: 'storage'; readonly name: string }
  | { readonly kind: 'model'; readonly name: string };

/** Kinds in messages. */
const kindWords = {
  agent: 'an agent',
  storage: 'a knowledge base',
  llm: kindNames.llm,
  embedding: kindNames.embedding,
  reranker: kindNames.reranker,
};

/** The agents, knowledge bases and models that the doors show. */
export class Targets {
  readonly #host: DoorHost;
  readonly #agents: ReadonlyMap<string, Graph>;

  private constructor(host: DoorHost, agents: ReadonlyMap<string, Graph>) {
    this.#host = host;
    this.#agents = agents;
  }

  /** Reads the graphs of `http.agents`. @throws StartupError for a file that is no graph, or a name used twice */
  static async read(host: DoorHost): Promise<Targets> {
    const { agents, storages } = host.config.http;
    const graphs = new Map<string, Graph>();
    for (const [name, file] of Object.entries(agents)) {
      const field = `http.agents.${name}`;
      if (Object.hasOwn(storages, name))
        throw new StartupError(`${field}: http.storages has this name, too; choose another one`);
      const text = await readFile(file, 'utf8').catch((error: Error) => {
        throw new StartupError(`${field}: ${file}: cannot be read: ${error.message}`);
      });
      graphs.set(name, checkedGraph(text, `${field}: ${file}`));
    }
    return new Targets(host, graphs);
  }

  /** What a name stands for: an agent, a knowledge base, or a language model of the catalog. @throws HttpRefusal */
  find(name: string): Target {
    const graph = this.#agents.get(name);
    if (graph !== undefined) return { kind: 'agent', name, graph };
    if (Object.hasOwn(this.#host.config.http.storages, name)) return { kind: 'storage', name };
    if (this.#entries('llm').some((entry) => entry.name === name)) return { kind: 'model', name };
    return this.refuse(name, this.#repliers, 'an agent, a knowledge base or a language model');
  }

  /** Names of all targets and models, with their kinds. */
  get list(): { name: string; kind: keyof typeof kindWords }[] {
    const { http } = this.#host.config;
    const own = [
      ...[...this.#agents.keys()].map((name) => ({ name, kind: 'agent' as const })),
      ...Object.keys(http.storages).map((name) => ({ name, kind: 'storage' as const })),
    ];
    const taken = new Set(own.map(({ name }) => name));
    const models = (['llm', 'embedding', 'reranker'] as const).flatMap((kind) =>
      this.#entries(kind).map(({ name }) => ({ name, kind })),
    );
    return [...own, ...models.filter(({ name }) => !taken.has(name))];
  }

  /** Whether a language model can be loaded. */
  get hasLanguageModel(): boolean {
    return this.#entries('llm').length > 0;
  }

  /** Names of the catalog's models of a kind whose file is present. */
  namesOf(kind: CatalogEntry['model_type']): string[] {
    return this.#entries(kind).map(({ name }) => name);
  }

  /** @throws HttpRefusal for an unknown model, with the nearest name, and for a model that is no `wanted` one */
  refuse(name: string, known: readonly string[], wanted = 'a model'): never {
    const shown = JSON.stringify(name.slice(0, 128));
    const other = this.list.find((each) => each.name === name);
    const near = didYouMean(nearestName(name, known));
    const message =
      other === undefined
        ? `model: there is no ${shown} here${near === '' ? '; GET /v1/models lists them' : near}`
        : `model: ${shown} is ${kindWords[other.kind]}; ${wanted} is expected`;
    throw new HttpRefusal(404, 'model_not_found', message, 'model');
  }

  get #repliers(): string[] {
    return this.list
      .filter(({ kind }) => kind !== 'embedding' && kind !== 'reranker')
      .map(({ name }) => name);
  }

  #entries(kind: CatalogEntry['model_type']): CatalogEntry[] {
    const { catalog } = this.#host;
    return catalog.entries.filter(
      ({ model_type, variants }) =>
        model_type === kind && variants.some((variant) => catalog.pathOf(variant).present),
    );
  }
}
