import { isDeepStrictEqual } from 'node:util';
import { type FieldDefinition, LorekeepError } from '../../../lib/internal.js';
import { closeIfFailed } from '../../base/waiting/close-if-failed.js';
import type { EngineBaseConfig } from '../config-schema.js';
import { KnowledgeBase } from '../knowledge-base.js';
import { factsOf, type KnowledgeModel } from '../model.js';
import type { PostgresClient } from './client.js';
import type { PostgresConnections } from './connections.js';
import { PostgresEngine } from './engine.js';
import { EngineChanges } from './engine-changes.js';
import { readFacts } from './facts.js';
import type { BaseFacts, TableNames } from './tables.js';

export interface EngineSource {
  /** Path of the config. */
  readonly path: string;
  readonly config: EngineBaseConfig;
  readonly warnings: readonly string[];
  readonly model: KnowledgeModel;
  /** Undefined: nobody has declared any. */
  readonly connections: PostgresConnections | undefined;
  /** Whether changes are refused. */
  readonly readOnly: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a knowledge base whose records are in Postgres. Reads its facts alone.
 * @throws INVALID_ARGUMENT with the field of the config; UNSUPPORTED, EngineError
 */
export async function openEngineBase(source: EngineSource): Promise<KnowledgeBase> {
  const { path: file, config, warnings, model, signal, readOnly } = source;
  const { client, tables } = findTables(source);
  const facts = await readFacts(client, tables, signal);
  requireFit(facts, source, tables);
  const fields = config.fields as FieldDefinition[] | undefined;
  const engine = await PostgresEngine.open({
    client,
    tables,
    facts: { ...facts, hnsw: config.engine.index === 'hnsw' },
    fields,
    tokenizer: config.bm25_tokenizer,
    ef: config.search?.ef_search,
  });
  return closeIfFailed(engine, async () => {
    const changes = new EngineChanges(engine, { client, model, fields, readOnly });
    const facts = { config, warnings, embeddings: undefined, indexWritten: false, changes };
    const kb = new KnowledgeBase(engine, model, facts);
    try {
      engine.checkLexical(kb.defaults.lexical);
    } catch (error) {
      const { reason = '' } = (error as { detail?: { reason?: string } }).detail ?? {};
      throw LorekeepError.about('INVALID_ARGUMENT', { file, field: 'search.lexical', reason });
    }
    return kb;
  });
}

/** Returns the client and the tables that a config names. @throws INVALID_ARGUMENT */
export function findTables({
  path: file,
  config,
  connections,
}: Pick<EngineSource, 'path' | 'config' | 'connections'>): { client: PostgresClient; tables: TableNames } {
  if (connections !== undefined) return connections.find(config.engine, file);
  const reason = 'no connections are declared here';
  const remedy = 'declare them as "connections" of the server config, or pass `connections` in a script';
  throw LorekeepError.about('INVALID_ARGUMENT', { file, field: 'engine.connection', reason, remedy });
}

/** @throws INVALID_ARGUMENT for tables that were pushed from another config, DIMENSION_MISMATCH */
function requireFit(
  facts: BaseFacts,
  { path: file, config, model }: EngineSource,
  { schema, name }: TableNames,
): void {
  const table = JSON.stringify(`${schema}.${name}`);
  const refuse = (field: string, reason: string) =>
    LorekeepError.about('INVALID_ARGUMENT', {
      file,
      field,
      reason,
      remedy: 'push the knowledge base again, or correct the config',
    });
  const { embedding_model, bm25_tokenizer, fields, engine } = config;
  const { dimension, fingerprint } = factsOf(model);
  if (facts.fingerprint !== fingerprint)
    throw refuse(
      'embedding_model',
      `the vectors of the table ${table} are of another model than ${JSON.stringify(embedding_model)}: of ${JSON.stringify(facts.model)}`,
    );
  if (facts.dimension !== dimension) {
    const reason = `the vectors of the table ${table} have ${facts.dimension} numbers, those of the model ${dimension}`;
    throw LorekeepError.about('DIMENSION_MISMATCH', { file, field: 'embedding_model', reason });
  }
  if (facts.tokenizer !== bm25_tokenizer)
    throw refuse('bm25_tokenizer', `the words of the table ${table} are of "${facts.tokenizer}"`);
  if (!isDeepStrictEqual(plain(facts.fields), plain(fields)))
    throw refuse('fields', `the records of the table ${table} have other fields`);
  if (engine.index === 'hnsw' && !facts.hnsw)
    throw refuse('engine.index', `the table ${table} was pushed without an index`);
}

/** A value as JSON has it. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
