import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { Stop } from '../tool/stop.mjs';

const api = (tree) => join(tree, '.cmake', 'api', 'v1');

/** Asks CMake to write down the targets of a tree when it configures it. */
export function requestTargets(tree) {
  const query = join(api(tree), 'query');
  mkdirSync(query, { recursive: true });
  writeFileSync(join(query, 'codemodel-v2'), '');
}

/** The targets of a configured tree by name: {sources, needs}, with paths relative to `root` and names of other targets. */
export function readTargets(tree, root) {
  const folder = join(api(tree), 'reply');
  const read = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const index = existsSync(folder) && readdirSync(folder).find((name) => name.startsWith('index-'));
  if (!index) throw new Stop(`${tree} was configured without a list of its targets: remove it`);
  const model = read(read(index).reply['codemodel-v2'].jsonFile);
  const entries = model.configurations[0].targets.map(({ jsonFile }) => read(jsonFile));
  const names = new Map(entries.map(({ id, name }) => [id, name]));
  const local = (path) => relative(root, join(root, path)).split(sep).join('/');
  return new Map(
    entries.map(({ name, sources = [], dependencies = [] }) => [
      name,
      {
        sources: sources.filter(({ isGenerated }) => !isGenerated).map(({ path }) => local(path)),
        needs: dependencies.flatMap(({ id }) => names.get(id) ?? []),
      },
    ]),
  );
}

/**
 * The own files that a target is made of: its sources and those of what it links, what these include, and the CMake files
 * beside them.
 */
export function filesOfTarget(targets, name, root) {
  const needed = new Set([name]);
  for (const each of needed) for (const next of targets.get(each)?.needs ?? []) needed.add(next);
  const files = new Set([...needed].flatMap((each) => targets.get(each)?.sources ?? []));
  for (const file of files) for (const header of includes(file, root)) files.add(header);
  for (const file of [...files]) files.add(posix.join(dirname(file), 'CMakeLists.txt'));
  return files;
}

const known = new Map();

/** The headers of the checkout that a file of it includes. */
function includes(file, root) {
  if (file.startsWith('native/vendor/') || !/\.(cc|h)$/.test(file)) return [];
  let found = known.get(file);
  if (found === undefined) {
    const names = [...readFileSync(join(root, file), 'utf8').matchAll(/^\s*#\s*include\s*"([^"]+)"/gm)];
    found = names.flatMap(([, header]) => {
      const places = ['native', 'test/native', dirname(file)].map((folder) => posix.join(folder, header));
      return places.filter((place) => existsSync(join(root, place)));
    });
    known.set(file, found);
  }
  return found;
}
