import { basename, join, sep } from 'node:path';

/** What stands before a path in a sentence, and a path without blanks. Quoted texts are content of files. */
const absolutePath = /(^|[\s'`(=,])((?:\/|[A-Za-z]:[\\/])[^\s"'`(),:;]+)/g;

/** A text without absolute paths: those below one of `roots` start at it, of others the last name stays. */
export function hidePaths(text: string, roots: readonly string[]): string {
  const prefixes = roots.map((root) => join(root, sep));
  // In a root that is the whole disk every slash would be one.
  const removable = prefixes.filter((prefix) => prefix !== sep);
  const relative = removable.reduce((result, prefix) => result.replaceAll(prefix, ''), text);
  return relative.replace(absolutePath, (_, before: string, path: string) => {
    const own = prefixes.includes(sep) ? path.slice(1) : basename(path);
    return `${before}${own}`;
  });
}

/** Facts about an error, with the paths among them as hidePaths() leaves them. */
export function hideFacts(facts: object, roots: readonly string[]): Record<string, unknown> {
  const hidden = (name: string, value: unknown) =>
    pathFacts.has(name) && typeof value === 'string' ? hidePaths(value, roots) : value;
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, hidden(name, value)]));
}

const pathFacts: ReadonlySet<string> = new Set(['file', 'path', 'folder', 'records', 'index']);
