// The slow twin of Storage.search: every record is scored, nothing is pruned, ranks come from a sort.

const k1 = Math.fround(1.2);
const b = 0.75;

export interface SlowRecord {
  angle: number; // of its vector in the plane, in degrees
  words: string[];
  year: number;
}

export interface SlowRequest {
  mode: 'dense' | 'lexical' | 'hybrid';
  angle: number;
  words: string[];
  topK: number;
  threshold: number | undefined;
  before: number | undefined; // only records of an earlier year
  candidates: number;
  rrfK: number;
}

export interface SlowHit {
  ordinal: number;
  score: number;
  distance?: number;
  bm25Score?: number;
  denseRank?: number;
  lexicalRank?: number;
}

export function slowSearch(records: readonly SlowRecord[], request: SlowRequest): SlowHit[] {
  const allowed = records.flatMap((record, ordinal) =>
    request.before === undefined || record.year < request.before ? [ordinal] : [],
  );
  const scores = bm25(records, request.words);
  const distances = records.map(({ angle }) => 1 - Math.cos(((angle - request.angle) * Math.PI) / 180));
  const near = allowed
    .sort((a, c) => (distances[a] as number) - (distances[c] as number) || a - c)
    .slice(0, request.mode === 'dense' ? request.topK : request.candidates)
    .filter((ordinal) => (distances[ordinal] as number) <= (request.threshold ?? 2));
  const matching = [...allowed]
    .filter((ordinal) => (scores[ordinal] as number) > 0)
    .sort((a, c) => (scores[c] as number) - (scores[a] as number) || a - c)
    .slice(0, request.mode === 'lexical' ? request.topK : request.candidates);
  if (request.mode === 'dense') {
    return near.map((ordinal, i) => {
      const distance = distances[ordinal] as number;
      return { ordinal, score: 1 - distance, distance, denseRank: i + 1 };
    });
  }
  if (request.mode === 'lexical') {
    return matching.map((ordinal, i) => {
      const score = scores[ordinal] as number;
      return { ordinal, score, bm25Score: score, lexicalRank: i + 1 };
    });
  }
  const found = [...new Set([...near, ...matching])].map((ordinal): SlowHit => {
    const dense = near.indexOf(ordinal) + 1;
    const lexical = matching.indexOf(ordinal) + 1;
    const share = (rank: number) => (rank > 0 ? 1 / (request.rrfK + rank) : 0);
    const hit: SlowHit = { ordinal, score: share(dense) + share(lexical) };
    hit.distance = distances[ordinal] as number;
    hit.bm25Score = scores[ordinal] as number;
    if (dense > 0) hit.denseRank = dense;
    if (lexical > 0) hit.lexicalRank = lexical;
    return hit;
  });
  return found.sort((a, c) => c.score - a.score || a.ordinal - c.ordinal).slice(0, request.topK);
}

/** Okapi BM25 of every record, rounded to f32 at the steps where the engine rounds (native/text/bm25.h). */
function bm25(records: readonly SlowRecord[], query: readonly string[]): number[] {
  const tokens = records.reduce((sum, { words }) => sum + words.length, 0);
  const base = Math.fround(k1 * (1 - b));
  const slope = Math.fround((k1 * b * records.length) / tokens);
  const terms = [...new Set(query)]
    .map((word) => {
      const holding = records.filter(({ words }) => words.includes(word)).length;
      const idf = Math.log1p((records.length - holding + 0.5) / (holding + 0.5));
      const occurrences = query.filter((other) => other === word).length;
      return { word, weight: Math.fround(idf * (k1 + 1) * occurrences) };
    })
    .sort((a, c) => c.weight - a.weight || (a.word < c.word ? -1 : 1));
  return records.map(({ words }) => {
    let score = 0;
    for (const { word, weight } of terms) {
      const frequency = words.filter((other) => other === word).length;
      const norm = Math.fround(base + Math.fround(slope * words.length));
      const fraction = Math.fround(frequency / Math.fround(frequency + norm));
      score = Math.fround(score + Math.fround(weight * fraction));
    }
    return score;
  });
}
