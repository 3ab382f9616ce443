import { isDeepStrictEqual } from 'node:util';
import { type FieldDefinition, LorekeepError, Storage, type StoredRecord } from '../../../lib/internal.js';
import { isInDatabase, loadAnyConfig } from '../config.js';
import { hnswDefaults } from '../config-schema.js';
import type { KnowledgeBase } from '../knowledge-base.js';
import { factsOf, modelResolver } from '../model.js';
import { openKnowledgeBase } from '../open.js';
import { configArgument, findModel, type OpenKnowledgeBaseOptions } from '../resolve.js';
import { saveStorage } from '../save-storage.js';
import { vectorOf } from './background.js';
import type { PostgresClient, Row } from './client.js';
import { readFacts } from './facts.js';
import { metadataOf } from './metadata.js';
import { type EngineSource, findTables } from './open.js';
import { pushStorage } from './push.js';
import { Statement } from './statement.js';
import type { TableNames } from './tables.js';

type TransferOptions = Pick<OpenKnowledgeBaseOptions, 'models' | 'connections' | 'signal' | 'log'>;

/** A knowledge base in a database, and the tables of its config, which need not exist yet. */
interface Target extends Pick<EngineSource, 'path' | 'config' | 'model'> {
  readonly client: PostgresClient;
  readonly tables: TableNames;
  readonly fields: readonly FieldDefinition[] | undefined;
}

/** @throws INVALID_ARGUMENT for a config without "engine" */
async function targetOf(given: string, { models, connections }: TransferOptions): Promise<Target> {
  const path = configArgument(given);
  const loaded = await loadAnyConfig(path);
  if (!isInDatabase(loaded)) {
    const reason = 'is missing; the config of a knowledge base in a database is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { file: path, field: 'engine', reason });
  }
  const { config } = loaded;
  const found = findTables({ path, config, connections });
  const model = await findModel({ path, config }, modelResolver(models));
  return { path, config, model, fields: config.fields as FieldDefinition[] | undefined, ...found };
}

/** Refuses a knowledge base in files whose records another config would not find. @throws INVALID_ARGUMENT */
function requireSameConfig(kb: KnowledgeBase, { path: file, config, model }: Target): void {
  const refuse = (field: string, reason: string) =>
    LorekeepError.about('INVALID_ARGUMENT', { file, field, reason });
  if (factsOf(kb.model).fingerprint !== factsOf(model).fingerprint)
    throw refuse('embedding_model', 'is another model than that of the records');
  if (kb.config.bm25_tokenizer !== config.bm25_tokenizer)
    throw refuse('bm25_tokenizer', `"${kb.config.bm25_tokenizer}" is expected, as in the other config`);
  const [own, others] = [kb.config.fields, config.fields].map((fields) =>
    JSON.parse(JSON.stringify(fields ?? [])),
  );
  if (!isDeepStrictEqual(own, others)) throw refuse('fields', 'the fields of the other config are expected');
}

/**
 * Writes a knowledge base in files into the tables of another config, in one transaction. Returns the number of records.
 * @throws INVALID_ARGUMENT for configs that do not agree, tables that are not ours, or have records without `replace`
 */
export async function pushKnowledgeBase(
  from: string,
  to: string,
  options: TransferOptions & { replace?: boolean; onProgress?: (done: number, total: number) => void },
): Promise<number> {
  const { models, signal, log, replace = false, onProgress } = options;
  const target = await targetOf(to, options);
  const { client, tables, fields, config, model } = target;
  await using kb = await openKnowledgeBase(from, { models, signal, log, readOnly: true });
  const storage = kb.embedded;
  requireSameConfig(kb, target);
  const { m, ef_construction: efConstruction } = config.hnsw ?? hnswDefaults;
  return await pushStorage(storage, {
    client,
    tables,
    model: { model: config.embedding_model, fingerprint: factsOf(model).fingerprint },
    fields,
    hnsw: config.engine.index === 'hnsw' ? { m, efConstruction } : undefined,
    replace,
    signal,
    ...(onProgress && { onProgress }),
  });
}

/** Writes a knowledge base in a database as one in files. Returns the paths of the files. @throws as saveStorage(); EngineError */
export async function pullKnowledgeBase(
  from: string,
  to: string,
  options: TransferOptions,
): Promise<{ records: number; files: string[] }> {
  const { signal } = options;
  const target = await targetOf(from, options);
  const { fields, model, config } = target;
  await using kb = await openKnowledgeBase(from, options);
  const all: PulledRecord[] = [];
  await eachPage(target, signal, async (page) => void all.push(...page));
  const vectors = new Float32Array(all.length * kb.dimension);
  for (const [index, { vector }] of all.entries()) vectors.set(vector, index * kb.dimension);
  const { m, ef_construction: efConstruction } = config.hnsw ?? hnswDefaults;
  const build = { fields, tokenizer: config.bm25_tokenizer, m, efConstruction, signal };
  const storage = await Storage.build(all, vectors, kb.dimension, build);
  try {
    const { defaults } = kb;
    return {
      records: all.length,
      files: await saveStorage(storage, model, { defaults, fields }, to, {
        embeddingModel: config.embedding_model,
        signal,
      }),
    };
  } finally {
    await storage.close();
  }
}

