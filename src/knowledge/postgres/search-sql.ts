import type { BoundStatement } from './client.js';
import { ordinalOf, ordinalParts } from './ordinals.js';
import { Statement } from './statement.js';
import type { TableNames } from './tables.js';
import type { QueryTerm } from './terms.js';

/** A search as one statement needs it. */
export interface SearchParts {
  readonly tables: TableNames;
  /** Whether the leg runs, and how many hits it has; undefined: it does not. */
  readonly dense: { depth: number; threshold: number | undefined; walk: Walk | undefined } | undefined;
  readonly lexical: { depth: number } | undefined;
  /** Undefined: hits have no distances. Zeros: all distances are 1. */
  readonly vector: string | undefined;
  readonly isZero: boolean;
  /** Empty: BM25 scores are 0. */
  readonly terms: readonly QueryTerm[];
  /** Writes the condition for the rows of an alias. */
  readonly filter: ((statement: Statement, table: string) => string) | undefined;
}

/** How the index is walked. */
export interface Walk {
  /** Matching records that the walk collects at least; the nearest of them are the leg. */
  readonly ef: number;
  /** It is walked if more records match. Undefined: if a scan of them would take longer. */
  readonly above: number | undefined;
}

/** About the number of records that are scanned as fast as the index is walked without a filter. */
const usuallyScanned = 10_000;

/** Largest `hnsw.ef_search`. */
const mostEf = 1000;
/** A walk takes about as long for a record that it looks at as a scan for this many. */
const scansPerStep = 16;
/** With a filter, the first matches of a walk are less often the nearest, so it collects more. */
const filteredWidth = 2;
/** Fewest records that a walk looks at before it gives up. */
const fewestLooked = 20_000;
/** Memory of a walk, in `work_mem`. With 1, a walk of pgvector ends after some 20,000 records. */
const memoryFactor = 16;

/** k1 + 1, and the norm of a record without words, with the rounding of native/text/bm25.h. */
const saturation = 2.200000047683716;
const baseNorm = 0.30000001192092896;
const normPerLength = 0.9000000357627869;

/**
 * Returns the statement of a search. Its rows are the candidates of both legs with the distance and the BM25 score of each, or one
 * row without a record; each has the facts of the search. One statement sees one version.
 */
export function searchStatement(parts: SearchParts): BoundStatement {
  const { tables, dense, lexical, terms, filter } = parts;
  const statement = new Statement();
  const where = (table: string) => (filter === undefined ? 'true' : filter(statement, table));
  const vector = parts.vector === undefined ? undefined : statement.bind(parts.vector, 'vector');
  const distance = (table: string) =>
    vector === undefined || parts.isZero ? '1::real' : `(${table}.embedding <=> ${vector})::real`;
  const ctes = [
    `base as materialized (select *, ${normPerLength}::float8 * documents / greatest(tokens, 1) as slope from ${tables.base} limit 1)`,
    termsCte(tables, terms, statement),
    `matching as materialized (select ${filter === undefined ? '(select documents from base)' : `(select count(*) from ${tables.records} r where ${where('r')})`} as matched)`,
  ];
  if (dense !== undefined && vector !== undefined)
    ctes.push(...denseCtes(parts, dense, vector, { where, distance, statement }));
  else ctes.push('dense as (select null::bigint as row, null::bigint as rank where false)');
  if (lexical !== undefined) {
    const looked = terms.map(({ term }) => statement.bind(term, 'text'));
    const asked = looked.length === 0 ? 'false' : `p.term = any (array[${looked.join(', ')}] collate "C")`;
    const joined = filter === undefined ? '' : `join ${tables.records} r on r.row = p.row and ${where('r')}`;
    // The planner knows how frequent these terms are, and `offset 0` has it plan with that alone: together with the weights it would
    // read the words of all terms, or look up records one by one.
    ctes.push(
      `scored as materialized (select p.row, ${scoreOf('p')} as score from weights w join
        (select p.* from ${tables.words} p ${joined} where ${asked} offset 0) p on p.term = w.term cross join base b group by p.row)`,
      `lexical as materialized (select row, score, row_number() over (order by score desc, row) as rank from scored order by score desc, row limit ${statement.bind(lexical.depth, 'bigint')})`,
    );
  } else
    ctes.push(
      'scored as (select null::bigint as row where false)',
      'lexical as (select null::bigint as row, null::real as score, null::bigint as rank where false)',
    );
  const bm25 =
    terms.length === 0
      ? '0::real'
      : `coalesce(l.score, (select ${scoreOf('p')} from weights w join ${tables.words} p on p.term = w.term and p.row = u.row cross join base b), 0::real)`;
  // A foreign server has to be told the rows as a list: for the join alone it would send all that it has.
  const text = `with ${ctes.join(',\n')},
found as (select row from dense union select row from lexical),
${ordinalParts('found', tables.gone)},
hits as (select u.row, ${ordinalOf('u.row')} as ordinal, h.id, h.text,
  h.metadata::text as metadata, d.rank as dense_rank, l.rank as lexical_rank, ${distance('h')} as distance, ${bm25} as bm25
  from found u join ${tables.records} h on h.row = u.row and h.row = any (array(select row from found)) left join dense d on d.row = u.row left join lexical l on l.row = u.row)
select b.version, b.documents, b.build, m.matched, (select count(*) from scored) as scored,
  (select coalesce(json_agg(json_build_array(k.i, k.documents)), '[]')::text from known k) as terms,
  ${dense?.walk === undefined || parts.isZero ? 'false' : '(select not scans from choice)'} as walked, hits.*
from base b cross join matching m left join hits on true`;
  return { text, values: statement.values };
}

