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

/** The last user message, behind the records. */
export function defaultPrompt(text: string): string {
  return `Question: ${text}\nAnswer:`;
}
