import type { Holding } from '../../fairness/client-memory.js';
import { linesBytes } from '../../fairness/estimates.js';
import type { StorageRoot } from '../../storages/storage-root.js';
import { DefaultList } from './default-list.js';
import type { PatternShare } from './pattern-thread.js';
import { compilePatterns, type Pattern } from './patterns.js';
import { parseLines, readInside, type TextSource } from './text-file.js';

/** Absolute paths of the server's default lists. A file may be absent as long as no node needs it. */
export interface DefaultListPaths {
  readonly default_canned_responses_path: string;
  readonly default_guardrail_patterns_path: string;
}

/** The text lists of nodes: from a file inside the session's storage root, or the server's defaults. */
export class NodeLists {
  readonly #responses: DefaultList<string>;
  readonly #patterns: DefaultList<Pattern>;

  /** `thread`: compiles the default patterns. */
  constructor(paths: DefaultListPaths, thread: PatternShare) {
    const responses = 'default_canned_responses_path';
    this.#responses = new DefaultList(responses, paths[responses], parseResponses);
    const patterns = 'default_guardrail_patterns_path';
    this.#patterns = new DefaultList(patterns, paths[patterns], (bytes, source) =>
      compilePatterns(parseLines(bytes, source), source, thread),
    );
  }

  /** Returns at least one response. `where`: the param's path. @throws as readInside(), parseLines(), DefaultList.load() */
  async responses(path: string | undefined, where: string, root: StorageRoot): Promise<string[]> {
    if (path === undefined) return this.#responses.load(where);
    const source = { file: path, where };
    return parseResponses(await readInside(root, source), source);
  }

  /** Returns at least one pattern. Counts the patterns of a file for `memory`. @throws as responses(); ClientMemoryExceeded; the signal's reason */
  async patterns(
    path: string | undefined,
    where: string,
    root: StorageRoot,
    { memory, thread, signal }: { memory: Holding; thread: PatternShare; signal: AbortSignal },
  ): Promise<Pattern[]> {
    if (path === undefined) return this.#patterns.load(where);
    const source = { file: path, where };
    const lines = parseLines(await readInside(root, source), source);
    memory.add(linesBytes(lines.map(({ text }) => text)), `${where}: the patterns are not kept`);
    return compilePatterns(lines, source, thread, signal);
  }
}

async function parseResponses(bytes: Buffer, source: TextSource): Promise<string[]> {
  return parseLines(bytes, source).map(({ text }) => text);
}
