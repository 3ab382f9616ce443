/** Sizes of the parts of a prompt that may be left out, in tokens. */
export interface Removable {
  /** Turns of history, oldest first. */
  readonly history: readonly number[];
  /** Records of knowledge, best first. */
  readonly knowledge: readonly number[];
}

/** Numbers of parts to keep: the newest turns and the best records. */
export interface Kept {
  readonly history: number;
  readonly knowledge: number;
}

/**
 * Decides what to leave out of a prompt that is `excess` tokens too long: the oldest turns of history as a whole, then the
 * lowest-ranked records as a whole. Returns undefined if that is not enough: nothing else is ever cut.
 */
export function leaveOut({ history, knowledge }: Removable, excess: number): Kept | undefined {
  let left = excess;
  let turns = 0;
  while (left > 0 && turns < history.length) left -= history[turns++] as number;
  let records = knowledge.length;
  while (left > 0 && records > 0) left -= knowledge[--records] as number;
  return left > 0 ? undefined : { history: history.length - turns, knowledge: records };
}

/** Returns how many of the best records have at most `limit` tokens together. */
export function withinBudget(knowledge: readonly number[], limit: number): number {
  let sum = 0;
  const first = knowledge.findIndex((tokens) => {
    sum += tokens;
    return sum > limit;
  });
  return first < 0 ? knowledge.length : first;
}
