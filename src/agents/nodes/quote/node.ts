import type { Knowledge } from '../../../protocol/components.js';
import type { Interaction, OwnCitation } from '../../interaction.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import type { UsedRecord } from '../../turn-sources.js';
import { bestSentences, type Quotable } from './best-sentences.js';
import { type QuoteParams, schema } from './schema.js';

/** Replies with the sentences of the knowledge that match the query best, and cites their records. */
export const node: NodeType = {
  plan(id, params, where): NodePlan {
    const checked = parseParams(schema.params, params, where);
    return { id, type: schema.type, open: async () => new QuoteNode(id, checked) };
  },
};

class QuoteNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #params: QuoteParams;

  constructor(id: string, params: QuoteParams) {
    this.id = id;
    this.#params = params;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const { max_sentences, min_score, separator, fallback } = this.#params;
    const knowledge = interaction.components.filter(
      (component): component is Knowledge => component._type === 'knowledge',
    );
    const wanted = { count: max_sentences, minScore: min_score };
    const { best, count } = await bestSentences(knowledge, interaction.sources, wanted, signal);
    if (best.length > 0) {
      const { text, citations } = composeReply(best, separator);
      interaction.reply(this.id, text, citations);
      interaction.use(this.#quoted(citations, text));
    } else if (fallback !== undefined) interaction.reply(this.id, fallback);
    return { report: { sentences: count, quoted: best.length, best_score: best[0]?.score } };
  }

  async close(): Promise<void> {}

  /** Returns the records of the quotes, each once, with its first quote. */
  #quoted(citations: readonly OwnCitation[], reply: string): UsedRecord[] {
    const records = new Map<string, UsedRecord>();
    for (const { storage, id, start, end, reply_start, reply_end, score, metadata } of citations) {
      const key = JSON.stringify([storage, id]);
      if (records.has(key)) continue;
      const sentence = { start, end, text: reply.slice(reply_start, reply_end) };
      records.set(key, { node: this.id, storage, id, sentence, score, metadata });
    }
    return [...records.values()];
  }
}

/** Composes the reply: the record with the best sentence comes first; sentences of one record keep their order. */
function composeReply(
  best: readonly Quotable[],
  separator: string,
): { text: string; citations: OwnCitation[] } {
  const recordOf = ({ knowledge: { storage, id } }: Quotable) => JSON.stringify([storage, id]);
  const places = new Map<string, number>();
  for (const quotable of best) {
    if (!places.has(recordOf(quotable))) places.set(recordOf(quotable), places.size);
  }
  const placeOf = (quotable: Quotable) => places.get(recordOf(quotable)) ?? 0;
  const inOrder = [...best].sort((a, b) => placeOf(a) - placeOf(b) || a.start - b.start);
  let text = '';
  const citations: OwnCitation[] = [];
  for (const { knowledge, start, end, text: sentence, score } of inOrder) {
    const { storage, id, metadata } = knowledge;
    if (text !== '') text += separator;
    const reply_start = text.length;
    text += sentence;
    citations.push({
      kind: 'quote',
      storage,
      id,
      start,
      end,
      reply_start,
      reply_end: text.length,
      score,
      metadata,
    });
  }
  return { text, citations };
}
