import { factsAt, fileStamp, LorekeepError } from '../../lib/basics.js';
import { describeModel, type ModelDescription, type Pooling } from '../../lib/internal.js';
import { partNames } from '../base/files/model-parts.js';

/** Headers kept in memory: a header takes about a kilobyte, and reading one takes as long as its vocabulary is large. */
const maxHeaders = 200;

const known = new Map<string, ModelDescription>();

/**
 * Returns the header of a GGUF model. It is read once per content: the stamps of its parts tell whether it has changed.
 * @throws as describeModel()
 */
export async function modelHeader(path: string, pooling?: Pooling): Promise<ModelDescription> {
  const stamp = await stampOf(path);
  const key = stamp && `${pooling ?? ''} ${stamp}`;
  const kept = key && known.get(key);
  if (kept) return kept;
  const header = await describeModel(path, { pooling });
  // A file that was changed meanwhile has another stamp now.
  if (key && stamp === (await stampOf(path))) remember(key, header);
  return header;
}

/** Returns what a load would say about the tokens and the chat template of a language model; nothing for an unreadable file. */
export async function headerNotes(path: string): Promise<string[]> {
  try {
    const { tokenizerNote, templateNote } = await modelHeader(path);
    return [tokenizerNote, templateNote].filter((note) => note !== undefined);
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
    return [];
  }
}

function remember(key: string, header: ModelDescription): void {
  known.set(key, header);
  for (const oldest of [...known.keys()].slice(0, Math.max(0, known.size - maxHeaders))) known.delete(oldest);
}

/** Returns undefined if a file cannot be looked at. */
async function stampOf(path: string): Promise<string | undefined> {
  const stamps: string[] = [];
  for (const part of partNames(path)) {
    const found = await factsAt(part);
    if (found === undefined) return undefined;
    stamps.push(`${part}:${fileStamp(found)}`);
  }
  return stamps.join(' ');
}
