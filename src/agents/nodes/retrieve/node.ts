import { mapInSlices } from '../../../base/waiting/next-slice.js';
import { filterBytes } from '../../../fairness/estimates.js';
import type { Pin, SearchableStorage } from '../../../knowledge/index.js';
import type { AsOf } from '../../../protocol/as-of.js';
import type { Knowledge } from '../../../protocol/components.js';
import { milliseconds } from '../../../protocol/milliseconds.js';
import { atVersion } from '../../../storages/changes.js';
import { StorageSearch } from '../../../storages/search.js';
import type { StoragePin } from '../../../storages/storage-set.js';
import type { Interaction } from '../../interaction.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { QueryTemplate } from '../../query-template.js';
import { engineDiagnostics } from './engine-diagnostics.js';
import { schema } from './schema.js';

/** Searches a storage with a query rendered from the interaction, and appends one knowledge component per hit. */
export const node: NodeType = {
  templateLength: ({ query }) => (typeof query === 'string' ? query.length : 0),
  plan(id, params, where): NodePlan {
    const checked = parseParams(schema.params, params, where);
    const query = new QueryTemplate(checked.query, `${where}.params.query`, 4003);
    return {
      id,
      type: schema.type,
      open: async ({ storages, account, rerankers, memory }) => {
        memory.add(query.bytes, `${where}: the agent was not created`);
        const storage = checked.embedded_string_storage;
        const pin = await storages.pin(storage, `${where}.params.embedded_string_storage`, {
          stale: checked.stale,
        });
        try {
          const places = { text: query.origin, fields: `${where}.params.`, invalid: 4003 } as const;
          const place = { where: `${where}.params.embedded_string_storage`, value: storage };
          const prepare = (searched: SearchableStorage) =>
            StorageSearch.prepare([{ storage: searched, place }], checked, places, { account, rerankers });
          const search = await prepare(pin.value);
          memory.add(
            filterBytes(checked.filter, pin.value.size),
            `${places.fields}filter: the agent was not created`,
          );
          const { emit, as_of: asOf } = checked;
          return new RetrieveNode(id, { storage, pin, query, search, prepare, emit, asOf });
        } catch (error) {
          await pin.release();
          throw error;
        }
      },
    };
  },
};

interface RetrieveParts {
  /** The storage's name or path in the params. */
  storage: string;
  pin: Pin<SearchableStorage>;
  query: QueryTemplate;
  /** In the newest version. */
  search: StorageSearch;
  /** Prepares the search in another version. */
  prepare(storage: SearchableStorage): Promise<StorageSearch>;
  asOf: AsOf | undefined;
  /** Whether the client is sent the hits. */
  emit: boolean;
}

class RetrieveNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #parts: RetrieveParts;

  constructor(id: string, parts: RetrieveParts) {
    this.id = id;
    this.#parts = parts;
  }

  get storage(): string {
    return this.#parts.storage;
  }

  get searched(): StoragePin {
    return this.#parts.pin;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const { storage, pin, query, emit } = this.#parts;
    const text = query.render(interaction);
    const { searched, search } = await this.#atVersion(interaction);
    await interaction.reserve(search.resultBytes, signal);
    const outcome = await search.run(text, interaction.variables, signal);
    const { hits, plan, stale, version, embedMs, searchMs, cosineFloor } = outcome;
    const mark = stale ? ({ stale: true } as const) : {};
    interaction.append(
      await mapInSlices(
        hits,
        (hit): Knowledge => ({ _type: 'knowledge', node: this.id, ...hit, storage, ...mark }),
      ),
    );
    if (emit) interaction.emitting.add(this.id);
    if (version !== undefined) interaction.versions.set(storage, version);
    const { storage: source, defaults } = searched;
    const calibration = defaults.relevance?.[plan.mode];
    interaction.sources.set(this.id, { query: text, storage: source, cosineFloor, calibration });
    return {
      report: {
        embed_ms: milliseconds(embedMs),
        search_ms: milliseconds(searchMs),
        version,
        plan,
        ...mark,
      },
      engine: engineDiagnostics(pin.value.model, outcome),
    };
  }

  /** The version that the turn or the params ask for, until the turn ends. @throws VersionGone */
  async #atVersion(
    interaction: Interaction,
  ): Promise<{ searched: SearchableStorage; search: StorageSearch }> {
    const { storage, pin, search, prepare, asOf: usual } = this.#parts;
    const asOf = interaction.asOf(storage) ?? usual;
    if (asOf === undefined) return { searched: pin.value, search };
    const view = atVersion(pin.value, asOf);
    interaction.atEnd(() => view.release());
    return { searched: view.storage, search: await prepare(view.storage) };
  }

  close(): Promise<void> {
    return this.#parts.pin.release();
  }
}
