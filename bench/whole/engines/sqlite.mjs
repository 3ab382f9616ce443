// FTS5 in a file, its default tokenizer. A query is the OR of its words, as FTS5 would otherwise want all of them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  const database = new Database(join(folder, 'fts.db'));
  database.exec('CREATE VIRTUAL TABLE t USING fts5(text)');
  const insert = database.prepare('INSERT INTO t(rowid, text) VALUES (?, ?)');
  database.transaction(() => {
    for (const [i, text] of texts.entries()) insert.run(i + 1, text);
  })();
  database.close();
}

export async function open(folder) {
  const database = new Database(join(folder, 'fts.db'), { readonly: true });
  const select = database.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?').pluck();
  return async (text, k) => {
    const words = text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
    return select.all(words.map((word) => `"${word}"`).join(' OR '), k).map((rowid) => rowid - 1);
  };
}
