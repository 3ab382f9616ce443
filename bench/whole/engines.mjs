// The engines in the order of the table. `packages`: what `npm install` is given.
export const engines = [
  { id: 'lorekeep', name: 'lorekeep', finds: 'meaning and words', packages: ['lorekeep'] },
  { id: 'lorekeep-words', name: 'lorekeep, words alone', finds: 'words', packages: ['lorekeep'] },
  {
    id: 'llama-cosine',
    name: 'node-llama-cpp and a loop',
    finds: 'meaning',
    packages: ['node-llama-cpp@3.22.1'],
  },
  {
    id: 'lancedb',
    name: 'LanceDB, full text',
    finds: 'words',
    packages: ['@lancedb/lancedb@0.31.0', 'apache-arrow@18.1.0'],
  },
  { id: 'minisearch', name: 'MiniSearch', finds: 'words', packages: ['minisearch@7.2.0'] },
  { id: 'sqlite', name: 'SQLite FTS5', finds: 'words', packages: ['better-sqlite3@12.11.1'] },
];
