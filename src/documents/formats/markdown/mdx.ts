import type MarkdownIt from 'markdown-it';
import type { StateBlock, StateInline } from 'markdown-it';

/** The beginning of a statement of a module. A sentence may begin with the same word. */
const statement =
  /^(?:import\s*(?:["'{*]|[\w$]+\s*(?:,|from\s))|export\s*(?:[{*]|(?:default|const|let|var|function|async|class)\b))/;

const commentBegin = '{/*';
const commentEnd = '*/}';

/** What may stand between a comment and the end of its line. */
const rest = /[ \t]*(?:\n|$)/y;

/** Makes a parser leave out what MDX has besides Markdown and no page shows: statements of modules, and comments. */
export function addMdx(parser: MarkdownIt): void {
  parser.block.ruler.before('fence', 'mdx_statement', skipStatement);
  parser.block.ruler.before('fence', 'mdx_comment', skipComment, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
  parser.inline.ruler.before('escape', 'mdx_comment', skipInlineComment);
}

/** It ends at the first blank line at which its brackets are closed; at the first one if they never are. */
function skipStatement(state: StateBlock, begin: number, end: number, silent: boolean): boolean {
  if (state.level > 0 || state.sCount[begin] !== 0 || !statement.test(lineOf(state, begin))) return false;
  if (silent) return true;
  let firstBlank: number | undefined;
  let open = 0;
  let line = begin;
  for (; line < end; line++) {
    if (state.isEmpty(line)) {
      firstBlank ??= line;
      // After brackets that never close, no others are waited for: each would cost the rest of the text.
      if (open <= 0 || state.env.mdxOpen) break;
    }
    for (const bracket of lineOf(state, line).match(/[([{}\])]/g) ?? [])
      open += '([{'.includes(bracket) ? 1 : -1;
  }
  if (open > 0) state.env.mdxOpen = true;
  state.line = open > 0 ? (firstBlank ?? line) : line;
  return true;
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice(state.bMarks[line] as number, state.eMarks[line] as number);
}

/** A comment that begins and ends with lines, and may have blank ones. */
function skipComment(state: StateBlock, begin: number, end: number, silent: boolean): boolean {
  const start = (state.bMarks[begin] as number) + (state.tShift[begin] as number);
  const close = endOfComment(state, start);
  if (close === undefined) return false;
  rest.lastIndex = close;
  if (!rest.test(state.src)) return false;
  let line = begin;
  while (line < end && (state.eMarks[line] as number) < close) line++;
  if (line >= end) return false;
  if (!silent) state.line = line + 1;
  return true;
}

function skipInlineComment(state: StateInline, silent: boolean): boolean {
  const close = endOfComment(state, state.pos);
  if (close === undefined || close > state.posMax) return false;
  if (!silent) state.push('text', '', 0).content = '';
  state.pos = close;
  return true;
}

/** Returns where the comment ends that begins at a position; undefined: none begins there, or it has no end. */
function endOfComment(state: StateBlock | StateInline, begin: number): number | undefined {
  const { src, env } = state;
  if (!src.startsWith(commentBegin, begin)) return undefined;
  const from = begin + commentBegin.length;
  // The next end is the last one found, for all positions between: no text is searched through twice.
  const known: Found | undefined = env.mdxEnd;
  const isKnown = known !== undefined && known.state === state && known.from <= from && from <= known.at;
  if (!isKnown) {
    const at = src.indexOf(commentEnd, from);
    env.mdxEnd = { state, from, at: at < 0 ? Number.POSITIVE_INFINITY : at } satisfies Found;
  }
  const { at } = env.mdxEnd as Found;
  return Number.isFinite(at) ? at + commentEnd.length : undefined;
}

interface Found {
  readonly state: StateBlock | StateInline;
  readonly from: number;
  readonly at: number;
}
