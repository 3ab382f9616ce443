import type { Document } from '../../document.js';
import { MarkedBlocks, MarkedLines, short } from './marked-blocks.js';

const heading =
  /^(\*{1,8})[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[#[A-Z0-9]\][ \t]+)?(\S.*)$/;
const tags = /[ \t]+:([\p{L}\p{N}_@#%:]{1,100}):[ \t]*$/u;
const keyword =
  /^[ \t]*#\+(?:CAPTION|AUTHOR|DESCRIPTION|KEYWORDS|FILETAGS|SUBTITLE)(?:\[[^\]]{0,200}\])?:[ \t]*(\S.*)$/i;
const begin = /^[ \t]*#\+BEGIN_(\w{1,30})(?:[ \t]+([\w+#-]{1,40}))?/i;
const drawer = /^[ \t]*:[A-Z_-]{1,40}:[ \t]*$/i;
const planning = /^[ \t]*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):/;
const table = /^[ \t]*\|/;

/** Blocks whose lines are code. */
const codeBlocks = /^(?:src|example|export)$/i;

/** Reads Org: headings, paragraphs, code and tables. */
export function readOrg(text: string): Document {
  const lines = new MarkedLines(text);
  const blocks = new MarkedBlocks();
  while (!lines.isAtEnd) {
    const line = lines.next();
    const shown = short(line);
    const [, marks, title = ''] = heading.exec(shown) ?? [];
    const named = /^#\+TITLE:[ \t]*(\S.*)$/i.exec(shown)?.[1];
    const [, kind, language] = begin.exec(shown) ?? [];
    const stated = keyword.exec(shown)?.[1];
    if (marks !== undefined && isComment(title)) lines.while((next) => !isAtMost(next, marks.length));
    else if (marks !== undefined) addHeading(marks.length + 1, title, blocks);
    else if (named !== undefined) blocks.heading(1, named);
    else if (stated !== undefined) addParagraph(stated.replace(/:/g, ' ').trim(), blocks);
    else if (kind !== undefined) addBlock(kind, language, lines, blocks);
    else if (drawer.test(shown)) lines.until((end) => /^[ \t]*:END:[ \t]*$/i.test(end));
    else if (table.test(shown)) blocks.table(rowsOf([line, ...lines.while((next) => table.test(next))]));
    else if (line.trim() === '') blocks.endParagraph();
    else if (!isUnseen(shown)) blocks.line(withoutMarks(line));
  }
  return blocks.finish();
}

/** A heading that begins with this word is a comment, with all below it. */
const isComment = (title: string) => /^COMMENT(?:[ \t]|$)/.test(title);

/** Whether a line is a heading with this many stars or fewer. */
const isAtMost = (line: string, stars: number) => {
  const marks = /^(\*{1,300})[ \t]/.exec(line.slice(0, 301))?.[1];
  return marks !== undefined && marks.length <= stars;
};

/** The tags of a heading are a paragraph below it. */
function addHeading(level: number, title: string, blocks: MarkedBlocks): void {
  blocks.heading(level, withoutMarks(title.replace(tags, '')));
  const found = tags.exec(title)?.[1];
  if (found !== undefined) addParagraph(found.split(':').join(', '), blocks);
}

function addParagraph(text: string, blocks: MarkedBlocks): void {
  blocks.endParagraph();
  blocks.line(text);
  blocks.endParagraph();
}

function addBlock(
  kind: string,
  language: string | undefined,
  lines: MarkedLines,
  blocks: MarkedBlocks,
): void {
  if (/^comment$/i.test(kind)) lines.until((end) => /^[ \t]*#\+END_COMMENT/i.test(end));
  else if (codeBlocks.test(kind)) {
    const code = lines.until((end) => /^[ \t]*#\+END_(?:SRC|EXAMPLE|EXPORT)/i.test(end));
    // Commas protect lines that look like headings.
    blocks.code(
      (code ?? []).map((line) => line.replace(/^(\s*),(?=\*|#\+)/, '$1')),
      language,
    );
  } else blocks.endParagraph();
}

/** Options, comments, dates and rules are no text. */
const isUnseen = (line: string) =>
  /^[ \t]*#\+\w|^[ \t]*#(?:[ \t]|$)|^[ \t]*-{5,}[ \t]*$/.test(line) || planning.test(line);

const rowsOf = (lines: readonly string[]) =>
  lines
    .filter((line) => !/^[ \t]*\|[-+]{2,}/.test(line))
    .map((line) =>
      line
        .trim()
        .replace(/^\||\|$/g, '')
        .split('|'),
    );

/** A link is its description. */
const withoutMarks = (line: string) =>
  line.includes('[[')
    ? line.replace(/\[\[([^[\]]{1,1000})\](?:\[([^[\]]{1,1000})\])?\]/g, (_, to, text) => text ?? to)
    : line;
