import type { GenerateParams } from './schema.js';

/**
 * Texts of the default prompt with records: a form that small models have met often. bench/quality/generate.mjs measures it
 * beside others.
 */

/** System text, by `cite`. */
export const defaultSystem = {
  none: '',
  marks: 'Answer from the context. After each fact, write the number of its source, such as [1].',
  verbatim: 'Answer from the context. Quote the words of the context in double quotation marks.',
} as const;

/** Text before the records. */
export const defaultHeader = 'Context:';

/** How the message behind the records ends, by `cite`. Asked for a sentence, small models copy one of the records. */
const request = {
  none: 'Answer with a sentence of the context:',
  marks: 'Answer:',
  verbatim: 'Answer:',
} as const;

/** The last user message, behind the records. */
export function defaultPrompt(text: string, cite: GenerateParams['cite']): string {
  return `Question: ${text}\n${request[cite]}`;
}
