import type { z } from 'zod';
import { LorekeepError, tokenize } from '../../lib/internal.js';
import { readJson } from '../base/files/read-json.js';
import { describeIssue, type FieldIssue } from '../base/schema/field-issue.js';
import { fieldPath } from '../base/schema/field-path.js';
import type { JsonText } from '../base/schema/json-text.js';
import { parseLenient } from '../base/schema/lenient.js';
import { listed, maxListed } from '../base/schema/messages.js';
import {
  type EngineBaseConfig,
  engineBaseSchema,
  type KnowledgeBaseConfig,
  knowledgeBaseSchema,
} from './config-schema.js';
import { withSearch } from './search-config.js';

/** Largest config file in bytes. Clients may name any file, and parsing holds the event loop. */
const maxBytes = 64 * 1024;

/** Records are often given in place of the config. */
const otherFile = '; a knowledge base config names the records as "records_file"';

export interface LoadedKnowledgeBaseConfig<Config = KnowledgeBaseConfig> {
  config: Config;
  /** One sentence per key without effect. */
  warnings: string[];
}

/**
 * Reads a knowledge base's config file. A byte order mark is skipped. `name`: its path in warnings.
 * @throws LorekeepError: NOT_FOUND, IO, CORRUPT (not UTF-8, not JSON, more than 64 KiB), INVALID_ARGUMENT with file, line, field and
 * reason: the first 20 issues, a line each; `detail` is about the first. UNSUPPORTED for one whose records are in a database
 */
export async function loadKnowledgeBaseConfig(path: string, name = path): Promise<LoadedKnowledgeBaseConfig> {
  const loaded = await loadAnyConfig(path, name);
  if (!isInDatabase(loaded)) return loaded;
  const reason = 'this works on the files of a knowledge base, and the records of this one are in a database';
  const remedy = '`lorekeep pull` writes files';
  throw LorekeepError.about('UNSUPPORTED', { file: path, field: 'engine', reason, remedy });
}

/** The same for a knowledge base in files or in a database. */
export async function loadAnyConfig(
  path: string,
  name = path,
): Promise<LoadedKnowledgeBaseConfig | LoadedKnowledgeBaseConfig<EngineBaseConfig>> {
  const json = await readJson(path, maxBytes);
  const { value } = json;
  const hasEngine = typeof value === 'object' && value !== null && Object.hasOwn(value, 'engine');
  return hasEngine
    ? checked(engineBaseSchema as unknown as z.ZodType<EngineBaseConfig>, json, { path, name })
    : checked(knowledgeBaseSchema, json, { path, name });
}

export const isInDatabase = <Loaded extends { config: KnowledgeBaseConfig | EngineBaseConfig }>(
  loaded: Loaded,
): loaded is Loaded & { config: EngineBaseConfig } => 'engine' in loaded.config;

type Either = Pick<KnowledgeBaseConfig, 'bm25_tokenizer' | 'lexical' | 'search' | 'hnsw'>;

function checked<Config extends Partial<Either>>(
  schema: z.ZodType<Config>,
  json: JsonText,
  { path, name }: { path: string; name: string },
): LoadedKnowledgeBaseConfig<Config> {
  const parsed = parseLenient(schema, json.value);
  const place = ({ keys }: FieldIssue) => {
    const { line, column } = json.positionOf(keys);
    return `${line}:${column}`;
  };
  const issues = parsed.ok ? synonymIssues(parsed.value as Either) : parsed.issues;
  if (!parsed.ok || issues.length > 0) {
    const line = (issue: FieldIssue) =>
      `${place(issue)}: ${describeIssue(issue)}${issue.path === '' ? otherFile : ''}`;
    const lines = listed(issues, line);
    const { path: field, nearest } = issues[0] as FieldIssue;
    // A missing field may be present under a misspelt name.
    if (issues.some(({ kind }) => kind === 'missing'))
      lines.push(...parsed.ignored.slice(0, maxListed).map(line));
    const facts = { file: path, path: field, nearest, mistakes: issues.length, issues: lines };
    throw LorekeepError.about('INVALID_ARGUMENT', facts);
  }
  const warnings = parsed.ignored.map(
    (issue) => `${name}:${place(issue)}: ${describeIssue(issue)}; it has no effect`,
  );
  return { config: withSearch(parsed.value), warnings };
}

/** Synonyms are single words to the tokenizer: every search with a lexical leg would refuse others. */
function synonymIssues({ bm25_tokenizer, lexical, search }: Either): FieldIssue[] {
  const place = lexical === undefined ? ['search', 'lexical'] : ['lexical'];
  return ((lexical ?? search?.lexical)?.synonyms ?? []).flatMap((group, at) =>
    group.flatMap((synonym, index): FieldIssue[] => {
      const { length } = tokenize(synonym, bm25_tokenizer);
      if (length === 1) return [];
      const keys = [...place, 'synonyms', at, index];
      const message = `a single word is expected; to the tokenizer "${bm25_tokenizer}" ${JSON.stringify(synonym)} is ${length} words`;
      return [{ kind: 'invalid', path: fieldPath(keys), keys, message }];
    }),
  );
}
