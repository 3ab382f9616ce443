/**
 * The folders of src/, lowest first, and the folders that each may import beside itself. Each of these is further up in
 * this list, so no import leads back.
 */
export const folders = {
  base: [],
  search: ['base'],
  documents: ['base'],
  protocol: ['base', 'search'],
  fairness: ['base', 'protocol'],
  config: ['base'],
  log: ['base', 'config'],
  models: ['base', 'search'],
  speech: ['base', 'models'],
  knowledge: ['base', 'search', 'documents', 'models'],
  storages: ['base', 'search', 'protocol', 'fairness', 'log', 'models', 'knowledge'],
  agents: ['base', 'protocol', 'fairness', 'log', 'models', 'storages'],
  'agents/nodes': ['base', 'search', 'protocol', 'fairness', 'models', 'knowledge', 'storages', 'agents'],
  'agents/wire': ['base', 'protocol', 'agents', 'agents/nodes'],
  operations: ['base', 'protocol', 'config', 'log', 'knowledge', 'storages', 'agents'],
  doors: [
    ...['base', 'search', 'protocol', 'fairness', 'config', 'log', 'models', 'knowledge', 'storages'],
    'operations',
  ],
  client: ['protocol', 'agents/wire'],
  server: [
    ...['base', 'protocol', 'fairness', 'config', 'log', 'models', 'knowledge', 'storages', 'agents'],
    ...['agents/nodes', 'operations', 'doors', 'speech'],
  ],
  cli: [
    ...['base', 'search', 'protocol', 'config', 'log', 'models', 'knowledge', 'storages', 'operations'],
    ...['doors', 'client', 'server', 'speech'],
  ],
};

/** The folder of the table that a path below src/ belongs to: the longest that it begins with. */
export function folderOf(path) {
  return Object.keys(folders)
    .filter((folder) => path.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** Returns the error of an import from one file below src/ to another, or undefined. */
export function wrongFolder(from, to) {
  const [source, target] = [folderOf(from), folderOf(to)];
  const unknown = [from, to].find((path) => folderOf(path) === undefined);
  if (unknown !== undefined) return `src/${unknown} is in no folder that scripts/layers/folders.mjs knows`;
  if (source === target) return undefined;
  if (folders[source].includes(target)) return undefined;
  const list = folders[source].length > 0 ? `${folders[source].join(', ')} and itself` : 'itself';
  return `src/${source} may import ${list}, and this is src/${to}`;
}

/** The table of docs/internals/architecture.md. */
export function foldersTable() {
  const rows = Object.entries(folders).map(
    ([folder, allowed]) => `| ${folder} | ${allowed.join(', ') || 'nothing else of src/'} |`,
  );
  return ['| Folder of src/ | May import |', '|---|---|', ...rows].join('\n');
}
