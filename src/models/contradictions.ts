import { LorekeepError } from '../../lib/basics.js';
import type { ModelDescription } from '../../lib/internal.js';
import { kindNames, kindOfHeader, kindOfSpeechFile, poolings } from './file-kind.js';
import { modelHeader } from './model-header.js';
import { quantisationOf, statedQuantisation } from './quantisation.js';
import type { CatalogEntry, ModelVariant } from './schema.js';

/** A fact that the catalog and the file state differently. */
export interface Contradiction {
  /** For people and clients; it has no path. */
  readonly text: string;
  /** Whether the model cannot be loaded with it. */
  readonly refused: boolean;
}

/**
 * Compares all facts that both a model file's header and its catalog entry state. The file is right about its type,
 * dimension, context, quantisation and licence; the catalog's pooling is used. Size and checksum: checkModelFile().
 * Precondition: the file is there.
 */
export async function contradictions(
  path: string,
  entry: CatalogEntry,
  variant: ModelVariant,
): Promise<Contradiction[]> {
  const { model_type: type } = entry;
  const speech = await kindOfSpeechFile(path);
  if (speech !== undefined) return speech === type ? [] : [otherType(type, speech, true)];
  try {
    return differences(await modelHeader(path), await usedHeader(path, entry), entry, variant);
  } catch (error) {
    if (type === 'vad' || type === 'stt') return [unknownSpeech];
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
    return [{ text: `file: ${String(error.detail.reason ?? error.code)}`, refused: true }];
  }
}

const unknownSpeech: Contradiction = {
  text: 'file: not a model of speech in the format of whisper.cpp (ggml-*.bin)',
  refused: true,
};

/** The header as it is read by a load, which uses the catalog's pooling. */
const usedHeader = (path: string, { model_type, pooling }: CatalogEntry) =>
  modelHeader(path, model_type === 'embedding' ? pooling : undefined);

const otherType = (type: CatalogEntry['model_type'], kind: keyof typeof kindNames, refused: boolean) => ({
  text: `model_type: the catalog says ${type}, the file is ${kindNames[kind]}${refused ? ', so it is not loaded' : ''}`,
  refused,
});

function differences(
  file: ModelDescription,
  used: ModelDescription,
  entry: CatalogEntry,
  variant: ModelVariant,
): Contradiction[] {
  const { model_type: type } = entry;
  const found: Contradiction[] = [];
  const compare = (field: string, catalog: unknown, own: unknown, refused = false) => {
    if (catalog === undefined || own === undefined || catalog === own) return;
    found.push({ text: `${field}: the catalog says ${catalog}, the file ${own}`, refused });
  };
  const kind = kindOfHeader(file);
  if (type === 'vad' || type === 'stt')
    return [kind === undefined ? unknownSpeech : otherType(type, kind, true)];
  const refusal = used.refusals[type];
  // A decoder whose file names no pooling embeds with the catalog's.
  const madeUsable = type === 'embedding' && kind === 'llm' && refusal === undefined;
  if (kind !== undefined && kind !== type && !madeUsable)
    found.push(otherType(type, kind, refusal !== undefined));
  else if (refusal !== undefined) found.push({ text: `file: ${refusal}`, refused: true });
  if (type === 'embedding') {
    compare('dimension', entry.dimension, file.embeddingLength, true);
    compare('pooling', entry.pooling, poolings[file.poolingType ?? 0]);
  }
  const { context_size: context = 0 } = variant;
  if (file.contextLength !== undefined && context > file.contextLength)
    found.push({
      text: `context_size: the catalog says ${context}, the file takes ${file.contextLength} at most`,
      refused: false,
    });
  compare('variant', statedQuantisation(variant.name), quantisationOf(file.fileType));
  if (entry.license?.toLowerCase() !== file.license?.toLowerCase())
    compare('license', entry.license, file.license);
  return found;
}
