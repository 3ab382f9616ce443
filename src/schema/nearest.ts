/** The known name that was probably meant, or undefined when none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.slice(0, longestCompared).toLowerCase();
  let best: string | undefined;
  // What differs in every character is not near, however short it is.
  let bestDistance = Math.min(wanted.length, 1 + Math.max(1, Math.floor(wanted.length / 3)));
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.slice(0, longestCompared).toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `; did you mean "top_k"?` or nothing: the end of a message about an unknown name. */
export function didYouMean(nearest: string | undefined): string {
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
}

/** Characters of a name that take part: what a client sends has no bound, the comparison's cost needs one. */
const longestCompared = 64;

/** Insertions, deletions, replacements and swaps of neighbours that lead from one to the other, three rows at a time. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replaced, at(previous, column) + 1, at(current, column - 1) + 1);
      if (a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, at(beforePrevious, column - 2) + 1);
      }
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

/** A cell of the table; outside of it nothing is near. */
function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
