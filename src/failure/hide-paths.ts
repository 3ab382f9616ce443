import { basename, isAbsolute, join, sep } from 'node:path';

/** What stands before a path in a sentence, and a path without blanks. Quoted texts are content of files. */
const absolutePath = /(^|[\s'`(=,])((?:\/|[A-Za-z]:[\\/])[^\s"'`(),:;]+)/g;

/** Facts of errors that are paths. */
const pathFacts: ReadonlySet<string> = new Set(['file', 'path', 'folder', 'records', 'index']);

/** A message and facts without absolute paths: those below one of `roots` start at it, of others the last name stays. */
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
  // In a root that is the whole disk every slash would be one.
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
