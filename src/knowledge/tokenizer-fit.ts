import type { TextIndex } from '../../lib/internal.js';
import type { KnowledgeLog } from './log.js';

/** Share of badly tokenized texts from which on the log warns. */
const mostly = 0.5;

/** Logs a warning if the tokenizer finds no words, or no useful ones, in many of the texts. */
export function warnOfTokenizer(index: TextIndex, file: string, log: KnowledgeLog): void {
  const { size, tokenizer } = index;
  const { emptyTexts, unsuitedWords } = index.tokenizerFit();
  if (size > 0 && emptyTexts > size * mostly) {
    log.warn(
      { file, tokenizer, records: size, empty: emptyTexts },
      `${emptyTexts} of ${size} records hold no words under bm25_tokenizer "${tokenizer}": lexical search cannot find them`,
    );
  }
  if (unsuitedWords > mostly) {
    log.warn(
      { file, tokenizer, unsuited: unsuitedWords },
      `${Math.round(unsuitedWords * 100)} % of the words are in scripts without spaces between words, or with vowels as marks: ` +
        `bm25_tokenizer "${tokenizer}" splits them into whole clauses or fragments; use "bm25_tokenizer": "multilingual"`,
    );
  }
}
