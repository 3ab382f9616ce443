import type { EmbedResult } from '../../lib/internal.js';

/** Texts embedded in one piece: as many as the model sorts by length at a time. */
const pieceTexts = 4096;

export type Embedded = Pick<EmbedResult, 'vectors' | 'errors'>;

/** Runs a piece of work in the turn of a client. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>;

/** Embeds in pieces, so that others get in between; ends after the first piece with a text that fails. */
export async function embedInPieces(
  texts: readonly string[],
  dimension: number,
  embed: (texts: readonly string[]) => Promise<Embedded>,
  turn: Turn,
): Promise<Embedded> {
  const vectors = new Float32Array(texts.length * dimension);
  for (let begin = 0; begin < texts.length; begin += pieceTexts) {
    const piece = texts.slice(begin, begin + pieceTexts);
    const embedded = await turn(() => embed(piece));
    const errors = embedded.errors.map((error) => ({ ...error, index: begin + error.index }));
    if (errors.length > 0) return { vectors, errors };
    vectors.set(embedded.vectors, begin * dimension);
  }
  return { vectors, errors: [] };
}