/** Sums the BM25 score of rows of words, in 64 bits so that no order of the terms matters. The weights are those of CTE `weights`, the norm that of `base`. */
const scoreOf = (words: string) =>
  `sum((w.weight * (${words}.frequency::real / (${words}.frequency::real + (${baseNorm}::real + b.slope::real * ${words}.length::real))))::float8)::real`;

/** The terms of the query, with the records that each is in and its weight. */
function termsCte(tables: TableNames, terms: readonly QueryTerm[], statement: Statement): string {
  const json = JSON.stringify(
    terms.map(({ term, word, occurrences, known, unknown }, i) => ({
      i,
      term,
      word,
      n: occurrences,
      known,
      unknown,
    })),
  );
  return `asked as materialized (select * from jsonb_to_recordset(${statement.bind(json, 'jsonb')}) as q(i int, term text, word int, n int, known float8, unknown float8) limit ${terms.length}),
known as materialized (select q.*, coalesce(t.documents, 0) as documents from asked q left join ${tables.terms} t on t.term = q.term),
weights as materialized (select k.term, (case when coalesce(typed.documents, 0) > 0 then k.known else k.unknown end)::real *
  (ln(1 + (b.documents - k.documents + 0.5::float8) / (k.documents + 0.5::float8)) * ${saturation}::float8 * k.n)::real as weight
  from known k left join known typed on typed.i = k.word cross join base b where k.documents > 0)`;
}

interface Writer {
  where(table: string): string;
  distance(table: string): string;
  readonly statement: Statement;
}

/**
 * The dense leg: a scan of all matching records, or a walk of the index. A walk looks at about width * documents / matched records until
 * `width` of them match; below a number of matches the scan takes less time. Where the matches lie far from the query, a walk would look
 * at more: it gives up when it has taken as long as the scan, which follows.
 */
function denseCtes(
  { tables, isZero, filter }: SearchParts,
  { depth, threshold, walk }: NonNullable<SearchParts['dense']>,
  vector: string,
  { where, distance, statement }: Writer,
): string[] {
  const limit = statement.bind(depth, 'bigint');
  const near = threshold === undefined ? '' : `where distance <= ${statement.bind(threshold, 'real')}`;
  // The order by two columns keeps the planner from the index.
  const scan = (condition: string) =>
    `select r.row, ${distance('r')} as distance from ${tables.records} r where ${condition} and ${where('r')} order by distance, r.row limit ${limit}`;
  const ranked = (from: string) =>
    `dense as materialized (select row, row_number() over (order by distance, row) as rank from (${from}) n ${near} order by distance, row limit ${limit})`;
  if (walk === undefined || isZero) return [ranked(scan('true'))];
  const wide = Math.max(walk.ef, depth) * (filter === undefined ? 1 : filteredWidth);
  const ef = statement.bind(Math.min(mostEf, Math.max(walk.ef, depth)), 'text');
  const settings = Object.entries({
    ef_search: ef,
    iterative_scan: "'relaxed_order'",
    scan_mem_multiplier: `'${memoryFactor}'`,
    max_scan_tuples: `greatest(${fewestLooked}, least(m.matched / ${scansPerStep}, ${2 ** 31 - 1}))::text`,
  }).map(([name, value]) => `set_config('hnsw.${name}', ${value}, true) as ${name}`);
  const above =
    walk.above !== undefined
      ? statement.bind(walk.above, 'bigint')
      : `greatest(${usuallyScanned}, ${filter === undefined ? 0 : `sqrt(${scansPerStep * wide}::float8 * b.documents)`})`;
  return [
    `settings as materialized (select ${settings.join(', ')}, m.matched > ${above} as walks from matching m cross join base b)`,
    // The reference to the settings makes them first.
    `walked as materialized (select x.* from settings s cross join lateral (select r.row, ${distance('r')} as distance from ${tables.records} r
      where s.walks and s.ef_search is not null and ${where('r')} order by r.embedding <=> ${vector} limit ${wide}) x)`,
    `choice as materialized (select not s.walks or (select count(*) from walked) < least(${wide}, m.matched) as scans from settings s cross join matching m)`,
    `scanned as materialized (${scan('(select scans from choice)')})`,
    ranked('select * from walked where not (select scans from choice) union all select * from scanned'),
  ];
}

/** Returns the statement of feedback: the distances of rows to the query's vector moved towards some of them. */
export function feedbackStatement(
  tables: TableNames,
  {
    query,
    towards,
    rows,
    dimension,
  }: {
    query: string;
    towards: readonly { row: number; share: number }[];
    rows: readonly number[];
    dimension: number;
  },
): BoundStatement {
  const statement = new Statement();
  const moved = towards.reduce(
    (sum, { row, share }) => {
      const factor = statement.bind(
        `[${Array.from({ length: dimension }, () => share).join(',')}]`,
        'vector',
      );
      const id = statement.bind(row, 'bigint');
      return `${sum} + coalesce((select embedding * ${factor} from ${tables.records} where row = ${id}), ${factor} - ${factor})`;
    },
    statement.bind(query, 'vector'),
  );
  const asked = statement.bind(JSON.stringify(rows), 'jsonb');
  const text = `with moved as materialized (select ${moved} as vector)
select r.row, (r.embedding <=> m.vector)::real as distance, m.vector::text as moved
from jsonb_array_elements_text(${asked}) a join ${tables.records} r on r.row = a::bigint cross join moved m`;
  return { text, values: statement.values };
}
