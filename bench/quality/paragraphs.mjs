// Splits Markdown as a person would cut it into records, for folder.mjs.

/** Shortest useful passage, in characters. */
const shortestParagraph = 60;
/** Longest passage: some 300 tokens, well within the context of any embedding model. */
const longestParagraph = 1200;

/**
 * Splits Markdown at blank lines, list items and table rows, and puts the heading in front of each piece. Code blocks and
 * table rules are dropped.
 */
export function splitMarkdown(markdown) {
  const paragraphs = [];
  let heading = '';
  let lines = [];
  const finish = () => {
    const text = plainText(lines.join(' '));
    lines = [];
    if (text.length < shortestParagraph) return;
    for (const piece of pieces(text)) paragraphs.push(heading === '' ? piece : `${heading}: ${piece}`);
  };
  for (const line of withoutCode(markdown).split('\n')) {
    const title = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    if (title !== undefined || line.trim() === '' || /^\s*([-*]|\d+\.)\s|^\s*\|/.test(line)) finish();
    if (title !== undefined) heading = plainText(title);
    else if (!/^\s*\|[\s|:-]+$/.test(line)) lines.push(line.trim());
  }
  finish();
  return paragraphs;
}

function withoutCode(markdown) {
  return markdown.replace(/^(```|~~~)[\s\S]*?^\1.*$/gm, '');
}

/** Removes Markdown's marks; a table row becomes its cells. */
function plainText(text) {
  return text
    .replace(/^\s*([-*]|\d+\.)\s+/, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]|(?<!\w)_|_(?!\w)/g, '')
    .replace(/\s*\|\s*/g, ' | ')
    .replace(/^[\s|]+|[\s|]+$/g, '')
    .replace(/\s+/g, ' ');
}

/** Splits a long text after a sentence, or after a word if a sentence is too long. */
function pieces(text) {
  const found = [];
  let rest = text;
  while (rest.length > longestParagraph) {
    const window = rest.slice(0, longestParagraph);
    const end = Math.max(window.lastIndexOf('. '), window.lastIndexOf('; '));
    const cut = end > 0 ? end + 1 : Math.max(window.lastIndexOf(' '), 1);
    found.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return [...found, rest];
}
