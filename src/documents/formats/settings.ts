import type { Document, Section } from '../document.js';
import { Anchors } from './anchors.js';
import { paragraphs, readText } from './text.js';

/** Reads YAML as text: a section for each document of a file with several. */
export function readYaml(text: string): Document {
  const parts = text.split(/^---(?=[ \t\r\n]|$)[^\n]*$/m).filter((part) => part.trim() !== '');
  if (parts.length < 2) return readText(text);
  const sections = parts.map(
    (part, at): Section => ({ headings: [], anchor: `document=${at + 1}`, blocks: paragraphs(part) }),
  );
  return { sections };
}

/** The line of a table of TOML, or of a section of an INI file; none of the lists within a list. */
const table = /^[ \t]*\[{1,2}[ \t]*(?!["'\d.+-][^[\]]*,)([^[\]#;]{1,200}?)[ \t]*\]{1,2}[ \t]*(?:[#;].*)?$/;

/** Reads settings as text: a section for each line of a name in brackets. */
export function readSettings(text: string): Document {
  const anchors = new Anchors();
  const sections: Section[] = [];
  let [headings, anchor, lines]: [string[], string, string[]] = [[], '', []];
  const finish = () => {
    const blocks = paragraphs(lines.join('\n'));
    if (blocks.length > 0) sections.push({ headings, anchor, blocks });
    lines = [];
  };
  for (const line of text.split(/\r\n?|\n/)) {
    const name = line.length > 300 ? undefined : table.exec(line)?.[1];
    if (name === undefined) lines.push(line);
    else {
      finish();
      [headings, anchor] = [[name], anchors.of(name)];
    }
  }
  finish();
  return { sections };
}
