import type { CallToolResult, McpServer, RegisteredTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { failureMessage } from '../failure.js';
import { counted } from '../terminal/amounts.js';
import { answer } from './ask.js';
import { type Shown, storageLines } from './describe.js';
import type { Knowledge } from './knowledge.js';
import { placeIn, recordSchema, recordsText, recordUri, shownRecord } from './records.js';
import type { WaitingRequest } from './waiting.js';

/** Returns the knowledge once it is open. @throws the reason why it cannot be opened; the reason of the request's signal */
export type WhenOpen = (request: WaitingRequest) => Promise<Knowledge>;

const storage = z
  .string()
  .max(200)
  .optional()
  .describe('Name of one storage. Default: all of them, or the only one.');
const filter = z
  .record(z.string(), z.unknown())
  .optional()
  .describe(
    'Condition on the fields, as JSON: {"==": [{"knowledge": "FIELD"}, "value"]}; also "!=", "<", "<=", ">", ">=", {"in": ["value", {"knowledge": "SET_FIELD"}]}, {"and": [...]}, {"or": [...]}, {"not": ...}. The storage must have the fields.',
  );
const topK = z.int().min(1).max(50).optional().describe('Most records that are searched for. Default: 8.');

const defaultTopK = 8;

const foundSchema = z.object({
  hits: z.array(
    recordSchema.extend({
      score: z.number().describe('Sort key of the search.'),
      relevance: z.number().optional().describe('Estimated probability that the record is relevant.'),
    }),
  ),
});

const gotSchema = z.object({
  records: z.array(recordSchema).describe('The records, in the order of the ids.'),
  missing: z.array(z.string()).describe('The ids without a record.'),
});

const listedSchema = z.object({
  storage: z.string().describe('Name of the storage.'),
  total: z.int().describe('Number of records, or of those that match the filter.'),
  records: z.array(recordSchema).describe('The records, in their order.'),
});

const answerSchema = z.object({
  answer: z.string().describe('The answer; empty if no sentence answers the question.'),
  generated: z.boolean().describe('Whether a language model wrote it; otherwise it is quoted word for word.'),
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
});

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

type Result = z.input<z.ZodObject> & object;

/** Runs a tool: what goes wrong is told to the client's model, which can try again. */
async function result(work: () => Promise<{ data: Result; text: string }>): Promise<CallToolResult> {
  try {
    const { data, text } = await work();
    return { content: [{ type: 'text', text }], structuredContent: data };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: failureMessage(error) }] };
  }
}

/** Adds the tools. Their descriptions say what there is. */
export function addTools(server: McpServer, whenOpen: WhenOpen, shown: Shown): Map<string, RegisteredTool> {
  const all: readonly [string, RegisteredTool][] = [
    ['search', addSearch(server, whenOpen)],
    ['get', addGet(server, whenOpen)],
    ['list', addList(server, whenOpen)],
    ['ask', addAsk(server, whenOpen)],
  ];
  const tools = new Map(all);
  describeTools(tools, shown);
  return tools;
}

const purposes: Readonly<Record<string, string>> = {
  search: 'Searches by meaning and by words, and returns the best records with their places.',
  get: 'Returns records whole, by the ids that the other tools return.',
  list: 'Lists the records of a storage in their order, a page at a time.',
  ask: 'Answers a question from the records, with sources.',
};

/** Writes what there is into the descriptions of the tools. */
export function describeTools(tools: ReadonlyMap<string, RegisteredTool>, shown: Shown): void {
  const lines = storageLines(shown);
  for (const [name, tool] of tools)
    tool.update({
      description: name === 'get' ? (purposes[name] as string) : `${purposes[name]}\n\n${lines}`,
    });
}

const addSearch = (server: McpServer, whenOpen: WhenOpen) =>
  server.registerTool(
    'search',
    {
      title: 'Search',
      annotations: { title: 'Search', ...readOnly },
      inputSchema: z.object({
        query: z.string().min(1).max(10_000).describe('A question, or words.'),
        top_k: topK,
        filter,
        storage,
      }),
      outputSchema: foundSchema,
    },
    ({ query, top_k, filter, storage }, { mcpReq }) =>
      result(async () => {
        const knowledge = await whenOpen(mcpReq);
        const names = knowledge.chosen(storage).map(({ name }) => name);
        const [only] = names;
        const { hits } = await knowledge.session.call('SearchEmbeddedStringStorageRequest', {
          ...(names.length === 1 ? { name: only as string } : { names }),
          text: query,
          top_k: top_k ?? defaultTopK,
          ...(filter !== undefined && { filter }),
        });
        const found = hits.map(({ score, relevance, ...hit }) => ({
          ...shownRecord(knowledge, hit.storage ?? (only as string), hit),
          score,
          ...(relevance !== undefined && { relevance }),
        }));
        const text = found.length === 0 ? 'Nothing is found.' : recordsText(found);
        return { data: { hits: found }, text };
      }),
  );

