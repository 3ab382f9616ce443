import { RE2JS, RE2JSSyntaxException } from 're2js';
import { loopTurn } from '../../lifecycle/loop-turn.js';
import type { Holding } from '../../limits/client-memory.js';
import { patternBytes } from '../../limits/estimates.js';
import { refuseFile, type TextLine, type TextSource } from './text-file.js';

/** Most patterns in one list, and longest pattern in characters: a search tries every pattern. */
const maxPatterns = 1000;
const maxPatternLength = 1000;

/** A regular expression of a guardrail list. Matching takes time linear in the text for every pattern. */
export interface Pattern {
  /** The pattern as written in its file; `line` counts from 1. */
  readonly source: string;
  readonly line: number;
  readonly compiled: RE2JS;
  /** Number of instructions in the compiled pattern. Matching visits each at most once per character. */
  readonly size: number;
}

/** Instructions compiled between two pauses: a few milliseconds. */
const compiledAtOnce = 1000;

/** Fixed cost of compiling a pattern, in instructions. */
const perPattern = 50;

/** Compiles patterns, counting each for `memory`. @throws InvalidStringStorage with file, line and pattern */
export async function compilePatterns(
  lines: readonly TextLine[],
  source: TextSource,
  memory?: Holding,
): Promise<Pattern[]> {
  if (lines.length > maxPatterns) {
    refuseFile(source, `${lines.length} patterns are more than ${maxPatterns}`, { limit: maxPatterns });
  }
  const patterns: Pattern[] = [];
  let fresh = 0;
  for (const { text, line } of lines) {
    if (fresh > compiledAtOnce) {
      fresh = 0;
      await loopTurn();
    }
    const compiled = compile(text, line, source);
    const size = Math.max(1, compiled.programSize());
    fresh += perPattern + size;
    memory?.add(patternBytes(text, size), `${source.where}: the agent is not made`);
    patterns.push({ source: text, line, compiled, size });
  }
  return patterns;
}

function compile(text: string, line: number, source: TextSource): RE2JS {
  const pattern = text.slice(0, 256);
  const refuse = (reason: string) =>
    refuseFile(source, `line ${line}: ${JSON.stringify(pattern)} is no regular expression: ${reason}`, {
      line,
      pattern,
    });
  if (text.length > maxPatternLength) refuse(`it is longer than ${maxPatternLength} characters`);
  try {
    return RE2JS.compile(text, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    return refuse(error instanceof RE2JSSyntaxException ? error.getDescription() : (error as Error).message);
  }
}
