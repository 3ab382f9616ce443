import type { Document } from '../../document.js';
import { MarkedBlocks, MarkedLines, short } from './marked-blocks.js';
import { csvRows, gridRows, isGridRule, isSimpleRule, listRows, simpleRows } from './restructured-tables.js';

const directive = /^([ \t]*)\.\.[ \t]+(?:\|([^|]{1,100})\|[ \t]+)?([\w:-]{1,60})::[ \t]*(.*)$/;
const explicit = /^[ \t]*\.\.(?:[ \t]|$)/;
const option = /^[ \t]*:[\w -]{1,60}:(?:[ \t]|$)/;
const headerOf = /^[ \t]*:header:[ \t]*(\S.*)$/;
const alt = /^[ \t]*:alt:[ \t]*(\S.*)$/;

/** Directives whose lines are code, and those without text of the document. */
const codeDirectives =
  /^(?:code|code-block|sourcecode|highlight-block|parsed-literal|math|doctest|prompt|ipython)$/;
const unseenDirectives =
  /^(?:contents|toctree|image|figure|include|literalinclude|index|raw|highlight|default-role|meta|currentmodule|module|autoclass|automodule|autofunction|automethod|sectnum|role|tags|target-notes|cssclass|plot|graphviz|replace|unicode|date)$/;

/** Reads reStructuredText: headings, paragraphs, code and tables. */
export function readRestructured(text: string): Document {
  const lines = new MarkedLines(text);
  const blocks = new MarkedBlocks();
  const styles: string[] = [];
  const replaced = substitutionsOf(text);
  while (!lines.isAtEnd) {
    const found = blocks.hasParagraph ? undefined : headingAt(lines);
    if (found !== undefined) {
      lines.skip(found.lines);
      if (!styles.includes(found.style)) styles.push(found.style);
      blocks.heading(styles.indexOf(found.style) + 1, withoutMarks(found.text));
      continue;
    }
    const line = lines.next();
    const shown = short(line);
    if (line.trim() === '') blocks.endParagraph();
    else if (directive.test(shown)) addDirective(shown, lines, blocks);
    else if (explicit.test(shown)) addExplicit(shown, lines, blocks);
    else if (isGridRule(shown) && !blocks.hasParagraph)
      blocks.table(gridRows([line, ...lines.while((next) => /^[ \t]*[+|]/.test(next))]));
    else if (isSimpleRule(shown) && !blocks.hasParagraph)
      blocks.table(
        simpleRows(
          shown,
          lines.while((next, at) => isSimpleRule(next) || next.trim() !== '' || at === 0),
        ),
      );
    else if (option.test(shown) && /^[ \t]*:[\w -]{1,60}:[ \t]*$/.test(shown)) continue;
    else if (isRule(shown.trim()) && !blocks.hasParagraph && short(lines.peek()).trim() === '') continue;
    else addLine(withSubstitutions(line, replaced), lines, blocks);
  }
  return blocks.finish();
}

const substitution = /^\.\.[ \t]+\|([^|\n]{1,100})\|[ \t]+replace::[ \t]+(\S[^\n]{0,300})$/gm;

const substitutionsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(substitution)].map(([, name, by]): [string, string] => [
      name as string,
      (by as string).trim(),
    ]),
  );

/** Longest line in which substitutions are made. */
const longestReplaced = 10_000;

function withSubstitutions(line: string, replaced: ReadonlyMap<string, string>): string {
  if (replaced.size === 0 || line.length > longestReplaced || !line.includes('|')) return line;
  return line.replace(/\|([^|\n]{1,100})\|/g, (whole, name) => replaced.get(name) ?? whole);
}

