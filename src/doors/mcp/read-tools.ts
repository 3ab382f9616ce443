import { z } from 'zod';
import { counted } from '../../base/schema/counted.js';
import { type AsOf, asOfSchema } from '../../protocol/as-of.js';
import { nothingRelevant } from '../nothing-relevant.js';
import { answer } from './ask.js';
import { chosen, chosenOne } from './knowledge.js';
import {
  longestWhole,
  placeIn,
  recordSchema,
  recordsText,
  recordUri,
  type ShownRecord,
  shownRecord,
} from './records.js';
import { McpRefusal } from './refusal.js';
import { readOnly, tool } from './tool.js';

/** Longest name of a storage in an argument, in characters. */
export const longestArgument = 1000;

const storage = z
  .string()
  .max(longestArgument)
  .optional()
  .describe('Name of one storage. Default: all of them, or the only one.');
const filter = z
  .record(z.string(), z.unknown())
  .optional()
  .describe(
    'Condition on the fields, as JSON: {"==": [{"knowledge": "FIELD"}, "value"]}; also "!=", "<", "<=", ">", ">=", {"in": ["value", {"knowledge": "SET_FIELD"}]}, {"and": [...]}, {"or": [...]}, {"not": ...}. The storage must have the fields.',
  );
const topK = z.int().min(1).max(50).optional().describe('Most records that are searched for. Default: 8.');

const as_of = asOfSchema
  .optional()
  .describe(
    'Version of the storage that answers, or a time such as "2024-05-31T12:00:00Z": the result is what was known then. Default: the newest version.',
  );
const versionOf = (version: AsOf | undefined) => (version === undefined ? {} : { as_of: version });

const defaultTopK = 8;

const everything = <Shown>(shown: Shown) => shown;

const search = tool({
  name: 'search',
  title: 'Search',
  purpose: 'Searches by meaning and by words, and returns the best records with their places.',
  right: 'search',
  hints: readOnly,
  lists: everything,
  input: () =>
    z.object({
      query: z.string().min(1).max(10_000).describe('A question, or words.'),
      top_k: topK,
      filter,
      storage,
      as_of,
    }),
  output: z.object({
    hits: z.array(
      recordSchema.extend({
        score: z.number().describe('Sort key of the search.'),
        relevance: z.number().optional().describe('Estimated probability that the record is relevant.'),
      }),
    ),
    message: z.string().optional().describe('Says that nothing relevant was found.'),
  }),
  async run(knowledge, { query, top_k, filter, storage, as_of }) {
    const names = chosen(knowledge, storage).map(({ name }) => name);
    const [only] = names as [string];
    const { hits } = await knowledge.session.call('SearchEmbeddedStringStorageRequest', {
      ...(names.length === 1 ? { name: only } : { names }),
      text: query,
      top_k: top_k ?? defaultTopK,
      ...(filter !== undefined && { filter }),
      ...versionOf(as_of),
    });
    const found = hits.map(({ score, relevance, ...hit }) => ({
      ...shownRecord(knowledge, hit.storage ?? only, hit),
      score,
      ...(relevance !== undefined && { relevance }),
    }));
    if (found.length > 0) return { data: { hits: found }, text: recordsText(found) };
    return { data: { hits: [], message: nothingRelevant }, text: nothingRelevant };
  },
});

const get = tool({
  name: 'get',
  title: 'Get records',
  purpose: 'Returns records whole, by the ids that the other tools return.',
  right: 'search',
  hints: readOnly,
  lists: () => [],
  input: () =>
    z.object({
      ids: z.array(z.string().min(1).max(10_000)).min(1).max(50).describe('Ids of records.'),
      storage,
      as_of,
    }),
  output: z.object({
    records: z.array(recordSchema).describe('The records, in the order of the ids.'),
    missing: z.array(z.string()).describe('The ids without a record.'),
  }),
  async run(knowledge, { ids, storage, as_of }) {
    const found = new Map<string, ShownRecord>();
    for (const { name } of chosen(knowledge, storage)) {
      const left = ids.filter((id) => !found.has(id));
      if (left.length === 0) break;
      const { records } = await knowledge.session.call('GetEmbeddedStringStorageRequest', {
        name,
        ids: left,
        ...versionOf(as_of),
      });
      for (const record of records) found.set(record.id, shownRecord(knowledge, name, record, true));
      checkLength([...found.values()]);
    }
    const records = ids.flatMap((id) => found.get(id) ?? []);
    const missing = ids.filter((id) => !found.has(id));
    const lost = missing.length === 0 ? '' : `There is no record ${JSON.stringify(missing)}.`;
    const text = [recordsText(records), lost].filter((part) => part !== '').join('\n\n');
    return { data: { records, missing }, text };
  },
});

