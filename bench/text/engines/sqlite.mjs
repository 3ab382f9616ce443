// SQLite FTS5 in memory, its default tokenizer (unicode61, which removes diacritics) or porter on top; bm25() ranking. A
// query is the OR of its words, each in quotes, as FTS5 would otherwise want all of them.
import Database from 'better-sqlite3';

/** @param tokenizer as in `CREATE VIRTUAL TABLE ... USING fts5(tokenize = ...)` */
export async function sqlite(texts, { tokenizer = 'unicode61', path = ':memory:' } = {}) {
  const database = new Database(path);
  database.pragma('journal_mode = off');
  database.exec(`CREATE VIRTUAL TABLE t USING fts5(text, content = '', tokenize = '${tokenizer}')`);
  const insert = database.prepare('INSERT INTO t(rowid, text) VALUES (?, ?)');
  database.transaction(() => {
    for (const [i, text] of texts.entries()) insert.run(i + 1, text);
  })();
  const select = database.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?').pluck();
  return {
    search: async (query, k) => {
      const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
      if (words.length === 0) return [];
      return select.all(words.map((word) => `"${word}"`).join(' OR '), k).map((rowid) => rowid - 1);
    },
    close: async () => database.close(),
  };
}
