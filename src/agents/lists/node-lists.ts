import type { Holding } from '../../limits/client-memory.js';
import type { StorageRoot } from '../../storages/storage-root.js';
import { DefaultList } from './default-list.js';
import { compilePatterns, type Pattern } from './patterns.js';
import { parseLines, readInside, type TextSource } from './text-file.js';

/** Absolute paths of the server's own lists; either file may be absent while no node asks for it. */
export interface DefaultListPaths {
  readonly default_canned_responses_path: string;
  readonly default_guardrail_patterns_path: string;
}

/** The text lists that nodes work with: from a file inside the session's storage root, or the server's defaults. */
export class NodeLists {
  readonly #responses: DefaultList<string>;
  readonly #patterns: DefaultList<Pattern>;

  constructor(paths: DefaultListPaths) {
    const responses = 'default_canned_responses_path';
    this.#responses = new DefaultList(responses, paths[responses], parseResponses);
    const patterns = 'default_guardrail_patterns_path';
    this.#patterns = new DefaultList(patterns, paths[patterns], parsePatterns);
  }

  /** At least one. `where` is the param's path. @throws as readInside(), parseLines() and DefaultList.load() do */
  async responses(path: string | undefined, where: string, root: StorageRoot): Promise<string[]> {
    if (path === undefined) return this.#responses.load(where);
    const source = { file: path, where };
    return parseResponses(await readInside(root, source), source);
  }

  /** At least one. Those of a file count for `memory` as they are compiled. @throws as responses() does; ClientMemoryExceeded */
  async patterns(
    path: string | undefined,
    where: string,
    root: StorageRoot,
    memory: Holding,
  ): Promise<Pattern[]> {
    if (path === undefined) return this.#patterns.load(where);
    const source = { file: path, where };
    return compilePatterns(parseLines(await readInside(root, source), source), source, memory);
  }
}

async function parseResponses(bytes: Buffer, source: TextSource): Promise<string[]> {
  return parseLines(bytes, source).map(({ text }) => text);
}

async function parsePatterns(bytes: Buffer, source: TextSource): Promise<Pattern[]> {
  return compilePatterns(parseLines(bytes, source), source);
}
