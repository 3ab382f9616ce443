import type { PatternShare } from './pattern-thread.js';
import { refuseFile, type TextLine, type TextSource } from './text-file.js';

/** Maximum number of patterns in one list, and of characters in a pattern: a search tries every pattern. */
const maxPatterns = 1000;
const maxPatternLength = 1000;

/** A regular expression of a guardrail list. Matching takes time linear in the text for every pattern. */
export interface Pattern {
  /** The pattern as written in its file; `line` counts from 1. */
  readonly source: string;
  readonly line: number;
  /** Number of instructions in the compiled pattern. Matching visits each at most once per character. */
  readonly size: number;
}

/** The first match of a pattern in a text, in UTF-16 units. */
export interface FoundPattern {
  readonly pattern: Pattern;
  readonly start: number;
  readonly end: number;
}

/** Patterns that one request to the thread compiles. */
const compiledAtOnce = 16;

/** Work of one request to the thread, in instructions x UTF-16 units; a pattern with more gets a separate request. */
const searchedAtOnce = 1_000_000;

/** Checks patterns by compiling them. @throws InvalidStringStorage with file, line and pattern; the signal's reason */
export async function compilePatterns(
  lines: readonly TextLine[],
  source: TextSource,
  thread: PatternShare,
  signal?: AbortSignal,
): Promise<Pattern[]> {
  if (lines.length > maxPatterns) {
    refuseFile(source, `${lines.length} patterns are more than ${maxPatterns}`, { limit: maxPatterns });
  }
  for (const line of lines) {
    if (line.text.length > maxPatternLength)
      refusePattern(line, source, `it is longer than ${maxPatternLength} characters`);
  }
  const patterns: Pattern[] = [];
  for (let at = 0; at < lines.length; at += compiledAtOnce) {
    const some = lines.slice(at, at + compiledAtOnce);
    const reply = await thread.run({ patterns: some.map(({ text }) => text) }, signal);
    if (reply.kind === 'refused') refusePattern(some[reply.index] as TextLine, source, reply.reason);
    for (const [index, { text, line }] of some.entries())
      patterns.push({ source: text, line, size: reply.sizes[index] as number });
  }
  return patterns;
}

/** Finds the first match of each pattern, in the order of the patterns. @throws the signal's reason */
export async function findPatterns(
  patterns: readonly Pattern[],
  text: string,
  thread: PatternShare,
  signal: AbortSignal,
): Promise<FoundPattern[]> {
  const found: FoundPattern[] = [];
  for (let at = 0; at < patterns.length; ) {
    const some = someOf(patterns, at, text.length);
    at += some.length;
    const reply = await thread.run({ patterns: some.map(({ source }) => source), text }, signal);
    if (reply.kind === 'refused') throw new Error(`a checked pattern was refused: ${reply.reason}`);
    for (const { index, start, end } of reply.matches)
      found.push({ pattern: some[index] as Pattern, start, end });
  }
  return found;
}

/** Returns at least one pattern, and more while their work is little. */
function someOf(patterns: readonly Pattern[], begin: number, length: number): readonly Pattern[] {
  let end = begin;
  let work = 0;
  do work += (patterns[end++] as Pattern).size * length;
  while (end < patterns.length && work < searchedAtOnce);
  return patterns.slice(begin, end);
}

function refusePattern({ text, line }: TextLine, source: TextSource, reason: string): never {
  const pattern = text.slice(0, 256);
  refuseFile(source, `line ${line}: ${JSON.stringify(pattern)} is not a regular expression: ${reason}`, {
    line,
    pattern,
  });
}
