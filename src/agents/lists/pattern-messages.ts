/** Messages of the pattern thread, which compiles patterns and searches a text for the first match of each. */
export interface PatternRequest {
  readonly patterns: readonly string[];
  /** Without a text the patterns are only compiled. */
  readonly text?: string;
}

/** A match of a pattern, in UTF-16 units. */
export interface PatternMatch {
  /** Place of the pattern in the request. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** `sizes`: instructions of the compiled patterns. `refused`: the first pattern that is not a regular expression. */
export type PatternReply =
  | { kind: 'done'; sizes: number[]; matches: PatternMatch[] }
  | { kind: 'refused'; index: number; reason: string };