/** @throws McpRefusal */
function checkLength(records: readonly ShownRecord[]): void {
  const length = records.reduce((sum, { text }) => sum + text.length, 0);
  if (records.length < 2 || length <= longestWhole) return;
  throw new McpRefusal(
    `ids: these ${records.length} records have ${length} characters, and a result may have ${longestWhole}; get fewer at once`,
  );
}

const list = tool({
  name: 'list',
  title: 'List records',
  purpose: 'Lists the records of a storage in their order, a page at a time.',
  right: 'search',
  hints: readOnly,
  lists: everything,
  input: () =>
    z.object({
      storage: z
        .string()
        .max(longestArgument)
        .optional()
        .describe('Name of the storage. Default: the first one.'),
      offset: z.int().min(0).max(4_294_967_295).default(0).describe('Records to skip.'),
      limit: z.int().min(1).max(100).default(20).describe('Most records of the page.'),
      filter,
      as_of,
    }),
  output: z.object({
    storage: z.string().describe('Name of the storage.'),
    total: z.int().describe('Number of records, or of those that match the filter.'),
    records: z.array(recordSchema).describe('The records, in their order.'),
  }),
  async run(knowledge, { storage, offset, limit, filter, as_of }) {
    const { name } = chosenOne(knowledge, storage);
    const fields = { name, offset, limit, ...(filter !== undefined && { filter }), ...versionOf(as_of) };
    const page = await knowledge.session.call('ListEmbeddedStringStorageRequest', fields);
    const records = page.records.map((record) => shownRecord(knowledge, name, record));
    const range = `${counted(records.length, 'record')} of ${page.total}, from ${offset}`;
    return {
      data: { storage: name, total: page.total, records },
      text: `${range}\n\n${recordsText(records)}`.trim(),
    };
  },
});

const ask = tool({
  name: 'ask',
  title: 'Ask',
  purpose: 'Answers a question from the records, with sources.',
  right: 'chat',
  hints: readOnly,
  lists: everything,
  input: () =>
    z.object({
      question: z.string().min(1).max(10_000).describe('The question.'),
      top_k: topK,
      filter,
      storage,
      as_of,
    }),
  output: z.object({
    answer: z.string().describe('The answer; empty if no sentence answers the question.'),
    generated: z
      .boolean()
      .describe('Whether a language model wrote it; otherwise it is quoted word for word.'),
    sources: z
      .array(
        z.object({
          number: z.int().optional().describe('Number of its mark in a generated answer.'),
          storage: z.string().describe('Name of the storage.'),
          id: z.string().describe("The record's id."),
          uri: z.string().describe('Its address as a resource.'),
          place: z.string().describe('Where it is.'),
          cited: z.boolean().describe('Whether the answer cites it.'),
          sentence: z.string().optional().describe('The sentence that supports the answer.'),
        }),
      )
      .describe('The records behind the answer.'),
  }),
  async run(knowledge, { question, top_k, filter, storage, as_of }, { signal }) {
    const storages = chosen(knowledge, storage);
    const asked = { question, storages, topK: top_k ?? defaultTopK, filter, asOf: as_of };
    const complete = await answer(knowledge, asked, signal);
    const sources = (complete.sources ?? []).map(({ number, storage, id, metadata, cited, sentence }) => ({
      ...(number !== undefined && { number }),
      ...{ storage, id, uri: recordUri(storage, id) },
      place: placeIn(knowledge, { storage, id, metadata }),
      cited,
      ...(sentence !== undefined && { sentence: sentence.text }),
    }));
    const unmarked = sources.some(({ cited }) => cited) ? '' : ' (the answer marks none of them)';
    const lines = sources.map(
      ({ number, place, sentence }) =>
        `- ${number === undefined ? '' : `[${number}] `}${place}${sentence === undefined ? '' : `: "${sentence}"`}`,
    );
    const unanswered =
      complete.hits?.length === 0
        ? nothingRelevant
        : 'No sentence answers this; search finds related records.';
    const said = complete.text || unanswered;
    const text = lines.length === 0 ? said : `${said}\n\nSources${unmarked}:\n${lines.join('\n')}`;
    return { data: { answer: complete.text, generated: knowledge.model !== undefined, sources }, text };
  },
});

export const readTools = [search, get, list, ask] as const;
