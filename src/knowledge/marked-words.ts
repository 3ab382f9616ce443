import type { LexicalOptions, Tokenizer } from '../../lib/internal.js';
import { wordsOfQuestion } from '../base/words/words-of-questions.js';

/**
 * Returns the options by which the words of a query are marked in hits. Words such as `the` and `where` are searched for with the
 * tokenizer multilingual, but they show nothing.
 */
export function markedWords(
  { text, lexical }: { text?: string | undefined; lexical?: LexicalOptions | undefined },
  tokenizer: Tokenizer | undefined,
): LexicalOptions | undefined {
  if (tokenizer !== 'multilingual' || text === undefined) return lexical;
  const left = wordsOfQuestion(text);
  return left.length === 0 ? lexical : { ...lexical, stopwords: [...(lexical?.stopwords ?? []), ...left] };
}
