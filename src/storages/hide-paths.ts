import { basename, isAbsolute, join, sep } from 'node:path';

/** A character before a path, and a path without blanks. Text in double quotes is file content. */
const absolutePath = /(^|[\s'`(=,])((?:\/|[A-Za-z]:[\\/])[^\s"'`(),:;]+)/g;

/** Error facts that are paths. */
const pathFacts: ReadonlySet<string> = new Set(['file', 'path', 'folder', 'records', 'index']);

/** Removes absolute paths: those below one of `roots` become relative to it, others are reduced to their last name. */
export function hidePaths<Facts extends object>(
  message: string,
  facts: Facts,
  roots: readonly string[],
): { message: string; facts: Facts } {
  const prefixes = roots.map((root) => join(root, sep));
  const short = (path: string) => {
    const prefix = prefixes.find((each) => path.startsWith(each));
    return prefix === undefined ? basename(path) : path.slice(prefix.length);
  };
  const isPath = ([name, value]: [string, unknown]) =>
    pathFacts.has(name) && typeof value === 'string' && isAbsolute(value);
  const entries = Object.entries(facts);
  const paths = entries.filter(isPath).map(([, value]) => value as string);
  // If the root is the whole disk, every slash would match.
  const removable = prefixes.filter((prefix) => prefix !== sep);
  let text = message;
  for (const path of paths) text = text.replaceAll(path, short(path));
  for (const prefix of removable) text = text.replaceAll(prefix, '');
  return {
    message: text.replace(absolutePath, (_, before: string, path: string) => `${before}${short(path)}`),
    facts: Object.fromEntries(
      entries.map(([name, value]) => [name, isPath([name, value]) ? short(value as string) : value]),
    ) as Facts,
  };
}
