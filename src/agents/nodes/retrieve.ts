import type { Knowledge } from '../../protocol/components.js';
import { fail, serverError } from '../../protocol/errors.js';
import { type RetrieveParams, retrieveParamsSchema } from '../../protocol/graph.js';
import { checkRetrieval, searchStorage } from '../../storages/search.js';
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
    checkRetrieval(checked, `${where}.params.filter`);
    const queryPath = `${where}.params.query`;
    const template = parseTemplate(checked.query, queryPath);
    return {
      id,
      type: 'retrieve',
      open: async (storages: StorageSet) => {
        const storage = checked.embedded_string_storage;
        const pin = await storages.pin(storage, `${where}.params.embedded_string_storage`);
        return new RetrieveNode(id, checked, pin, template, queryPath);
      },
    };
  },
};

class RetrieveNode implements AgentNode {
  readonly id: string;
  readonly type = 'retrieve';
  readonly #params: RetrieveParams;
  readonly #pin: StoragePin;
  readonly #template: Template;
  readonly #queryPath: string;

  constructor(id: string, params: RetrieveParams, pin: StoragePin, template: Template, queryPath: string) {
    this.id = id;
    this.#params = params;
    this.#pin = pin;
    this.#template = template;
    this.#queryPath = queryPath;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeReport> {
    const query = this.#query(interaction);
    const { hits, plan, embedMs, searchMs } = await searchStorage(this.#pin, query, this.#params, signal);
    const storage = this.#params.embedded_string_storage;
    interaction.append(
      hits.map((hit): Knowledge => ({ _type: 'knowledge', node: this.id, storage, ...hit })),
    );
    return { embed_ms: embedMs, search_ms: searchMs, plan };
  }

  close(): Promise<void> {
    return this.#pin.release();
  }

  #query(interaction: Interaction): string {
    const path = this.#queryPath;
    let query: string;
    try {
      query = this.#template.render(interaction);
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
