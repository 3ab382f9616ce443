import type { EmbedResult } from '../../lib/internal.js';

/** Texts embedded in one piece: as many as the model sorts by length at a time. */
const pieceTexts = 4096;

export type Embedded = Pick<EmbedResult, 'vectors' | 'errors'>;

/** Embeds in pieces, so that others get in between; ends after the first piece with a text that fails. */
export async function embedInPieces(
  texts: readonly string[],
  dimension: number,
  embed: (texts: readonly string[]) => Promise<Embedded>,
  turn: () => Promise<() => void>,
): Promise<Embedded> {
  const vectors = new Float32Array(texts.length * dimension);
  for (let begin = 0; begin < texts.length; begin += pieceTexts) {
    const piece = texts.slice(begin, begin + pieceTexts);
    const end = await turn();
    const embedded = await embed(piece).finally(end);
    const errors = embedded.errors.map((error) => ({ ...error, index: begin + error.index }));
    if (errors.length > 0) return { vectors, errors };
    vectors.set(embedded.vectors, begin * dimension);
  }
  return { vectors, errors: [] };
}
