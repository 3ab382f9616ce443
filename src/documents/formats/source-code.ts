import type { Document, Section } from '../document.js';

/** A longer line defines nothing. */
const longestLine = 400;

/** The line of a definition: its indent, and its name. */
const keyword =
  /^([ \t]*)(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|async|unsafe|pub(?:\([a-z]{1,9}\))?|open|override|inline|extern|declare|partial|data|virtual|const)\s+){0,6}(?:function\*?|class|def|fn|func|fun|interface|struct|enum|trait|impl|type|module|namespace|object|protocol|extension|record|sub|procedure)\s+(?:\([^)]{0,100}\)\s*)?([A-Za-z_$][\w$.:]{0,100})/;

/** A function of C and its relatives at the beginning of a line. */
const cFunction = /^()[A-Za-z_][\w:<>,*&\s]{0,120}?[\s*&]([A-Za-z_~][\w:~]{0,100})\s?\([^;]*$/;

const arrow =
  /^()(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]{0,100})\s*(?::[^=]{0,200})?=\s*(?:async\s*)?(?:function\b|\([^)]{0,200}\)[^=]{0,100}=>|[A-Za-z_$][\w$]{0,100}\s*=>)/;

const likeC = new Set('c h cc cpp cxx hh hpp m mm java cs dart'.split(' '));

const notFunctions = /^(?:if|for|while|switch|return|else|do|catch|sizeof|case|new|throw)$/;

/** Comments and decorators above a definition belong to it. */
const above = /^\s*(?:\/\/|\/?\*|#|@|--|"""|\[)/;

interface Definition {
  /** Number of the line from 0. */
  line: number;
  indent: number;
  name: string;
}

/** Reads source code: a section for each function, class or type, with its lines. `language` names it for readers. */
export function readCode(text: string, language: string): Document {
  const lines = text.split(/\r\n?|\n/);
  const symbols = symbolsOf(lines, likeC.has(language));
  const begins = [{ line: 0, path: [] as string[] }];
  let open: Definition[] = [];
  for (const symbol of symbols) {
    open = [...open.filter(({ indent }) => indent < symbol.indent), symbol];
    const line = firstLine(lines, symbol.line, begins.at(-1)?.line ?? 0);
    begins.push({ line, path: open.map(({ name }) => name) });
  }
  const sections = begins.map(({ line, path }, at): Section => {
    const end = begins[at + 1]?.line ?? lines.length;
    const code = lines.slice(line, end).join('\n').replace(/^\n+/, '').trimEnd();
    const range = `${line + 1}-${end}`;
    return {
      headings: path,
      anchor: `L${range}`,
      metadata: { lines: range },
      blocks: code.trim() === '' ? [] : [{ kind: 'code', text: code, head: language }],
    };
  });
  return { sections: sections.filter(({ blocks }) => blocks.length > 0) };
}

function symbolsOf(lines: readonly string[], isLikeC: boolean): Definition[] {
  const symbols: Definition[] = [];
  for (const [line, text] of lines.entries()) {
    if (text.length > longestLine) continue;
    const found = keyword.exec(text) ?? arrow.exec(text) ?? (isLikeC ? cFunction.exec(text) : null);
    if (found === null || notFunctions.test(found[2] as string)) continue;
    const indent = (found[1] as string).replaceAll('\t', '    ').length;
    if (indent <= deepest) symbols.push({ line, indent, name: (found[2] as string).replace(/[.:]+$/, '') });
  }
  return symbols;
}

/** Definitions that are indented further are parts of others. */
const deepest = 8;

function firstLine(lines: readonly string[], line: number, last: number): number {
  let first = line;
  while (first - 1 > last && above.test(lines[first - 1] as string)) first--;
  return first;
}