interface PulledRecord extends Omit<StoredRecord, 'ordinal'> {
  readonly vector: Float32Array;
}

const recordsOfPage = 1000;
const longestReadMs = 86_400_000;

/** Reads all records in their order, as one version. */
function eachPage(
  { client, tables, fields }: Target,
  signal: AbortSignal | undefined,
  work: (page: readonly PulledRecord[]) => Promise<void>,
): Promise<void> {
  const record = ({ id, text, metadata, embedding }: Row): PulledRecord => {
    const own = metadataOf(metadata as string, fields);
    const vector = vectorOf(embedding as string);
    return { id: id as string, text: text as string, ...(own && { metadata: own }), vector };
  };
  return client.transaction(
    async (run) => {
      await run('set transaction isolation level repeatable read, read only');
      for (let after = -1; ; ) {
        const statement = new Statement();
        const text = `select row, id, text, metadata::text as metadata, embedding::text as embedding from ${tables.records}
          where row > ${statement.bind(after, 'bigint')} order by row limit ${statement.bind(recordsOfPage, 'bigint')}`;
        const rows = await run(text, statement.values);
        if (rows.length === 0) return;
        await work(rows.map(record));
        after = Number(rows.at(-1)?.row);
      }
    },
    signal,
    longestReadMs,
  );
}

/** What differs between the parts of a knowledge base in a database, or between it and one in files. */
export interface Comparison {
  readonly records: number;
  /** A sentence for each kind of difference. */
  readonly differences: string[];
}

/** Largest difference between the numbers of two embeddings that are the same. */
const sameNumber = 1e-5;
const listedIds = 5;

/**
 * Compares the statistics in the tables with their records and words. With `against`, the config of a knowledge base in files, also
 * all records and vectors. @throws as openKnowledgeBase()
 */
export async function compareKnowledgeBase(
  file: string,
  options: TransferOptions & { against?: string | undefined },
): Promise<Comparison> {
  const { against, ...opening } = options;
  const { signal, models, log } = opening;
  const target = await targetOf(file, opening);
  const { client, tables } = target;
  await using kb = await openKnowledgeBase(file, opening);
  const { documents } = await readFacts(client, tables, signal);
  const differences = await statisticsDifferences(target, signal);
  if (against === undefined) return { records: documents, differences };
  await using other = await openKnowledgeBase(against, { models, signal, log, readOnly: true });
  requireSameConfig(other, target);
  const found: Readonly<Record<string, string[]>> = {
    'are in the tables alone': [],
    'are in the files alone': [],
    differ: [],
  };
  const note = (kind: string, id: string) => found[kind]?.push(id);
  const seen = new Set<string>();
  await eachPage(target, signal, async (page) => {
    const others = new Map(
      (
        await other.storage.getMany(
          page.map(({ id }) => id),
          { signal },
        )
      ).map((record) => [record.id, record]),
    );
    for (const { id, text, metadata, vector } of page) {
      seen.add(id);
      const record = others.get(id);
      if (record === undefined) note('are in the tables alone', id);
      else if (record.text !== text || !isDeepStrictEqual(record.metadata, metadata)) note('differ', id);
      else if (!isSameVector(vector, (await other.storage.embedding(id, { signal })) ?? []))
        note('differ', id);
    }
  });
  for (let offset = 0; offset < other.size; offset += recordsOfPage)
    for (const { id } of await other.list({ offset, limit: recordsOfPage, signal }))
      if (!seen.has(id)) note('are in the files alone', id);
  for (const [kind, ids] of Object.entries(found)) {
    if (ids.length === 0) continue;
    const shown = ids
      .slice(0, listedIds)
      .map((id) => JSON.stringify(id.slice(0, 64)))
      .join(', ');
    differences.push(`${ids.length} records ${kind}: ${shown}${ids.length > listedIds ? ', ...' : ''}`);
  }
  return { records: kb.size, differences };
}

const isSameVector = (one: Float32Array, other: ArrayLike<number>) =>
  one.length === other.length &&
  one.every((value, at) => Math.abs(value - (other[at] as number)) <= sameNumber);

async function statisticsDifferences(
  { client, tables }: Target,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const { base, records, words, terms, gone } = tables;
  const text = `select
    (select count(*) from ${records}) = b.documents as documents,
    coalesce((select sum(length) from ${records}), 0) = b.tokens as tokens,
    (select count(*) from ${records}) + (select count(*) from ${gone}) = b.next_row as rows,
    not exists (select 1 from (select term, count(*) as found from ${words} group by term) w
      full join ${terms} t on t.term = w.term where w.found is distinct from t.documents) as terms,
    not exists (select 1 from ${words} w left join ${records} r on r.row = w.row where r.row is null or r.length <> w.length) as words
    from ${base} b`;
  const [row] = await client.read({ text, values: [] }, signal);
  const wrong = {
    documents: 'the number of records is not that of the table',
    tokens: 'the number of words is not that of the records',
    rows: 'rows are missing that nobody has removed',
    terms: 'the numbers of records with a word are not those of the words',
    words: 'there are words of records that are not there',
  };
  return Object.entries(wrong).flatMap(([name, sentence]) => (row?.[name] === true ? [] : [sentence]));
}
