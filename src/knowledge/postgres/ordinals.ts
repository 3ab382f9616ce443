/**
 * Ordinals count the rows that are left, so the row of a record is its ordinal and the rows that are gone before it. Each statement
 * reads the table of these once, however many ordinals it asks for.
 */

/** Returns parts of a statement from which ordinalOf() takes the ordinals of the rows of `source`. */
export const ordinalParts = (source: string, gone: string): string =>
  `marks as materialized (select array_agg(row order by row) as rows from ${source}),
lost as materialized (select width_bucket(g.row, m.rows) as bucket, count(*) as n from ${gone} g cross join marks m where m.rows is not null group by 1)`;

/** The ordinal of a row of `source`: rows that are gone fall between two of them. */
export const ordinalOf = (row: string): string =>
  `${row} - coalesce((select sum(l.n) from lost l cross join marks m where l.bucket < width_bucket(${row}, m.rows)), 0)::bigint`;

/**
 * Returns the beginning of a statement with a table `places` of ordinal, row and place. `asked`: JSON of pairs of ordinal and row, -1
 * for an unknown row. Before the i-th row that is gone stand as many others as its number less i: it counts for all ordinals from there.
 */
export const rowsOfOrdinals = (asked: string, gone: string): string => `with asked as materialized (
  select (e.pair ->> 0)::bigint as ordinal, (e.pair ->> 1)::bigint as row, e.place from jsonb_array_elements(${asked}) with ordinality as e(pair, place)),
marks as materialized (select array_agg(distinct ordinal order by ordinal) as ordinals from asked where row < 0),
lost as materialized (select width_bucket(g.others - 1, m.ordinals) as bucket, count(*) as n
  from (select row - row_number() over (order by row) + 1 as others from ${gone}) g cross join marks m where m.ordinals is not null group by 1),
places as (select a.ordinal, case when a.row >= 0 then a.row else a.ordinal +
  coalesce((select sum(l.n) from lost l cross join marks m where l.bucket < width_bucket(a.ordinal, m.ordinals)), 0)::bigint end as row, a.place from asked a)`;
