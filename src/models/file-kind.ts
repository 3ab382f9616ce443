import type { ModelDescription } from '../../lib/internal.js';
import { readHead } from '../base/files/read-head.js';
import type { CatalogEntry } from './schema.js';

/** The type of model that a file was made as; undefined for any other file. */
export type FileKind = CatalogEntry['model_type'] | undefined;

/** In messages. */
export const kindNames: Readonly<Record<CatalogEntry['model_type'], string>> = {
  embedding: 'an embedding model',
  llm: 'a language model',
  reranker: 'a reranker',
  vad: 'a model for voice activity detection',
  stt: 'a model for speech to text',
};

/** `<architecture>.pooling_type`. */
export const poolings: Readonly<Record<number, string>> = { 1: 'mean', 2: 'cls', 3: 'last', 4: 'rank' };

/** Precondition: `header` was read without a pooling. */
export function kindOfHeader({ poolingType = 0, refusals }: ModelDescription): FileKind {
  const pooling = poolings[poolingType];
  if (pooling === 'rank' || refusals.reranker === undefined) return 'reranker';
  if (pooling !== undefined) return 'embedding';
  if (refusals.llm === undefined) return 'llm';
  return refusals.embedding === undefined ? 'embedding' : undefined;
}

/** Of a file of whisper.cpp: its format before GGUF, which begins with these letters. Undefined for any other file. */
export async function kindOfSpeechFile(path: string): Promise<FileKind> {
  const head = await readHead(path, 18).catch(() => '');
  if (!head.startsWith('lmgg')) return undefined;
  // A voice activity model continues with the length of its name and the name.
  return head.includes('silero') ? 'vad' : 'stt';
}
