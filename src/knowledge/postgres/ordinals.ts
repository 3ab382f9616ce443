/**
 * Returns the beginning of a statement with a table `places` of ordinal, row and place. `asked`: JSON of pairs of ordinal and row, -1
 * for an unknown row. The row of an ordinal is the ordinal plus the rows that are gone before it: the least one that fits.
 */
export const rowsOfOrdinals = (asked: string, gone: string): string => `with recursive asked as materialized (
  select (e.pair ->> 0)::bigint as ordinal, (e.pair ->> 1)::bigint as row, e.place from jsonb_array_elements(${asked}) with ordinality as e(pair, place)),
found(ordinal, row) as (select ordinal, ordinal from asked where row < 0
  union select f.ordinal, f.ordinal + (select count(*) from ${gone} g where g.row <= f.row) from found f),
places as (select a.ordinal, case when a.row >= 0 then a.row else (select max(f.row) from found f where f.ordinal = a.ordinal) end as row, a.place from asked a)`;
