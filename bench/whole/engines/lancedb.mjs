// A table with a full-text index, with LanceDB's defaults: English stems, stop words dropped.
import { mkdirSync } from 'node:fs';
import * as lance from '@lancedb/lancedb';

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  const connection = await lance.connect(folder);
  const table = await connection.createTable(
    't',
    texts.map((text, row) => ({ row, text })),
  );
  await table.createIndex('text', { config: lance.Index.fts() });
}

export async function open(folder) {
  const connection = await lance.connect(folder);
  const table = await connection.openTable('t');
  return async (text, k) => {
    const found = await table.query().fullTextSearch(text).select(['row', '_score']).limit(k).toArray();
    return found.map(({ row }) => Number(row));
  };
}
