import { z } from 'zod';
import { LorekeepError } from '../../lib/basics.js';
import type { EmbeddingModel } from '../../lib/internal.js';
import { readJson } from '../base/files/read-json.js';

const referenceSchema = z.object({
  items: z
    .array(z.object({ text: z.string(), tokens: z.array(z.int()), vector: z.array(z.number()).min(1) }))
    .min(1),
});

/** Texts with the tokens and vectors that a model must give, without prefixes. */
export type Reference = z.output<typeof referenceSchema>;

export interface Comparison {
  texts: number;
  /** The first text with other tokens. */
  otherTokens: string | undefined;
  minCosine: number;
}

/** @throws LorekeepError that names the file */
export async function readReference(path: string): Promise<Reference> {
  const parsed = referenceSchema.safeParse((await readJson(path)).value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const reason = `not a reference: ${issue?.path.join('.')}: ${issue?.message}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason });
}

/** Embeds the texts of a reference and compares. A vector of another dimension has the cosine -1. */
export async function compareWithReference(model: EmbeddingModel, reference: Reference): Promise<Comparison> {
  let otherTokens: string | undefined;
  let minCosine = 1;
  for (const { text, tokens, vector } of reference.items) {
    const found = await model.tokens(text);
    if (found.join() !== tokens.join()) otherTokens ??= text;
    minCosine = Math.min(minCosine, cosine(await model.embed(text), vector));
  }
  return { texts: reference.items.length, otherTokens, minCosine };
}

function cosine(a: Float32Array, b: readonly number[]): number {
  if (a.length !== b.length) return -1;
  const product = a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
  return product / (Math.hypot(...a) * Math.hypot(...b));
}
