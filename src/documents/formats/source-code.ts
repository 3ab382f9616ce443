import type { Document, Section } from '../document.js';
import { type Definition, definitionsIn } from './symbols.js';

/** Comments and decorators above a definition belong to it. */
const above = /^\s*(?:\/\/|\/?\*|#|@|--|;;|%%|"""|\[|template\s*<)/;

/** Reads source code: a section for each function, class or type, with its lines. `language` names it for readers. */
export function readCode(text: string, language: string): Document {
  const lines = text.split(/\r\n?|\n/);
  const begins = [{ line: 0, path: [] as string[] }];
  let open: Definition[] = [];
  let last = -1;
  for (const symbol of definitionsIn(lines, language)) {
    open = [...open.filter(({ indent }) => indent < symbol.indent), symbol];
    begins.push({ line: firstLine(lines, symbol.line, last), path: open.map(({ name }) => name) });
    last = symbol.line;
  }
  const sections = begins.map(({ line, path }, at): Section => {
    const end = begins[at + 1]?.line ?? lines.length;
    const code = lines.slice(line, end).join('\n').replace(/^\n+/, '').trimEnd();
    const range = `${line + 1}-${end}`;
    return {
      headings: path,
      anchor: `L${range}`,
      metadata: { lines: range, ...(path.length > 0 && { symbol: path.join('.') }) },
      blocks: code.trim() === '' ? [] : [{ kind: 'code', text: code, head: language }],
    };
  });
  return { sections: sections.filter(({ blocks }) => blocks.length > 0) };
}

/** The first line that belongs to a definition, after the line of the definition before it. */
function firstLine(lines: readonly string[], line: number, last: number): number {
  let first = line;
  while (first - 1 > last && above.test(lines[first - 1] as string)) first--;
  return first;
}
