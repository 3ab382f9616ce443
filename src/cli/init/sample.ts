import { join } from 'node:path';
import { homeFolder } from '../../base/files/home.js';
import type { LeastRelevance } from '../../knowledge/nonsense/least-relevance.js';
import { writtenSearch } from '../../knowledge/search-config.js';

/** The file with the records of the sample. */
export const sampleRecords = join(homeFolder, 'data', 'sample-records.json');

/** What learnLeastRelevance() learns from the sample: `init` writes files and loads no model. */
const limits: LeastRelevance = {
  min_best: { dense: 0.0204, lexical: 0.0884 },
  min_by_leg: { dense: 0.032, lexical: 0.109 },
};

/** The sample of `lorekeep init`: what the people of a small harbour know. Written for lorekeep. */
export const sampleConfig = {
  embedding_model: 'all-MiniLM-L6-v2',
  records_file: 'records.json',
  index_file: 'harbour.index',
  bm25_tokenizer: 'multilingual',
  search: writtenSearch({ learned: limits }),
  fields: [
    { name: 'topic', type: 'string', optional: true },
    { name: 'secret', type: 'bool', default: false },
    { name: 'people', type: 'set<string>', optional: true },
  ],
};

export const sampleQuestion = 'who lights the lamp at night?';
