import { rankingOptions } from '../../../lib/basics.js';
import {
  type FieldDefinition,
  type StorageHit,
  type StoragePlan,
  type StorageSearchOptions,
  storageRequest,
  type TimedSearchResult,
  type Tokenizer,
} from '../../../lib/internal.js';
import { normalised, vectorOf, vectorText } from './background.js';
import type { PostgresClient, Row } from './client.js';
import { absentFacts } from './facts.js';
import { metadataOf } from './metadata.js';
import {
  adaptedWeight,
  type BestScores,
  bestScores,
  type Candidate,
  foundByALeg,
  fuseRanks,
  fuseScores,
  judge,
  type Legs,
  legsOf,
  type Ranked,
  type RelevanceScale,
} from './ranking.js';
import type { Sample } from './sample.js';
import { feedbackStatement, searchStatement } from './search-sql.js';
import type { Statement } from './statement.js';
import type { BaseFacts, TableNames } from './tables.js';
import { bm25Limit, documentsOfWords, documentTerms, queryTerms } from './terms.js';

/** The tables that are searched. */
export interface SearchSource {
  readonly client: PostgresClient;
  readonly tables: TableNames;
  readonly facts: BaseFacts;
  readonly fields: readonly FieldDefinition[] | undefined;
  readonly tokenizer: Tokenizer;
  readonly ef: number | undefined;
  readonly sample: Sample;
  readonly scannedRows: number | undefined;
}

interface Found extends Candidate {
  readonly ordinal: number;
  readonly id: string;
  readonly text: string;
  readonly metadata: string;
}

type Where = ((statement: Statement, table: string) => string) | undefined;

/** Facts that each statement of a search returns. */
type SeenFacts = Pick<BaseFacts, 'version' | 'documents' | 'build'>;

const fewestCandidates = 50;
const candidatesPerHit = 4;
/** Hits that feedback moves the query towards. */
const feedbackHits = 2;

/** Searches as native/store/search.cc does. `rows`: of the hits. @throws INVALID_ARGUMENT, DIMENSION_MISMATCH, EngineError */
export async function runSearch(
  source: SearchSource,
  options: StorageSearchOptions,
  where: Where,
): Promise<{
  result: TimedSearchResult;
  rows: number[];
  facts: SeenFacts;
  /** Numbers of records with each word of the query. */
  words: Map<string, number>;
}> {
  const started = performance.now();
  const { facts, tokenizer } = source;
  const { mode, topK, vector, text = '' } = storageRequest(options, source.ef, facts.dimension);
  const weights = weightsOf(options);
  const depth = mode === 'hybrid' ? legDepth(options, topK) : topK;
  const asked = queryTerms(text, tokenizer);
  const runsDense = mode === 'dense' || (mode === 'hybrid' && weights.dense > 0);
  const runsLexical = mode === 'lexical' || (mode === 'hybrid' && weights.lexical > 0);
  const ef = options.ef ?? source.ef ?? Math.max(96, 2 * topK);
  const statement = searchStatement({
    tables: source.tables,
    dense: runsDense
      ? {
          depth,
          threshold: options.threshold,
          walk: facts.hnsw ? { ef, above: source.scannedRows } : undefined,
        }
      : undefined,
    lexical: runsLexical ? { depth } : undefined,
    vector: vector && vectorText(vector),
    isZero: vector?.every((value) => value === 0) === true,
    terms: asked.terms,
    filter: where,
  });
  const rows = await source.client.read(statement, options.signal);
  const answeredMs = performance.now() - started;
  const [head] = rows;
  if (head === undefined) throw absentFacts(source.tables);
  const seen = {
    version: Number(head.version),
    documents: Number(head.documents),
    build: String(head.build),
  };
  const legs = legsOf(rows.filter(({ row }) => row !== null).map(candidateOf));
  const frequencies = termFrequencies(head, asked.terms.length);
  const background =
    vector === undefined ? { mean: 0, floor: 0 } : await source.sample.of(vector, seen, options.signal);
  const scale: RelevanceScale = {
    mode,
    background,
    bm25Limit: asked.words === 0 ? 0 : bm25Limit(asked.terms, frequencies, seen.documents),
    words: asked.words,
    offset: options.calibration?.offset ?? 0,
    slope: options.calibration?.slope ?? 1,
  };
  const matched = Number(head.matched);
  const share = where === undefined || seen.documents === 0 ? 1 : Math.min(matched / seen.documents, 1);
  const given = { options, mode, topK, legs, scale, weights, vector, seen, asked, share };
  const ranking = await rank(source, given);
  const plan: StoragePlan = { mode, engine: 'postgres' };
  const walked = head.walked === true;
  if (runsDense) {
    const visited = walked ? legs.dense.length : matched;
    plan.dense = { path: walked ? 'graph' : 'exact', matched, visited, exact: !walked };
  }
  if (runsLexical)
    plan.lexical = {
      tokens: asked.terms.reduce(
        (sum, { word, occurrences }, at) => sum + (word === at ? occurrences : 0),
        0,
      ),
      terms: documentsOfWords(asked.terms, frequencies).filter((documents) => documents > 0).length,
      scored: Number(head.scored),
    };
  if (mode === 'hybrid') plan.fusion = ranking.fusion;
  const hits = ranking.hits.map((hit, index) => hitOf(hit, index + 1, { mode, fields: source.fields }));
  const result: TimedSearchResult = {
    hits,
    plan,
    version: seen.version,
    times: { filter: 0, dense: answeredMs, lexical: 0, fusion: performance.now() - started - answeredMs },
    ...(mode !== 'lexical' && hits.length > 0 && { cosineFloor: background.floor }),
  };
  const words = new Map(
    asked.terms.slice(0, asked.words).map(({ term }, index) => [term, frequencies[index] ?? 0]),
  );
  return { result, rows: ranking.hits.map(({ of }) => of.row), facts: seen, words };
}

