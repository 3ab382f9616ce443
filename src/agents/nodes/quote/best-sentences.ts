import { clientSlices } from '../../../base/waiting/next-slice.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import { type SentenceScorer, sentenceScorers } from './scorer.js';
import { type Span, sentenceSteps } from './sentences.js';

/** Maximum length of the text that one run examines, in UTF-16 units, best records first. */
export const maxText = 1_048_576;

/** The score of the n-th record's sentences is divided by 1 + (n - 1) * rankDiscount. */
const rankDiscount = 0.2;

/** A sentence of a record. */
export interface Quotable extends Span {
  readonly knowledge: Knowledge;
  readonly text: string;
  readonly score: number;
  /** The score after the rank discount. */
  readonly order: number;
}

export interface BestSentences {
  /** Best first. */
  readonly best: readonly Quotable[];
  /** Sentences examined. */
  readonly count: number;
}

/** Returns the sentences of the knowledge with the best scores for the queries. @throws the signal's reason */
export async function bestSentences(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
  { count: most, minScore }: { count: number; minScore: number },
  signal: AbortSignal,
): Promise<BestSentences> {
  const best = new Best(most);
  let count = 0;
  const byRank = [...knowledge].sort((a, b) => a.rank - b.rank);
  await eachSentence(byRank, sources, signal, (sentence) => {
    if (sentence.score >= minScore) best.add(sentence);
    count++;
  });
  return { best: best.items, count };
}

/**
 * Returns the sentence of each record that has the best score; none for a record whose sentences share no word with the query.
 * @throws the signal's reason
 */
export async function sentenceOfEach(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
  signal: AbortSignal,
): Promise<Map<Knowledge, Quotable>> {
  const best = new Map<Knowledge, Quotable>();
  await eachSentence(knowledge, sources, signal, (sentence) => {
    const { knowledge, score } = sentence;
    if (score > (best.get(knowledge)?.score ?? 0)) best.set(knowledge, sentence);
  });
  return best;
}

/** Scores the sentences of records, in slices, until `maxText` units are examined. */
async function eachSentence(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
  signal: AbortSignal,
  take: (sentence: Quotable) => void,
): Promise<void> {
  const scorers = await sentenceScorers([...sources]);
  const slices = clientSlices();
  let looked = 0;
  for (const record of knowledge) {
    const scorer = scorers.get(record.node);
    const text = record.text.slice(0, maxText - looked);
    const body = headingsLength(record);
    for (const span of scorer === undefined ? [] : sentenceSteps(text.slice(body))) {
      if (slices.over) await slices.next();
      signal.throwIfAborted();
      if (span === undefined) continue;
      const [start, end] = [body + span.start, body + span.end];
      const sentence = text.slice(start, end);
      const score = (scorer as SentenceScorer).score(sentence);
      const order = score / (1 + rankDiscount * (record.rank - 1));
      take({ knowledge: record, start, end, text: sentence, score, order });
    }
    looked += text.length;
  }
}

/** Longest line of headings above the passage of an indexed document. */
const longestHeadings = 300;

/**
 * Returns where the passage of a record begins. Records of indexed documents begin with their title and headings, which are in
 * the metadata, too; they are no sentence.
 */
function headingsLength({ text, metadata = {} }: Knowledge): number {
  const { title, heading } = metadata;
  const parts = [title, heading].filter((part) => typeof part === 'string' && part !== '');
  const above = `${parts.join(' > ').slice(0, longestHeadings)}\n\n`;
  return parts.length > 0 && text.startsWith(above) ? above.length : 0;
}

/** Keeps the best few sentences by `order`; the earlier of equal ones. Equal texts count once. */
class Best {
  readonly items: Quotable[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(item: Quotable): void {
    const { items } = this;
    if (items.length === this.#most && item.order <= (items.at(-1)?.order ?? 0)) return;
    const same = items.findIndex(({ text }) => text === item.text);
    if (same >= 0 && (items[same] as Quotable).order >= item.order) return;
    if (same >= 0) items.splice(same, 1);
    const place = items.findIndex(({ order }) => order < item.order);
    items.splice(place < 0 ? items.length : place, 0, item);
    if (items.length > this.#most) items.pop();
  }
}
