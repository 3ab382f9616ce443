/**
 * The folders of src/, lowest first, and what each may import beside itself. Everything named stands further up in this
 * list, so no import leads back. A name is a folder, or a file without its ending.
 */
export const folders = {
  schema: [],
  lifecycle: [],
  fusion: [],
  lexical: ['schema'],
  files: ['schema'],
  documents: ['files'],
  protocol: ['schema', 'fusion', 'lexical'],
  limits: ['protocol'],
  config: ['schema', 'files', 'limits/default-cache-bytes', 'limits/default-memory'],
  log: ['lifecycle', 'files', 'config'],
  crash: ['files', 'config', 'log'],
  downloads: ['lifecycle', 'files'],
  catalog: ['schema', 'lifecycle', 'fusion', 'files', 'downloads'],
  knowledge: [
    ...['schema', 'lifecycle', 'fusion', 'lexical', 'files', 'documents', 'catalog'],
    'downloads/folder-lock',
    'limits/default-cache-bytes',
  ],
  failure: ['protocol', 'catalog', 'knowledge'],
  storages: [
    ...['schema', 'lifecycle', 'lexical', 'files', 'protocol', 'limits', 'log', 'catalog', 'knowledge'],
    'failure',
  ],
  agents: ['schema', 'lifecycle', 'files', 'protocol', 'limits', 'log', 'catalog', 'failure', 'storages'],
  'agents/nodes': [
    ...['schema', 'lifecycle', 'protocol', 'limits', 'catalog', 'knowledge', 'failure', 'storages', 'agents'],
  ],
  telemetry: ['config', 'log', 'agents'],
  debug: ['schema', 'protocol', 'log'],
  http: ['config', 'log'],
  metrics: ['config', 'log', 'http', 'agents'],
  monitor: ['schema', 'files', 'config', 'log', 'protocol', 'http', 'knowledge', 'storages', 'agents'],
  client: ['lifecycle', 'protocol', 'agents/nodes/wire'],
  server: [
    ...['schema', 'lifecycle', 'files', 'protocol', 'limits', 'config', 'log', 'catalog', 'knowledge'],
    ...['failure', 'storages', 'agents', 'agents/nodes', 'telemetry', 'http', 'metrics', 'monitor'],
    'debug',
  ],
  cli: [
    ...['schema', 'lifecycle', 'lexical', 'files', 'documents', 'protocol', 'config', 'log', 'downloads'],
    ...['catalog', 'knowledge', 'storages', 'client', 'telemetry', 'monitor', 'server', 'crash'],
    'limits/model-limit',
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
  const file = to.replace(/\.\w+$/, '');
  if (folders[source].some((allowed) => allowed === target || allowed === file)) return undefined;
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