function legDepth({ rrf, scores }: StorageSearchOptions, topK: number): number {
  const wanted = rrf?.candidates ?? scores?.candidates;
  return Math.max(topK, wanted ?? Math.max(fewestCandidates, candidatesPerHit * topK));
}

/** Weights of the legs: a leg of weight 0 does not run. */
interface Weights {
  readonly method: 'rrf' | 'scores';
  readonly dense: number;
  readonly lexical: number;
}

function weightsOf({ fusion, rrf, scores }: StorageSearchOptions): Weights {
  const method = fusion ?? (rrf === undefined ? 'scores' : 'rrf');
  if (method === 'rrf')
    return { method, dense: rrf?.weights?.dense ?? 1, lexical: rrf?.weights?.lexical ?? 1 };
  const dense = scores?.weight ?? usualWeight;
  return { method, dense, lexical: 1 - dense };
}

/** Weight of the dense leg of a fusion by scores that states none, as lib/search/options.ts has it. */
const usualWeight = 0.6;

function candidateOf(row: Row): Found {
  const rankOf = (value: unknown) => (value === null ? undefined : Number(value));
  return {
    row: Number(row.row),
    ordinal: Number(row.ordinal),
    id: row.id as string,
    text: row.text as string,
    metadata: row.metadata as string,
    distance: Number(row.distance),
    bm25: Number(row.bm25),
    denseRank: rankOf(row.dense_rank),
    lexicalRank: rankOf(row.lexical_rank),
  };
}

function termFrequencies({ terms }: Row, count: number): number[] {
  const found = new Array<number>(count).fill(0);
  for (const [index, documents] of JSON.parse(terms as string) as [number, number][])
    found[index] = documents;
  return found;
}

interface Ranking {
  readonly options: StorageSearchOptions;
  readonly mode: 'dense' | 'lexical' | 'hybrid';
  readonly topK: number;
  readonly legs: Legs<Found>;
  readonly scale: RelevanceScale;
  readonly weights: Weights;
  readonly vector: Float32Array | undefined;
  readonly seen: SeenFacts;
  readonly asked: Asked;
  /** Of the records that match the filter. */
  readonly share: number;
}

type Asked = ReturnType<typeof queryTerms>;

async function rank(
  source: SearchSource,
  given: Ranking,
): Promise<{ hits: Ranked<Found>[]; fusion: NonNullable<StoragePlan['fusion']> }> {
  const { options, mode, topK, legs, scale, weights } = given;
  const feedback = feedbackOf(options);
  const fed = mode === 'hybrid' && feedback > 0 && weights.dense > 0;
  const weight = weights.method === 'rrf' ? undefined : weightOfQuery(given);
  const best = mode === 'hybrid' ? bestScores(legs) : bestOfOne(mode, legs);
  const first = fuse(given, weight, fed ? Math.max(topK, feedbackHits) : topK);
  judge(first, best, scale);
  const { minBest = 0, minScore = 0, minByLeg } = options;
  const fusion: NonNullable<StoragePlan['fusion']> =
    weight === undefined
      ? { method: 'rrf' }
      : { method: 'scores', weights: { dense: weight, lexical: 1 - weight } };
  const shown = first.slice(0, topK);
  const isNothing =
    (mode === 'hybrid' &&
      minByLeg !== undefined &&
      !foundByALeg(shown, { best, scale, least: minByLeg, share: given.share })) ||
    (shown.every(({ relevance }) => relevance < minBest) &&
      !(mode === 'lexical' && hasAllWords(shown.slice(0, mostRead), given.asked, source.tokenizer)));
  if (isNothing || first.length === 0) return { hits: [], fusion };
  let hits = first;
  if (fed) {
    hits = await feedBack(source, given, weight, first);
    judge(hits, best, scale);
    const before = new Set(shown.map(({ of }) => of.row));
    const added = hits.filter(({ of }) => !before.has(of.row)).length;
    fusion.feedback = { weight: feedback, added };
  }
  return { hits: hits.filter(({ relevance }) => relevance >= minScore), fusion };
}

