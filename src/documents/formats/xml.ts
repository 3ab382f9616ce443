import { Parser } from 'htmlparser2';
import { type Block, type Document, UnreadableDocument } from '../document.js';

/** The parser's time grows with the square of the depth. */
const maxDepth = 2000;

/** Returns a text without the declarations of its document type, which are no text. */
function withoutDeclarations(text: string): string {
  const begin = text.slice(0, headCharacters).search(/<!DOCTYPE\b[^>[]{0,1000}\[/i);
  if (begin < 0) return text;
  const end = /\][ \t\r\n]{0,100}>/g;
  end.lastIndex = begin;
  return end.exec(text) === null ? text : text.slice(0, begin) + text.slice(end.lastIndex);
}

/** Characters of a file in which its document type begins. */
const headCharacters = 10_000;

/** Reads XML: the texts of elements, with their names. */
export function readXml(text: string): Document {
  const blocks: Block[] = [];
  const names: string[] = [];
  let parts: string[] = [];
  const finish = () => {
    const shown = parts.join('').replace(/\s+/g, ' ').trim();
    parts = [];
    if (shown !== '') blocks.push({ kind: 'item', text: `${names.at(-1) ?? ''}: ${shown}` });
  };
  const parser = new Parser(
    {
      onopentagname(name) {
        if (names.length >= maxDepth) throw new UnreadableDocument('its elements are nested too deeply');
        finish();
        names.push(name.slice(0, 100));
      },
      ontext: (piece) => {
        parts.push(piece);
      },
      onclosetag() {
        finish();
        names.pop();
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(withoutDeclarations(text));
  parser.end();
  return { sections: [{ headings: [], anchor: '', blocks }] };
}
