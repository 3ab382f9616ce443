import { stat } from 'node:fs/promises';
import { LorekeepError, type Records, TextIndex } from '../../lib/index.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { KnowledgeLog } from './log.js';

interface WordsOptions {
  /** The sidecar; undefined: the index is in memory only. */
  path: string | undefined;
  recordsFile: string;
  tokenizer: KnowledgeBaseConfig['bm25_tokenizer'];
  log: KnowledgeLog;
  signal: AbortSignal | undefined;
}

/**
 * The text index of the records: from the sidecar as long as it is right, else built, and written where there is to be
 * one. A folder that cannot be written is a warning, no error. @throws CANCELLED, OUT_OF_MEMORY
 */
export async function openWords(records: Records, options: WordsOptions): Promise<TextIndex> {
  const { path, recordsFile, tokenizer, log, signal } = options;
  if (path === undefined) return TextIndex.fromRecords(records, { tokenizer, signal });
  const found = await reuse(records, path, options);
  if (found instanceof TextIndex) return found;
  const started = performance.now();
  const index = await TextIndex.fromRecords(records, { tokenizer, signal });
  const ms = Math.round(performance.now() - started);
  log.info({ file: path, records: recordsFile, reason: found.reason, ms }, 'text index built');
  try {
    await index.save(path, { fingerprint: records.fingerprint, signal });
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'IO') {
      await index.close();
      throw error;
    }
    log.warn({ file: path, err: error }, 'text index not written: it is built again on every opening');
  }
  return index;
}

/** The sidecar's index, or why it cannot be used. */
async function reuse(
  records: Records,
  path: string,
  { recordsFile, tokenizer, signal }: WordsOptions,
): Promise<TextIndex | { reason: string }> {
  const [sidecar, source] = await Promise.all([modified(path), modified(recordsFile)]);
  if (sidecar === undefined) return { reason: 'there is none' };
  if (source !== undefined && source > sidecar) return { reason: 'the records file is newer' };
  const expected = { tokenizer, documents: records.size, fingerprint: records.fingerprint };
  try {
    return await TextIndex.load(path, { expected, signal });
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED' || error.code === 'OUT_OF_MEMORY') {
      throw error;
    }
    return { reason: error.message };
  }
}

/** Nanoseconds since 1970, or undefined when the file cannot be seen. */
async function modified(path: string): Promise<bigint | undefined> {
  try {
    return (await stat(path, { bigint: true })).mtimeNs;
  } catch {
    return undefined;
  }
}
