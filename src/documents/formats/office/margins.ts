/** "3", "- 3 -", "Page 3 of 7". */
const pageNumber =
  /^\P{L}*(?:\p{L}{1,10}\.?\s{0,3}\d{0,6}\s{0,3}(?:\p{L}{1,5}\s{0,3}\d{1,6}|\/\s{0,3}\d{1,6})?\P{L}*)?$/u;

/** Whether a text above or below the pages says something besides their numbers. */
export const isMarginText = (text: string): boolean => !(pageNumber.test(text) && /\d|^\P{L}*$/u.test(text));
