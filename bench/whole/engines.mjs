// The engines in the order of the table. `column`: the program's column in README.md; `env`: of its processes.
const lance = { LANCE_CPU_THREADS: '8', LANCE_FTS_NUM_SHARDS: '2' }; // see text/lexical.mjs

export const engines = [
  { id: 'lorekeep', name: 'lorekeep', finds: 'meaning and words', column: 'lorekeep' },
  { id: 'lorekeep-words', name: 'lorekeep, words alone', finds: 'words', column: 'lorekeep' },
  { id: 'llama-cosine', name: 'node-llama-cpp and a loop', finds: 'meaning', column: 'node-llama-cpp' },
  { id: 'lancedb', name: 'LanceDB, full text', finds: 'words', column: 'LanceDB', env: lance },
  { id: 'minisearch', name: 'MiniSearch', finds: 'words', column: 'MiniSearch' },
  { id: 'sqlite', name: 'SQLite FTS5', finds: 'words' },
];

/** The packages that `npm install` gets for each column of README.md. */
export const installations = [
  { name: 'lorekeep', packages: ['lorekeep'] },
  { name: 'qmd', packages: ['@tobilu/qmd'] },
  { name: 'MiniSearch', packages: ['minisearch@7.2.0'] },
  { name: 'sqlite-vec', packages: ['sqlite-vec', 'better-sqlite3@12.11.1'] },
  { name: 'LanceDB', packages: ['@lancedb/lancedb@0.31.0', 'apache-arrow@18.1.0'] },
  { name: 'Qdrant', note: 'the client', packages: ['@qdrant/js-client-rest'] },
  { name: 'node-llama-cpp', packages: ['node-llama-cpp@3.22.1'] },
  { name: 'LangChain memory', packages: ['langchain', '@langchain/core', '@langchain/langgraph'] },
];
