// Where a client can name a file: each gives the requests that use a path, and the codes of a refusal.
import { writeFileSync } from 'node:fs';
import { configs, modelName } from '../sample.mjs';

const agent = (type, params) => ({
  type: 'CreateAgentRequest',
  graph: { nodes: [{ id: 'n', type, params }] },
});
const outside = [3009];
/** A file that a config names and that is absent makes the config invalid. */
const inConfig = { outside, inside: [3010, 8003] };
const plain = { outside, inside: [3010] };

export const fields = [
  {
    name: 'config_path',
    file: 'kb.json',
    codes: plain,
    request: (path, n) => ({ type: 'CreateEmbeddedStringStorageRequest', name: `s${n}`, config_path: path }),
  },
  {
    name: 'name of a search',
    file: 'kb.json',
    // A value that does not look like a path is a name.
    codes: { outside: [3009, 8005, 8001], inside: [3010, 8005, 8001] },
    request: (path) => ({ type: 'SearchEmbeddedStringStorageRequest', name: path, text: 'x' }),
  },
  {
    name: 'embedded_string_storage',
    file: 'kb.json',
    codes: { outside: [3009, 8005, 8001], inside: [3010, 8005, 8001] },
    request: (path) => agent('retrieve', { embedded_string_storage: path }),
  },
  {
    name: 'string_storage of responses',
    file: 'secret.txt',
    codes: plain,
    request: (path) => agent('canned_response', { string_storage: path }),
  },
  {
    name: 'string_storage of patterns',
    file: 'secret.txt',
    codes: plain,
    request: (path) => agent('regex_guardrail', { string_storage: path }),
  },
  ...['records_file', 'index_file', 'bm25_file', 'embeddings_file'].map((field) => ({
    name: field,
    file: {
      records_file: 'records.json',
      index_file: 'kb.index',
      bm25_file: 'kb.bm25',
      embeddings_file: 'kb.embeddings',
    }[field],
    // A sidecar that is absent is written.
    codes: field === 'records_file' || field === 'index_file' ? inConfig : { outside, inside: undefined },
    inConfig: field,
    request(path, n, sample) {
      const config = {
        embedding_model: modelName,
        ...configs['plain.json'],
        bm25_file: undefined,
        [field]: path,
      };
      writeFileSync(sample.at(`root/kb/way-${n}.json`), JSON.stringify(config));
      return { type: 'CreateEmbeddedStringStorageRequest', name: `s${n}`, config_path: `kb/way-${n}.json` };
    },
  })),
];
