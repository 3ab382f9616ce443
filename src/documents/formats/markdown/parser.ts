import MarkdownIt, { type StateBlock, type StateInline } from 'markdown-it';
import footnotes from 'markdown-it-footnote';

/** The preset's limit: the parser drops deeper blocks. */
const maxNesting = 100;

/** Levels left for the elements that one more block opens. */
const reserve = 10;

/** Returns a parser of CommonMark with GitHub's tables and strikethrough, and footnotes. */
export function markdownParser(): MarkdownIt {
  const parser = new MarkdownIt('default', { html: true });
  // The plugin's types are of the package's CommonJS build.
  parser.use(footnotes as unknown as (parser: MarkdownIt) => void);
  // Notes stay where they are defined; the reader moves them.
  parser.core.ruler.disable('footnote_tail');
  parser.inline.ruler.at('footnote_ref', noteReference);
  // Nested ones take time that grows with the square of their depth, and Git hosts do not have them.
  parser.inline.ruler.disable('footnote_inline');
  // Nothing is linked to, so every address is a link.
  parser.validateLink = () => true;
  parser.block.ruler.before('table', 'too_deep', tooDeep);
  return parser;
}

/** Keeps the text of blocks that are nested too deeply; the parser would drop it. */
function tooDeep(state: StateBlock, begin: number, end: number, silent: boolean): boolean {
  if (silent || state.level < maxNesting - reserve) return false;
  const open = state.push('paragraph_open', 'p', 1);
  open.map = [begin, end];
  const inline = state.push('inline', '', 0);
  inline.content = state.getLines(begin, end, state.blkIndent, false).trim();
  inline.map = [begin, end];
  inline.children = [];
  state.push('paragraph_close', 'p', -1);
  state.line = end;
  return true;
}

/** Longest label of a note. The plugin's own rule has no limit, so that its time may grow with the square of a text. */
const longestLabel = 200;

/** Reads a reference to a note that the text defines. */
function noteReference(state: StateInline, silent: boolean): boolean {
  const refs: Record<string, number> | undefined = state.env.footnotes?.refs;
  if (refs === undefined || !state.src.startsWith('[^', state.pos)) return false;
  const begin = state.pos + 2;
  const length = state.src.slice(begin, Math.min(state.posMax, begin + longestLabel)).indexOf(']');
  const label = state.src.slice(begin, begin + length);
  if (length < 1 || refs[`:${label}`] === undefined) return false;
  if (!silent) state.push('footnote_ref', '', 0).meta = { label };
  state.pos = begin + length + 1;
  return true;
}
