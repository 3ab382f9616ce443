/** The known name closest to a misspelt one, or undefined if none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.slice(0, longestCompared).toLowerCase();
  let best: string | undefined;
  // A name that differs in every character is not close, however short it is.
  let bestDistance = Math.min(wanted.length, 1 + Math.max(1, Math.floor(wanted.length / 3)));
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.slice(0, longestCompared).toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The end of a message about an unknown name: `; did you mean "top_k"?` or nothing. */
export function didYouMean(nearest: string | undefined): string {
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
}

/** Characters of a name that are compared: names from clients have no bound, and the cost needs one. */
const longestCompared = 64;

/**
 * Edit distance with insertions, deletions, replacements and swaps of neighbours (optimal string alignment), capped at
 * `limit`. Keeps three rows of the table.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  let previousLeast = 0;
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a.charCodeAt(row - 1) === b.charCodeAt(column - 1);
      let best = at(previous, column - 1) + (same ? 0 : 1);
      best = Math.min(best, at(previous, column) + 1, at(current, column - 1) + 1);
      if (!same && isSwap(a, row, b, column)) best = Math.min(best, at(beforePrevious, column - 2) + 1);
      current.push(best);
      if (best < least) least = best;
    }
    // Later rows depend on two rows above at most.
    if (least >= limit && previousLeast >= limit) return limit;
    previousLeast = least;
    beforePrevious = previous;
    previous = current;
  }
  return Math.min(limit, at(previous, b.length));
}

function isSwap(a: string, row: number, b: string, column: number): boolean {
  return (
    row > 1 &&
    column > 1 &&
    a.charCodeAt(row - 1) === b.charCodeAt(column - 2) &&
    a.charCodeAt(row - 2) === b.charCodeAt(column - 1)
  );
}

/** A cell of a row. Precondition: it exists. */
function at(row: readonly number[], column: number): number {
  return row[column] as number;
}
