import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { LorekeepError } from '../../lib/index.js';
import { largestConfigBytes, readConfig } from '../files/read-config.js';
import { describeIssue, type FieldIssue } from '../schema/field-issue.js';
import { JsonSyntaxError, JsonText } from '../schema/json-text.js';
import { parseLenient } from '../schema/lenient.js';
import { listed, mostListed } from '../schema/messages.js';
import { type KnowledgeBaseConfig, knowledgeBaseSchema } from './config-schema.js';
import { checkDistinctFiles } from './paths.js';

export interface LoadedKnowledgeBaseConfig {
  config: KnowledgeBaseConfig;
  /** One sentence per key that has no effect. */
  warnings: string[];
}

/**
 * Reads a knowledge base's config file. A byte order mark is skipped.
 * @throws LorekeepError: NOT_FOUND, IO, CORRUPT (not UTF-8, not JSON), INVALID_ARGUMENT with file, line, field and what is
 * wrong: the first 20 issues, a line each; `detail` is about the first.
 */
export async function loadKnowledgeBaseConfig(path: string): Promise<LoadedKnowledgeBaseConfig> {
  const text = await readText(path);
  const json = parseJson(path, text);
  const shape = json.shapeProblem();
  if (shape !== undefined)
    throw new LorekeepError('INVALID_ARGUMENT', `${path}${shape.place}: ${shape.what}`, { file: path });
  const parsed = parseLenient(knowledgeBaseSchema, json.value);
  const place = ({ keys }: FieldIssue) => {
    const { line, column } = json.positionOf(keys);
    return `${path}:${line}:${column}`;
  };
  if (!parsed.ok) {
    const line = (issue: FieldIssue) => `${place(issue)}: ${describeIssue(issue)}`;
    const lines = listed(parsed.issues, line);
    const { path: field, nearest } = parsed.issue;
    // What is missing may be there under another name.
    if (parsed.issues.some(({ kind }) => kind === 'missing'))
      lines.push(...parsed.ignored.slice(0, mostListed).map(line));
    throw new LorekeepError('INVALID_ARGUMENT', lines.join('\n'), { file: path, path: field, nearest });
  }
  checkDistinctFiles(path, parsed.value);
  const warnings = parsed.ignored.map(
    (issue) => `${place(issue)}: ${describeIssue(issue)}; it has no effect`,
  );
  return { config: parsed.value, warnings };
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path);
  if (bytes.length > largestConfigBytes) {
    throw new LorekeepError(
      'CORRUPT',
      `${path}: is longer than ${largestConfigBytes} bytes, so it is no config file`,
      {
        file: path,
      },
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new LorekeepError('CORRUPT', `${path}: is not UTF-8`, { file: path }, { cause });
  }
}

/** Opening a pipe that nobody writes to would hold a thread for ever. Windows has no such flag and no such pipes. */
const readOnly = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function readFile(path: string): Promise<Buffer> {
  try {
    await using file = await open(path, readOnly);
    const found = await file.stat();
    if (!found.isFile() && !found.isDirectory()) throw new Error('not a regular file');
    return await readConfig(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new LorekeepError('NOT_FOUND', `${path}: the file does not exist`, { file: path }, { cause });
    }
    const what = code === 'EISDIR' ? 'is a folder; a file is expected' : `cannot be read: ${message}`;
    throw new LorekeepError('IO', `${path}: ${what}`, { file: path }, { cause });
  }
}

function parseJson(path: string, text: string): JsonText {
  try {
    return new JsonText(text);
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause;
    const { line, column } = cause.position;
    const message = `${path}:${line}:${column}: not valid JSON: ${cause.message}`;
    throw new LorekeepError('CORRUPT', message, { file: path, line }, { cause });
  }
}
