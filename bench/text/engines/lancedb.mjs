// LanceDB's full-text index on a table in a temporary folder. The row number is read back, nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as lance from '@lancedb/lancedb';

/** @param fts options of Index.fts(); LanceDB's own defaults stem English and drop its stop words */
export async function lancedb(texts, fts = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-bench-'));
  const connection = await lance.connect(folder);
  const table = await connection.createTable(
    't',
    texts.map((text, row) => ({ row, text })),
  );
  const begin = performance.now();
  await table.createIndex('text', { config: lance.Index.fts({ withPosition: false, ...fts }) });
  return {
    indexMs: performance.now() - begin,
    search: async (query, k) => {
      const found = await table.query().fullTextSearch(query).select(['row', '_score']).limit(k).toArray();
      return found.map(({ row }) => Number(row));
    },
    close: async () => {
      table.close();
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
