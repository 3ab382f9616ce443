/** The anchor of a heading, as GitHub makes it. */
export function slug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The anchors that a Markdown page offers: its headings, numbered where they repeat, and its ids in HTML. */
export function anchors(markdown) {
  const found = new Set();
  for (const line of withoutCode(markdown).split('\n')) {
    for (const [, id] of line.matchAll(/\sid="([^"]+)"/g)) found.add(id);
    const heading = /^#{1,6}\s+(.+?)\s*#*$/.exec(line);
    if (!heading) continue;
    const base = slug(plainText(heading[1]));
    let name = base;
    for (let count = 1; found.has(name); count++) name = `${base}-${count}`;
    found.add(name);
  }
  return found;
}

/** The targets of a page's links and images, with their lines from 1. Links in code are no links. */
export function links(markdown) {
  const found = [];
  withoutCode(markdown)
    .split('\n')
    .forEach((text, index) => {
      const line = text.replace(/`[^`]*`/g, '');
      for (const [, target] of line.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g))
        found.push({ line: index + 1, target });
      const definition = /^\[[^\]]+\]:\s+(\S+)/.exec(line);
      if (definition) found.push({ line: index + 1, target: definition[1] });
      for (const [, target] of line.matchAll(/\s(?:src|href)="([^"]+)"/g))
        found.push({ line: index + 1, target });
    });
  return found;
}

/** Blanks fenced code, so that line numbers stay. */
function withoutCode(markdown) {
  let fence;
  return markdown
    .split('\n')
    .map((line) => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence === undefined && mark) {
        fence = mark;
        return '';
      }
      if (fence === undefined) return line;
      if (mark?.startsWith(fence)) fence = undefined;
      return '';
    })
    .join('\n');
}

const plainText = (heading) => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
