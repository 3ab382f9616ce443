import type { FormatGrammar } from './format-grammar.js';
import { formatGrammars } from './format-grammars.gen.js';
import type { Shape } from './shape.js';
import { formatKey } from './string-formats.js';

/**
 * The grammar of a shape's strings that was derived when the program was built: of one format, with at most one pattern beside it,
 * and with lengths that all of its texts have.
 */
export function formatGrammarOf({ string, excluded }: Shape): FormatGrammar | undefined {
  const [one, ...others] = string.formats;
  const [pattern, ...patterns] = string.patterns;
  if (one === undefined || others.length + patterns.length + excluded.length > 0) return undefined;
  const found = pattern?.negated ? undefined : formatGrammars.get(formatKey(one.format, pattern?.pattern));
  if (found === undefined) return undefined;
  const { least, most = Number.POSITIVE_INFINITY } = found;
  return string.least <= least && string.most >= most ? found : undefined;
}