const addGet = (server: McpServer, whenOpen: WhenOpen) =>
  server.registerTool(
    'get',
    {
      title: 'Get records',
      annotations: { title: 'Get records', ...readOnly },
      inputSchema: z.object({
        ids: z.array(z.string().max(10_000)).min(1).max(50).describe('Ids of records.'),
        storage,
      }),
      outputSchema: gotSchema,
    },
    ({ ids, storage }, { mcpReq }) =>
      result(async () => {
        const knowledge = await whenOpen(mcpReq);
        const found = new Map<string, ReturnType<typeof shownRecord>>();
        for (const { name } of knowledge.chosen(storage)) {
          const left = ids.filter((id) => !found.has(id));
          if (left.length === 0) break;
          for (const id of left) {
            const record = await knowledge.with(name, (one) =>
              one.storage.get(id, { signal: mcpReq.signal }),
            );
            if (record !== undefined) found.set(id, shownRecord(knowledge, name, record, true));
          }
        }
        const records = ids.flatMap((id) => found.get(id) ?? []);
        const missing = ids.filter((id) => !found.has(id));
        const lost = missing.length === 0 ? '' : `There is no record ${JSON.stringify(missing)}.`;
        const text = [recordsText(records), lost].filter((part) => part !== '').join('\n\n');
        return { data: { records, missing }, text };
      }),
  );

const addList = (server: McpServer, whenOpen: WhenOpen) =>
  server.registerTool(
    'list',
    {
      title: 'List records',
      annotations: { title: 'List records', ...readOnly },
      inputSchema: z.object({
        storage: z.string().max(200).optional().describe('Name of the storage. Default: the first one.'),
        offset: z.int().min(0).max(4_294_967_295).default(0).describe('Records to skip.'),
        limit: z.int().min(1).max(100).default(20).describe('Most records of the page.'),
        filter,
      }),
      outputSchema: listedSchema,
    },
    ({ storage, offset, limit, filter }, { mcpReq }) =>
      result(async () => {
        const knowledge = await whenOpen(mcpReq);
        const [{ name }] = knowledge.chosen(storage);
        return knowledge.with(name, async ({ storage: stored, size }) => {
          const { signal } = mcpReq;
          const which = filter === undefined ? {} : { filter: filter as never };
          const total = filter === undefined ? size : await stored.count({ ...which, signal });
          const page = await stored.list({ ...which, offset, limit, signal });
          const records = page.map((record) => shownRecord(knowledge, name, record));
          const range = `${counted(records.length, 'record')} of ${total}, from ${offset}`;
          return {
            data: { storage: name, total, records },
            text: `${range}\n\n${recordsText(records)}`.trim(),
          };
        });
      }),
  );

const addAsk = (server: McpServer, whenOpen: WhenOpen) =>
  server.registerTool(
    'ask',
    {
      title: 'Ask',
      annotations: { title: 'Ask', ...readOnly },
      inputSchema: z.object({
        question: z.string().min(1).max(10_000).describe('The question.'),
        top_k: topK,
        filter,
        storage,
      }),
      outputSchema: answerSchema,
    },
    ({ question, top_k, filter, storage }, { mcpReq }) =>
      result(async () => {
        const knowledge = await whenOpen(mcpReq);
        const storages = knowledge.chosen(storage);
        const complete = await answer(
          knowledge,
          { question, storages, topK: top_k ?? defaultTopK, filter },
          mcpReq.signal,
        );
        const sources = (complete.sources ?? []).map(
          ({ number, storage, id, metadata, cited, sentence }) => ({
            ...(number !== undefined && { number }),
            ...{ storage, id, uri: recordUri(storage, id) },
            place: placeIn(knowledge, { storage, id, metadata }),
            cited,
            ...(sentence !== undefined && { sentence: sentence.text }),
          }),
        );
        const generated = knowledge.model !== undefined;
        const unmarked = sources.some(({ cited }) => cited) ? '' : ' (the answer marks none of them)';
        const lines = sources.map(
          ({ number, place, sentence }) =>
            `- ${number === undefined ? '' : `[${number}] `}${place}${sentence === undefined ? '' : `: "${sentence}"`}`,
        );
        const said =
          complete.text === '' ? 'No sentence answers this; search finds related records.' : complete.text;
        const text = lines.length === 0 ? said : `${said}\n\nSources${unmarked}:\n${lines.join('\n')}`;
        return { data: { answer: complete.text, generated, sources }, text };
      }),
  );
