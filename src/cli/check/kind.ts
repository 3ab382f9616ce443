import { readHead } from '../../base/files/read-head.js';
import { JsonSyntaxError, JsonText } from '../../base/schema/json-text.js';
import { configFields } from '../../config/fields.js';
import { readTextFile } from '../../config/file.js';
import { engineBaseSchema, knowledgeBaseSchema } from '../../knowledge/config-schema.js';
import { CommandError } from '../failure.js';
import type { JsonKind } from './flags.js';

/** What is checked in a file. */
export type CheckedKind = JsonKind | 'model' | 'index-file';

/** The kinds' names for people. */
export const kindNames: Readonly<Record<CheckedKind, string>> = {
  'knowledge-base': 'knowledge base',
  'server-config': 'server config',
  catalog: 'model catalog',
  records: 'records file',
  model: 'GGUF model',
  'index-file': 'index file',
};

/** Bytes that contain the first character of a JSON text, after a byte order mark and blanks. */
const headBytes = 4096;

/**
 * Detects the kind of a file by its content: an array is a records file, an object is the kind that most of its keys
 * belong to. The file name decides ties. Other files are binary. @throws CommandError with line and column for broken JSON
 */
export async function kindOf(file: string): Promise<CheckedKind> {
  const head = await readHead(file, headBytes);
  if (head.startsWith('GGUF')) return 'model';
  const first = head.replace(/^\uFEFF/, '').trimStart()[0];
  if (first === '[') return 'records';
  if (first !== '{' && first !== undefined) return 'index-file';
  const value = parse(file, (await readTextFile(file)) ?? '');
  const keys = Object.keys(value as object);
  if (keys.includes('models')) return 'catalog';
  const known = (names: Iterable<string>) => {
    const set = new Set(names);
    return keys.filter((key) => set.has(key) && key !== '$schema').length;
  };
  const knowledge = known(Object.keys({ ...knowledgeBaseSchema.shape, ...engineBaseSchema.shape }));
  const server = known(configFields.map((field) => String(field.keys[0])));
  if (knowledge !== server) return knowledge > server ? 'knowledge-base' : 'server-config';
  return /config/i.test(file) ? 'server-config' : 'knowledge-base';
}

function parse(file: string, text: string): unknown {
  try {
    return new JsonText(text).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const { line, column } = error.position;
    throw new CommandError('CORRUPT', `${file}:${line}:${column}: not valid JSON: ${error.message}`, {
      cause: error,
    });
  }
}