/** Hits that are read for the words of a query. */
const mostRead = 10;

/** Whether a record has all words of the query: a lexical search has then found what it asked for, however long the record is. */
function hasAllWords(hits: readonly Ranked<Found>[], { terms, words }: Asked, tokenizer: Tokenizer): boolean {
  return hits.some(({ of: { text } }) => {
    const { frequencies } = documentTerms(text, tokenizer);
    const found = new Set(terms.filter(({ term }) => frequencies.has(term)).map(({ word }) => word));
    found.delete(-1);
    return words > 0 && found.size === words;
  });
}

/** Returns the weight of feedback; 0: none. */
function feedbackOf({ feedback = 0 }: StorageSearchOptions): number {
  return typeof feedback === 'number' ? feedback : feedback ? rankingOptions.feedback.alone : 0;
}

function weightOfQuery({ options, weights, legs }: Ranking): number {
  const adapts = options.scores?.adapt ?? options.scores?.weight === undefined;
  return adapts ? adaptedWeight(weights.dense, legs) : weights.dense;
}

function bestOfOne(mode: 'dense' | 'lexical', { dense, lexical }: Legs): BestScores {
  const [near] = dense;
  const cosine = near === undefined ? -1 : 1 - near.distance;
  return { cosine, bm25: mode === 'dense' ? 0 : (lexical[0]?.bm25 ?? 0), nextCosine: -1, nextBm25: 0 };
}

function fuse(
  { options, mode, legs, weights, scale }: Ranking,
  weight: number | undefined,
  count: number,
): Ranked<Found>[] {
  if (mode === 'dense') return legs.dense.map((of) => ({ of, score: 1 - of.distance, relevance: 0 }));
  if (mode === 'lexical') return legs.lexical.map((of) => ({ of, score: of.bm25, relevance: 0 }));
  if (weight !== undefined) return fuseScores(legs, { weight, background: scale.background.mean }, count);
  return fuseRanks(legs, { k: options.rrf?.k ?? 60, ...weights }, count);
}

/** Ranks the candidates by the query moved towards the best hits. */
async function feedBack(
  source: SearchSource,
  given: Ranking,
  weight: number | undefined,
  first: readonly Ranked<Found>[],
): Promise<Ranked<Found>[]> {
  const { options, topK, legs, weights } = given;
  const towards = first.slice(0, feedbackHits);
  const scores = towards.reduce((sum, { score }) => sum + score, 0);
  const factor = feedbackOf(options);
  const statement = feedbackStatement(source.tables, {
    query: vectorText(normalised(given.vector as Float32Array)),
    towards: towards.map(({ of, score }) => ({
      row: of.row,
      share: factor * (scores > 0 ? score / scores : 1 / towards.length),
    })),
    rows: legs.all.map(({ row }) => row),
    dimension: source.facts.dimension,
  });
  const moved = await source.client.read(statement, options.signal);
  const distances = new Map(moved.map(({ row, distance }) => [Number(row), Number(distance)]));
  const distanceOf = ({ row, distance }: Found) => distances.get(row) ?? distance;
  const dense = legs.dense.toSorted((a, b) => distanceOf(a) - distanceOf(b) || a.row - b.row);
  for (const [index, of] of dense.entries()) of.denseRank = index + 1;
  const again = { ...legs, dense };
  if (weight === undefined) return fuseRanks(again, { k: options.rrf?.k ?? 60, ...weights }, topK);
  const vector = vectorOf(
    (moved[0]?.moved as string | undefined) ?? vectorText(given.vector as Float32Array),
  );
  const { mean } = await source.sample.of(vector, given.seen, options.signal);
  return fuseScores(again, { weight, background: mean }, topK, distanceOf);
}

function hitOf(
  { of, score, denseScore, lexicalScore, relevance }: Ranked<Found>,
  rank: number,
  { mode, fields }: { mode: string; fields: readonly FieldDefinition[] | undefined },
): StorageHit {
  const { ordinal, id, text } = of;
  const metadata = metadataOf(of.metadata, fields);
  const hit: StorageHit = { ordinal, id, text, ...(metadata && { metadata }), score, rank, relevance };
  if (mode !== 'lexical') hit.distance = of.distance;
  if (mode !== 'dense') hit.bm25Score = of.bm25;
  if (of.denseRank !== undefined) hit.denseRank = of.denseRank;
  if (of.lexicalRank !== undefined) hit.lexicalRank = of.lexicalRank;
  if (denseScore !== undefined) hit.denseScore = denseScore;
  if (lexicalScore !== undefined) hit.lexicalScore = lexicalScore;
  return hit;
}
