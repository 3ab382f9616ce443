import type { EmbedResult, LorekeepError } from '../../lib/internal.js';
import type { TextEmbedder } from './embedder.js';
import { embedQuery, emptyText, type KnowledgeModel, textError, withModel } from './model.js';
import { questionWindows } from './question-windows.js';

/** The embedding of a question; with `windows`, of the one among so many parts of it that a search uses. */
export interface QuestionEmbedding extends EmbedResult {
  windows?: number;
}

/** How far the nearest record is from an embedding; Infinity if there is none. */
export type NearestDistance = (vector: Float32Array) => Promise<number>;

/**
 * Embeds a query as embedQuery() does. Of one that is longer than the model's context, embeds windows, and returns the vector of
 * the window that has the nearest record.
 * @throws MODEL_INVALID; INVALID_ARGUMENT for a text without tokens, with `detail.field` "text"
 */
export async function embedQuestion(
  model: KnowledgeModel,
  text: string,
  nearest: NearestDistance,
  signal: AbortSignal | undefined,
): Promise<QuestionEmbedding> {
  try {
    return await embedQuery(model, text, signal);
  } catch (error) {
    const { code, detail } = error as Partial<LorekeepError>;
    if (code !== 'TEXT_TOO_LONG' || detail?.field !== 'text') throw error;
    return bestWindow(await embedWindows(model, text, detail, signal), nearest);
  }
}

interface EmbeddedWindows extends EmbedResult {
  dimension: number;
}

/** Makes windows shorter until the model takes all of them: a part of a text may have more tokens than another. */
async function embedWindows(
  model: KnowledgeModel,
  text: string,
  { tokens, limit }: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<EmbeddedWindows> {
  const prefix = model.queryPrefix ?? '';
  const known = typeof tokens === 'number' && tokens > 0 && typeof limit === 'number';
  let characters = known ? ((text.length * limit) / tokens) * windowShare : charactersOfUncounted;
  const embed = async (native: TextEmbedder): Promise<EmbeddedWindows> => {
    for (;;) {
      const texts = questionWindows(text, characters).map((window) => prefix + window);
      const result = await native.embedSettled(texts, { signal, kind: 'query' });
      const { dimension } = native;
      const failed = new Set(result.errors.map(({ index }) => index));
      const tooLong = result.errors.find(({ code }) => code === 'TEXT_TOO_LONG');
      if (tooLong === undefined || characters <= 1) {
        const whole = [...texts.keys()].filter((index) => !failed.has(index));
        const rows = whole.map((i) => result.vectors.subarray(i * dimension, (i + 1) * dimension));
        if (rows.length === 0) throw textError(result.errors[0] ?? { ...emptyText, limit: 0 });
        return { ...result, vectors: joined(rows, dimension), errors: [], dimension };
      }
      characters /= 2;
    }
  };
  return withModel(model, embed, signal);
}

/** Windows are filled to this share of the context on average, so that few have to be made shorter. */
const windowShare = 0.8;

/** Of a text that is too long to be counted. */
const charactersOfUncounted = 1024;

function joined(rows: readonly Float32Array[], dimension: number): Float32Array {
  const all = new Float32Array(rows.length * dimension);
  for (const [i, row] of rows.entries()) all.set(row, i * dimension);
  return all;
}

async function bestWindow(
  { vectors, dimension, ...result }: EmbeddedWindows,
  nearest: NearestDistance,
): Promise<QuestionEmbedding> {
  const windows = vectors.length / dimension;
  let best = vectors.slice(0, dimension);
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < windows; i++) {
    const vector = vectors.slice(i * dimension, (i + 1) * dimension);
    const distance = await nearest(vector);
    if (distance < least) [best, least] = [vector, distance];
  }
  return { ...result, vectors: best, windows };
}
