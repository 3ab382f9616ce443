import { join } from 'node:path';
import { homeFolder } from '../../base/files/home.js';
import { writtenSearch } from '../../knowledge/search-config.js';

/** Its records. */
const sampleSize = 12;

/** The file with the records of the sample. */
export const sampleRecords = join(homeFolder, 'data', 'sample-records.json');

/** The sample of `lorekeep init`: what the people of a small harbour know. Written for lorekeep. */
export const sampleConfig = {
  embedding_model: 'all-MiniLM-L6-v2',
  records_file: 'records.json',
  index_file: 'harbour.index',
  bm25_tokenizer: 'multilingual',
  search: writtenSearch(sampleSize),
  fields: [
    { name: 'topic', type: 'string', optional: true },
    { name: 'secret', type: 'bool', default: false },
    { name: 'people', type: 'set<string>', optional: true },
  ],
};

export const sampleQuestion = 'who lights the lamp at night?';
