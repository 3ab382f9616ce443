import { realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { exact, type FileFacts, fileStamp, isUnchanged, unreadable } from '../../lib/basics.js';
import { type ConfigFiles, sourcePaths } from './paths.js';
import { type ResolvedEngine, type ResolvedSource, resolveAny } from './resolve.js';

/** A resolved config and the identity of its files. */
export interface IdentifiedSource {
  source: ResolvedSource | ResolvedEngine;
  identity: FilesIdentity;
}

/** @throws as openKnowledgeBase() does for the config, and for absent files */
export async function identifySource({
  name,
  config: path,
  resolvePath,
  pathOf,
  links,
}: ConfigFiles): Promise<IdentifiedSource> {
  const own = await found(path);
  const source = await resolveAny({ name, config: path, resolvePath, pathOf });
  if (!('files' in source)) return { source, identity: new FilesIdentity([name], [own], links) };
  const { records, index } = source.files;
  const named = await Promise.all((index === undefined ? [records] : [records, index]).map(found));
  return { source, identity: new FilesIdentity(sourcePaths(name, source.config), [own, ...named], links) };
}

/** Identity of the files that an opening read: the stamps of the config and of the files that it names. Files that opening makes are not among them. */
export class FilesIdentity {
  /** The same for two openings exactly when they read the same files. */
  readonly key: string;
  readonly #files: readonly (readonly [path: string, found: FileFacts])[];
  readonly #links: ReadonlyMap<string, string>;

  /** `found`: the files that the paths led to. */
  constructor(paths: readonly string[], found: readonly FileFacts[], links: ReadonlyMap<string, string>) {
    this.key = found.map(fileStamp).join(' ');
    this.#files = found.map((each, index) => [paths[index] as string, each]);
    this.#links = links;
  }

  /**
   * The identity of the same files after the load has written the index. Files that others change meanwhile still differ
   * from it.
   */
  withWrittenIndex(): FilesIdentity {
    const found = this.#files.map(([, stats]) => stats);
    // The index is the last one: see sourcePaths().
    const path = this.#files.at(-1)?.[0] as string;
    found[found.length - 1] = statSync(path, exact);
    return new FilesIdentity(
      this.#files.map(([name]) => name),
      found,
      this.#links,
    );
  }

  /**
   * The identity of the files that a merge has put in the place of these, with a records file of `size` bytes; undefined if the
   * config or a link was changed, too, or there are other files by now.
   */
  merged(size: number): FilesIdentity | undefined {
    try {
      const found = this.#files.map(([path]) => statSync(path, exact));
      const [config, records] = found as unknown as [FileFacts, FileFacts];
      for (const [path, real] of this.#links) if (realpathSync.native(path) !== real) return undefined;
      const [, before] = this.#files[0] as readonly [string, FileFacts];
      if (!isUnchanged(config, before) || Number(records.size) !== size) return undefined;
      return new FilesIdentity(
        this.#files.map(([path]) => path),
        found,
        this.#links,
      );
    } catch {
      return undefined;
    }
  }

  /**
   * Whether opening would read the same files again: every path still leads to the same, unchanged file. Asks the file system
   * on this thread: that takes some 4 µs a path, and handing it to another thread takes longer than a short search.
   */
  isCurrent(): boolean {
    try {
      for (const [path, real] of this.#links) if (realpathSync.native(path) !== real) return false;
      return this.#files.every(([path, found]) => isUnchanged(statSync(path, exact), found));
    } catch {
      return false;
    }
  }
}

const found = (path: string): Promise<FileFacts> =>
  stat(path, exact).catch((cause: unknown) => {
    throw unreadable(path, cause);
  });
