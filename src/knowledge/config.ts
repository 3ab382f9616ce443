import { LorekeepError, tokenize } from '../../lib/internal.js';
import { readJson } from '../base/files/read-json.js';
import { describeIssue, type FieldIssue } from '../base/schema/field-issue.js';
import { fieldPath } from '../base/schema/field-path.js';
import { parseLenient } from '../base/schema/lenient.js';
import { listed, maxListed } from '../base/schema/messages.js';
import { type KnowledgeBaseConfig, knowledgeBaseSchema } from './config-schema.js';
import { withSearch } from './search-config.js';

/** Largest config file in bytes. Clients may name any file, and parsing holds the event loop. */
const maxBytes = 64 * 1024;

/** Records are often given in place of the config. */
const otherFile = '; a knowledge base config names the records as "records_file"';

export interface LoadedKnowledgeBaseConfig {
  config: KnowledgeBaseConfig;
  /** One sentence per key without effect. */
  warnings: string[];
}

/**
 * Reads a knowledge base's config file. A byte order mark is skipped. `name`: its path in warnings.
 * @throws LorekeepError: NOT_FOUND, IO, CORRUPT (not UTF-8, not JSON, more than 64 KiB), INVALID_ARGUMENT with file, line, field and
 * reason: the first 20 issues, a line each; `detail` is about the first.
 */
export async function loadKnowledgeBaseConfig(path: string, name = path): Promise<LoadedKnowledgeBaseConfig> {
  const json = await readJson(path, maxBytes);
  const parsed = parseLenient(knowledgeBaseSchema, json.value);
  const place = ({ keys }: FieldIssue) => {
    const { line, column } = json.positionOf(keys);
    return `${line}:${column}`;
  };
  const issues = parsed.ok ? synonymIssues(parsed.value) : parsed.issues;
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
function synonymIssues({ bm25_tokenizer, lexical, search }: KnowledgeBaseConfig): FieldIssue[] {
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
