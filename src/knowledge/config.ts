import { readFile } from 'node:fs/promises';
import { LorekeepError } from '../../lib/index.js';
import { describeIssue } from '../schema/field-issue.js';
import { parseLenient } from '../schema/lenient.js';
import { type KnowledgeBaseConfig, knowledgeBaseSchema } from './config-schema.js';

export interface LoadedKnowledgeBaseConfig {
  config: KnowledgeBaseConfig;
  /** One sentence per key that has no effect. */
  warnings: string[];
}

/**
 * Reads a knowledge base's config file. A byte order mark is skipped.
 * @throws LorekeepError: NOT_FOUND, IO, CORRUPT (not JSON), INVALID_ARGUMENT with file, path and what is wrong.
 */
export async function loadKnowledgeBaseConfig(path: string): Promise<LoadedKnowledgeBaseConfig> {
  const parsed = parseLenient(knowledgeBaseSchema, parseJson(path, await read(path)));
  if (!parsed.ok) {
    const { path: field, nearest } = parsed.issue;
    throw new LorekeepError('INVALID_ARGUMENT', `${path}: ${describeIssue(parsed.issue)}`, {
      file: path,
      path: field,
      nearest,
    });
  }
  return {
    config: parsed.value,
    warnings: parsed.warnings.map((warning) => `${path}: ${warning}; it has no effect`),
  };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new LorekeepError('NOT_FOUND', `${path}: the file does not exist`, { file: path }, { cause });
    }
    throw new LorekeepError('IO', `${path}: cannot be read: ${message}`, { file: path }, { cause });
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new LorekeepError('CORRUPT', `${path}: not valid JSON: ${reason}`, { file: path }, { cause });
  }
}