const isRule = (line: string) => /^([=\-`:.'"~^_*+#<>!$%&(),/;?@[\\\]{|}])\1{2,}$/.test(line);

/** A line of one punctuation character, as long as the text above it; levels are in the order in which the marks occur. */
function headingAt(lines: MarkedLines): { text: string; style: string; lines: number } | undefined {
  const [first = '', second = '', third = ''] = [0, 1, 2].map((at) => short(lines.peek(at)).trimEnd());
  const isOver = isRule(first) && first === third && second.trim() !== '';
  const text = isOver ? second : first;
  const rule = isOver ? third : second;
  if (text.trim() === '' || isRule(text) || !isRule(rule)) return undefined;
  // Wide characters take two columns.
  if (rule.length < text.trim().length) return undefined;
  if (!isOver && /^[ \t]/.test(text)) return undefined;
  return { text: text.trim(), style: `${isOver ? 'over' : ''}${rule[0]}`, lines: isOver ? 3 : 2 };
}

/** The lines below one that are indented further, with the blank lines between them. */
function body(lines: MarkedLines, indent: number): string[] {
  return lines.while((line) => line.trim() === '' || indentOf(line) > indent);
}

const indentOf = (line: string) => line.length - line.trimStart().length;

function addDirective(line: string, lines: MarkedLines, blocks: MarkedBlocks): void {
  const [, white = '', , name = '', argument = ''] = directive.exec(line) ?? [];
  if (codeDirectives.test(name)) {
    const all = body(lines, white.length);
    const begin = all.findIndex((each) => !option.test(each));
    blocks.code(begin < 0 ? [] : all.slice(begin), /^[\w+#-]{1,40}$/.test(argument) ? argument : '');
  } else if (unseenDirectives.test(name)) {
    const all = body(lines, white.length);
    blocks.endParagraph();
    // The text of a figure.
    const isPicture = name === 'figure' || name === 'image';
    for (const each of isPicture ? all : []) {
      const shown = alt.exec(short(each))?.[1] ?? (option.test(each) ? '' : each.trim());
      if (shown !== '') blocks.line(shown);
    }
    blocks.endParagraph();
  } else if (name === 'list-table' || name === 'csv-table') {
    const all = body(lines, white.length);
    const cells = all.filter((each) => !option.test(each));
    blocks.endParagraph();
    if (argument.trim() !== '') blocks.line(argument.trim());
    const header = all.map((each) => headerOf.exec(short(each))?.[1]).find((each) => each !== undefined);
    blocks.table(
      (name === 'list-table' ? listRows(cells) : csvRows(cells, header)).map((row) => row.map(withoutMarks)),
    );
  } else {
    // The words of notes and of signatures; their bodies are read as other paragraphs.
    blocks.endParagraph();
    if (argument.trim() !== '' && name !== 'only') blocks.line(argument.trim());
    while (
      !lines.isAtEnd &&
      option.test(short(lines.peek())) &&
      indentOf(lines.peek() as string) > white.length
    )
      lines.skip(1);
    if (argument.trim() !== '') blocks.endParagraph();
  }
}

/** Footnotes and citations have text; comments and targets have none. */
function addExplicit(line: string, lines: MarkedLines, blocks: MarkedBlocks): void {
  const note = /^[ \t]*\.\.[ \t]+\[([^\]]{1,60})\][ \t]*(.*)$/.exec(line);
  const below = body(lines, indentOf(line));
  blocks.endParagraph();
  if (note === null) return;
  for (const each of [note[2] ?? '', ...below])
    if (each.trim() !== '') blocks.line(withoutMarks(each.trim()));
  blocks.endParagraph();
}

/** Adds a line of a paragraph; two colons at its end begin a literal block. */
function addLine(line: string, lines: MarkedLines, blocks: MarkedBlocks): void {
  const isLiteral = /::[ \t]*$/.test(short(line)) && (lines.peek() ?? '').trim() === '';
  const shown = isLiteral ? line.replace(/[ \t]*:?:[ \t]*$/, line.trim() === '::' ? '' : ':') : line;
  if (shown.trim() !== '') blocks.line(withoutMarks(shown));
  if (!isLiteral) return;
  blocks.endParagraph();
  const code = body(lines, indentOf(line));
  if (code.some((each) => each.trim() !== '')) blocks.code(code);
}

/** A link is its text, and a character behind a backslash is itself. Literals keep theirs. */
const withoutMarks = (line: string) =>
  /[`\\]/.test(line)
    ? line
        .split(/``([^`]{1,500})``/)
        .map((part, at) => (at % 2 === 1 ? part : withoutEscapes(withoutLinks(part))))
        .join('')
    : line;

const withoutLinks = (text: string) =>
  text
    .replace(/:[\w:.+-]{1,60}:`([^`<]{1,500}?)[ \t]*<[^`<>]{1,500}>`/g, '$1')
    .replace(/:[\w:.+-]{1,60}:`[~!]?([^`]{1,500})`/g, '$1')
    .replace(/`([^`<]{1,500}?)[ \t]*<[^`<>]{1,1000}>`_{1,2}/g, '$1')
    .replace(/`([^`]{1,500})`_{0,2}/g, '$1');

const withoutEscapes = (text: string) => text.replace(/\\(?:\s|(\S))/g, '$1');
