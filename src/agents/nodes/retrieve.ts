import type { Filter } from '../../../lib/index.js';
import type { Knowledge } from '../../protocol/components.js';
import { fail, serverError } from '../../protocol/errors.js';
import { type RetrieveParams, retrieveParamsSchema } from '../../protocol/graph.js';
import { compileFilter, searchStorage } from '../../storages/search.js';
import type { StoragePin } from '../../storages/shared-storage.js';
import type { StorageSet } from '../../storages/storage-set.js';
import type { Interaction } from '../interaction.js';
import type { AgentNode, NodePlan, NodeReport, NodeType } from '../node.js';
import { parseParams } from '../params.js';
import { Template } from '../template.js';

/** Searches a storage with a query made from the interaction, and appends one knowledge component per hit. */
export const retrieve: NodeType = {
  plan(id, params, where): NodePlan {
    const checked = parseParams(retrieveParamsSchema, params, where);
    const queryPath = `${where}.params.query`;
    const template = parseTemplate(checked.query, queryPath);
    return {
      id,
      type: 'retrieve',
      open: async (storages: StorageSet) => {
        const storage = checked.embedded_string_storage;
        const pin = await storages.pin(storage, `${where}.params.embedded_string_storage`);
        try {
          const filterPath = `${where}.params.filter`;
          const filter = compileFilter(pin, checked.filter, filterPath, 4003);
          return new RetrieveNode(id, { params: checked, pin, filter, template, queryPath, filterPath });
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
  template: Template;
  queryPath: string;
  filterPath: string;
}

class RetrieveNode implements AgentNode {
  readonly id: string;
  readonly type = 'retrieve';
  readonly #parts: RetrieveParts;

  constructor(id: string, parts: RetrieveParts) {
    this.id = id;
    this.#parts = parts;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeReport> {
    const { params, pin, filter, filterPath } = this.#parts;
    const { variables } = interaction;
    const text = this.#query(interaction);
    const { hits, plan, embedMs, searchMs } = await searchStorage(
      pin,
      { text, retrieval: params, filter, variables, where: filterPath, invalid: 4003 },
      signal,
    );
    const storage = params.embedded_string_storage;
    interaction.append(
      hits.map((hit): Knowledge => ({ _type: 'knowledge', node: this.id, storage, ...hit })),
    );
    return { embed_ms: embedMs, search_ms: searchMs, plan };
  }

  async close(): Promise<void> {
    await this.#parts.filter?.close();
    await this.#parts.pin.release();
  }

  #query(interaction: Interaction): string {
    const { queryPath: path, template } = this.#parts;
    let query: string;
    try {
      query = template.render(interaction);
    } catch (cause) {
      throw serverError(4003, `${path}: ${(cause as Error).message}`, { path }, { cause });
    }
    if (query.trim() === '') fail(4003, `${path}: it gave an empty query for this turn`, { path });
    return query;
  }
}

function parseTemplate(source: string, path: string): Template {
  try {
    return new Template(source);
  } catch (cause) {
    throw serverError(
      4003,
      `${path}: not a Mustache template: ${(cause as Error).message}`,
      { path },
      { cause },
    );
  }
}
