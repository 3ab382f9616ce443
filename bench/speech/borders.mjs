// How well segments meet the truth.

/** In ms. */
export const tolerance = 100;

/**
 * Each utterance's borders are met by the segment that overlaps it most. An utterance without a segment has two borders that are not
 * met; so has one whose segment is another's, too (two utterances in one segment).
 * @returns {borders, met, missed, extra, begin: [ms], end: [ms]} begin, end: the segments' minus the truth's; extra: segments without speech
 */
export function compareBorders(truth, segments) {
  const result = { borders: 2 * truth.length, met: 0, missed: 0, extra: 0, begin: [], end: [] };
  const overlap = (a, b) => Math.min(a.endMs, b.endMs) - Math.max(a.beginMs, b.beginMs);
  for (const one of truth) {
    const touching = segments.filter((segment) => overlap(one, segment) > 0);
    if (touching.length === 0) {
      result.missed++;
      continue;
    }
    // Of an utterance in several segments, the first begins and the last ends it; the borders in between are extra.
    const begin = touching[0].beginMs - one.beginMs;
    const end = touching.at(-1).endMs - one.endMs;
    result.extra += touching.length - 1;
    result.begin.push(begin);
    result.end.push(end);
    if (Math.abs(begin) <= tolerance) result.met++;
    if (Math.abs(end) <= tolerance) result.met++;
  }
  result.extra += segments.filter((segment) => truth.every((one) => overlap(one, segment) <= 0)).length;
  return result;
}

export function total(results) {
  const sum = { borders: 0, met: 0, missed: 0, extra: 0, begin: [], end: [] };
  for (const one of results) {
    for (const key of ['borders', 'met', 'missed', 'extra']) sum[key] += one[key];
    sum.begin.push(...one.begin);
    sum.end.push(...one.end);
  }
  return sum;
}
