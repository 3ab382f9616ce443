/** Texts of the default prompt. Short, because small models copy long instructions. */

/** System text of a prompt with knowledge, by `cite`. */
export const defaultSystem = {
  none: 'Answer the question with the information below.',
  marks:
    'Answer the question with the information below. After each fact, write the number of its source, such as [1].',
  verbatim:
    'Answer the question with the information below. Quote the words of the source in double quotation marks.',
} as const;

/** Text before the records. */
export const defaultHeader = '';
