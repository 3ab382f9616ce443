import { lstat, realpath } from 'node:fs/promises';
import { dirname, format, parse, resolve } from 'node:path';
import type { KnowledgeBaseConfig } from './config-schema.js';

/** The files that a config names, as absolute paths. */
export interface KnowledgeBaseFiles {
  records: string;
  index: string | undefined;
  /** Where to write the index; another name of the same file. */
  indexPlace: string | undefined;
  /** Undefined: the text index is in memory only. */
  textIndex: string | undefined;
  /** Undefined: every text is embedded. */
  embeddings: string | undefined;
  /** The change log, beside the records file. */
  changes: string;
}

/**
 * Makes the path that a config names in `field` absolute. A server refuses paths that leave its storage root here.
 * `written`: the file may be absent, because lorekeep makes it.
 */
export type PathResolver = (path: string, field: string, written: boolean) => Promise<string>;

/**
 * Relative paths start at the config file's folder, and there are no bounds. A link to a file stays:
 * the file that it leads to is written.
 */
export const besideConfig =
  (configPath: string): PathResolver =>
  async (path) => {
    const target = resolve(dirname(configPath), path);
    const found = await lstat(target).catch(() => undefined);
    return found?.isSymbolicLink() ? realpath(target).catch(() => target) : target;
  };

/** A config file and the files that it names, as one opening sees them. */
export interface ConfigFiles {
  /** The config file's absolute path. */
  readonly name: string;
  /** Where to read the config; it may be another name of the same file. */
  readonly config: string;
  readonly resolvePath: PathResolver;
  /** Paths with links on them that were followed to find the config, and where they led. */
  readonly links: ReadonlyMap<string, string>;
  /** Returns the path of a file for one of the names that config and resolvePath gave; any other text as it is. */
  pathOf(name: string): string;
  /** The names are invalid afterwards. Files that were opened by them stay open. */
  close(): Promise<void>;
}

/** The name of a config file that is not opened yet. */
export interface ConfigPlace {
  /** The same for two places exactly when they are one name within the same bounds. */
  readonly key: string;
  open(): Promise<ConfigFiles>;
}

/** A config file that names files without bounds. */
export const plainFiles = (configPath: string): ConfigFiles => ({
  name: configPath,
  config: configPath,
  resolvePath: besideConfig(configPath),
  links: new Map(),
  pathOf: (name) => name,
  close: async () => {},
});

export const plainPlace = (configPath: string): ConfigPlace => ({
  key: configPath,
  open: async () => plainFiles(configPath),
});

export async function resolveFiles(
  config: KnowledgeBaseConfig,
  resolvePath: PathResolver,
): Promise<KnowledgeBaseFiles> {
  const { records_file, index_file, bm25_file = defaultWords(index_file), embeddings_file } = config;
  return {
    records: await resolvePath(records_file, 'records_file', false),
    index: index_file === undefined ? undefined : await resolvePath(index_file, 'index_file', false),
    indexPlace: index_file === undefined ? undefined : await resolvePath(index_file, 'index_file', true),
    textIndex: bm25_file === undefined ? undefined : await resolvePath(bm25_file, 'bm25_file', true),
    embeddings:
      embeddings_file === undefined ? undefined : await resolvePath(embeddings_file, 'embeddings_file', true),
    changes: await resolvePath(`${records_file}.changes`, 'records_file', true),
  };
}

/** Paths of the files whose change makes an opened knowledge base outdated, without files that opening itself makes. */
export function sourcePaths(configPath: string, { records_file, index_file }: KnowledgeBaseConfig): string[] {
  const named = index_file === undefined ? [records_file] : [records_file, index_file];
  return [configPath, ...named.map((path) => resolve(dirname(configPath), path))];
}

/** index_file with the extension .bm25 in place of its own. */
function defaultWords(indexFile: string | undefined): string | undefined {
  if (indexFile === undefined) return undefined;
  const { dir, name } = parse(indexFile);
  return format({ dir, name, ext: '.bm25' });
}
