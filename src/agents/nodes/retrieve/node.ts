import type { Filter } from '../../../../lib/index.js';
import type { Knowledge } from '../../../protocol/components.js';
import { checkFusion, compileFilter, searchStorage } from '../../../storages/search.js';
import type { StoragePin } from '../../../storages/shared-storage.js';
import type { Interaction } from '../../interaction.js';
import { milliseconds } from '../../milliseconds.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { QueryTemplate } from '../../query-template.js';
import { engineDiagnostics } from './engine-diagnostics.js';
import { type RetrieveParams, schema } from './schema.js';

/** Searches a storage with a query made from the interaction, and appends one knowledge component per hit. */
export const node: NodeType = {
  templateLength: ({ query }) => (typeof query === 'string' ? query.length : 0),
  plan(id, params, where): NodePlan {
    const checked = parseParams(schema.params, params, where);
    const query = new QueryTemplate(checked.query, `${where}.params.query`, 4003);
    return {
      id,
      type: schema.type,
      open: async ({ storages }) => {
        const storage = checked.embedded_string_storage;
        const pin = await storages.pin(storage, `${where}.params.embedded_string_storage`);
        try {
          checkFusion(pin, checked, `${where}.params.rrf`, 4003);
          const filterPath = `${where}.params.filter`;
          const filter = compileFilter(pin, checked.filter, filterPath, 4003);
          return new RetrieveNode(id, { params: checked, pin, filter, query, filterPath });
        } catch (error) {
          await pin.release();
          throw error;
        }
      },
    };
  },
};

/** A node's checked params and what they were made into. */
interface RetrieveParts {
  params: RetrieveParams;
  pin: StoragePin;
  filter: Filter | undefined;
  query: QueryTemplate;
  filterPath: string;
}

class RetrieveNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #parts: RetrieveParts;

  constructor(id: string, parts: RetrieveParts) {
    this.id = id;
    this.#parts = parts;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const { params, pin, filter, query, filterPath } = this.#parts;
    const { variables } = interaction;
    const text = query.render(interaction);
    const { hits, plan, embedMs, searchMs, embedding } = await searchStorage(
      pin,
      { text, textPath: query.origin, retrieval: params, filter, filterPath, variables, invalid: 4003 },
      signal,
    );
    const storage = params.embedded_string_storage;
    interaction.append(
      hits.map((hit): Knowledge => ({ _type: 'knowledge', node: this.id, storage, ...hit })),
    );
    return {
      report: { embed_ms: milliseconds(embedMs), search_ms: milliseconds(searchMs), plan },
      ...(embedding && { engine: engineDiagnostics(pin.model, embedding, embedMs) }),
    };
  }

  async close(): Promise<void> {
    await this.#parts.filter?.close();
    await this.#parts.pin.release();
  }
}
