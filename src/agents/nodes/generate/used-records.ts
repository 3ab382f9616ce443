import type { Citation, Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import type { UsedRecord } from '../../turn-sources.js';
import { sentenceOfEach } from '../quote/best-sentences.js';
import { longestSentence } from '../quote/sentences.js';

interface Reply {
  /** Id of the node. */
  readonly node: string;
  /** Citations of the reply. */
  readonly citations: readonly Citation[];
}

/**
 * Returns the records of a prompt, in the order of their numbers, with the part that the reply quotes, else the sentence that
 * matches the query best. @throws the signal's reason
 */
export async function usedRecords(
  numbered: readonly Knowledge[],
  { node, citations }: Reply,
  sources: ReadonlyMap<string, KnowledgeSource>,
  signal: AbortSignal,
): Promise<UsedRecord[]> {
  const matching = await sentenceOfEach(numbered, sources, signal);
  const quotes = citations.filter((citation) => citation.node === node && citation.kind === 'quote');
  return numbered.map((record, index) => {
    const { storage, id, text, score, metadata } = record;
    const place =
      quotes.find((quote) => quote.storage === storage && quote.id === id) ?? matching.get(record);
    const end = place && Math.min(place.end, place.start + longestSentence);
    return {
      ...{ node, storage, id, number: index + 1, score, metadata },
      ...(place && end && { sentence: { start: place.start, end, text: text.slice(place.start, end) } }),
    };
  });
}
