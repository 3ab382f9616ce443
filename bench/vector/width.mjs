// Programs are compared at equal recall: each at the smallest search width that reaches it.

/** The first of `points`, [{ef, recall}] by rising width, whose recall is enough; undefined where none is. */
export const narrowest = (points, target) => points.find(({ recall }) => recall >= target);

/**
 * Tries `widths` until one is enough; the last where none is. `search(ef)` gives what was found, or undefined when it failed, and
 * `recallOf(found)` its recall.
 * @returns {ef, recall}, or undefined when a search failed
 */
export async function chooseWidth(widths, target, search, recallOf) {
  const points = [];
  for (const ef of widths) {
    const timed = await search(ef);
    if (timed === undefined) return undefined;
    points.push({ ef, recall: recallOf(timed.found) });
    if (narrowest(points, target)) break;
  }
  return points.at(-1);
}
