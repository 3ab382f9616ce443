import { LorekeepError } from '../../../../lib/internal.js';
import { rerank } from '../../../knowledge/rerank.js';
import type { CatalogReranker } from '../../../models/rerankers.js';
import { serverError } from '../../../protocol/errors.js';
import { milliseconds } from '../../../protocol/milliseconds.js';
import { unknownModel } from '../../../storages/wire-errors.js';
import type { Interaction } from '../../interaction.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { QueryTemplate } from '../../query-template.js';
import { rankedKnowledge } from '../../ranked-knowledge.js';
import { engineDiagnostics } from './engine-diagnostics.js';
import { type RerankParams, schema } from './schema.js';

/** Sorts the knowledge so far with a cross-encoder. */
export const node: NodeType = {
  templateLength: ({ query }) => (typeof query === 'string' ? query.length : 0),
  plan(id, given, where): NodePlan {
    const params = parseParams(schema.params, given, where);
    const query = new QueryTemplate(params.query, `${where}.params.query`, 4003);
    return {
      id,
      type: schema.type,
      open: async ({ rerankers, memory }) => {
        memory.add(query.bytes, `${where}: the agent was not created`);
        try {
          return new RerankNode(id, params, query, rerankers.find(params.model));
        } catch (error) {
          throw unknownModel(error, `${where}.params.model`, 4003);
        }
      },
    };
  },
};

class RerankNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #params: RerankParams;
  readonly #query: QueryTemplate;
  readonly #model: CatalogReranker;

  constructor(id: string, params: RerankParams, query: QueryTemplate, model: CatalogReranker) {
    this.id = id;
    this.#params = params;
    this.#query = query;
    this.#model = model;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const { top_k, deadline_ms: deadlineMs } = this.#params;
    const knowledge = rankedKnowledge(interaction);
    const query = this.#query.render(interaction);
    const options = { model: this.#model, deadlineMs };
    const { items, facts } = await rerank(options, query, knowledge, signal).catch((error) => {
      throw this.#failure(error);
    });
    const kept = items.slice(0, top_k);
    interaction.replaceKnowledge(
      kept.map(({ item, score }, index) => ({
        ...item,
        rank: index + 1,
        ...(score !== undefined && { rerank_score: score }),
      })),
    );
    const { reranked, documents, truncated, tokens } = facts;
    const rerank_ms = milliseconds(facts.ms);
    return {
      report: {
        reranked,
        documents,
        truncated,
        rerank_tokens: tokens,
        rerank_ms,
        dropped_records: knowledge.length - kept.length,
      },
      engine: engineDiagnostics(this.#model.name, facts),
    };
  }

  async close(): Promise<void> {}

  #failure(error: unknown): unknown {
    if (!(error instanceof LorekeepError) || error.detail.field !== 'text') return error;
    const path = this.#query.origin;
    const message = `${path}: ${error.detail.reason}`;
    return serverError(5004, message, { path }, { cause: error });
  }
}
