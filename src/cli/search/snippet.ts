import { graphemes } from '../terminal/columns.js';
import type { Piece } from '../terminal/pieces.js';
import { printableLine } from '../terminal/printable.js';
import type { Match, Matcher } from './matches.js';

const ellipsis = '…';

/**
 * A snippet of a text on one line of at most `width` columns: around the place with the most distinct query words, or
 * the beginning. A highlighted match takes `extra` more columns. Control characters are replaced.
 */
export function snippet(text: string, matcher: Matcher, width: number, extra: number): Piece[] {
  const line = printableLine(text);
  const matches = matcher.find(line);
  const [from, to] = densest(matches, width);
  // No column has fewer than half a code unit, so this is enough text for the exact cut below.
  const reach = 2 * width;
  const begin = Math.max(0, from - reach);
  const near = line.slice(begin, to + reach);
  const shifted = matches
    .filter(({ start, end }) => start >= begin && end <= begin + near.length)
    .map((match) => ({ ...match, start: match.start - begin, end: match.end - begin }));
  const window = cut(near, [from - begin, to - begin], shifted, width, extra);
  const before = begin + window.start > 0;
  const after = begin + window.end < line.length;
  return [
    ...(before ? [{ text: ellipsis, matched: false }] : []),
    ...pieces(near, window.start, window.end, shifted),
    ...(after ? [{ text: ellipsis, matched: false }] : []),
  ];
}

/** The window of at most `width` code units with the most distinct words, then the most matches. */
function densest(matches: readonly Match[], width: number): [number, number] {
  let best: [number, number] = [0, 0];
  let bestScore = 0;
  const counts = new Map<string, number>();
  let first = 0;
  for (let last = 0; last < matches.length; last++) {
    const { term, end } = matches[last] as Match;
    counts.set(term, (counts.get(term) ?? 0) + 1);
    while (end - (matches[first] as Match).start > width && first < last) {
      const gone = (matches[first++] as Match).term;
      const left = (counts.get(gone) ?? 1) - 1;
      if (left === 0) counts.delete(gone);
      else counts.set(gone, left);
    }
    const score = counts.size * 1000 + Math.min(last - first, 999);
    if (score > bestScore) {
      bestScore = score;
      best = [(matches[first] as Match).start, end];
    }
  }
  return best;
}

/** Grows the window on both sides, grapheme by grapheme, while columns remain. */
function cut(
  text: string,
  [from, to]: [number, number],
  matches: readonly Match[],
  width: number,
  extra: number,
): { start: number; end: number } {
  const all = [...graphemes(text)].map((grapheme) => ({
    ...grapheme,
    end: grapheme.index + grapheme.text.length,
  }));
  const starts = new Set(matches.map(({ start }) => start));
  const costs = all.map((grapheme) => grapheme.width + (starts.has(grapheme.index) ? extra : 0));
  let left = all.findIndex((grapheme) => grapheme.end > from);
  if (left < 0) return { start: 0, end: text.length };
  let right = left;
  let used = 0;
  // Reserve an ellipsis on either side.
  const room = width - 2;
  while (right < all.length && (all[right]?.index ?? 0) < to && used + (costs[right] ?? 0) <= room) {
    used += costs[right++] ?? 0;
  }
  for (let grown = true; grown; ) {
    grown = false;
    if (right < all.length && used + (costs[right] ?? 0) <= room) {
      used += costs[right++] ?? 0;
      grown = true;
    }
    if (left > 0 && used + (costs[left - 1] ?? 0) <= room) {
      used += costs[--left] ?? 0;
      grown = true;
    }
  }
  return {
    start: wordStart(text, all[left]?.index ?? 0, from),
    end: wordEnd(text, all[right - 1]?.end ?? text.length, Math.max(to, from)),
  };
}

/** Letters that may be dropped so that a snippet starts and ends with whole words. */
const longestScrap = 15;

function wordStart(text: string, at: number, limit: number): number {
  if (at === 0 || text[at - 1] === ' ') return at;
  const space = text.indexOf(' ', at);
  return space >= 0 && space < limit && space - at <= longestScrap ? space + 1 : at;
}

function wordEnd(text: string, at: number, limit: number): number {
  if (at === text.length || text[at] === ' ') return at;
  const space = text.lastIndexOf(' ', at - 1);
  return space > limit && at - space <= longestScrap ? space : at;
}

function pieces(text: string, start: number, end: number, matches: readonly Match[]): Piece[] {
  const result: Piece[] = [];
  let at = start;
  for (const match of matches) {
    if (match.start < at || match.end > end) continue;
    result.push({ text: text.slice(at, match.start), matched: false });
    result.push({ text: text.slice(match.start, match.end), matched: true });
    at = match.end;
  }
  result.push({ text: text.slice(at, end), matched: false });
  return result.filter((piece) => piece.text !== '');
}
