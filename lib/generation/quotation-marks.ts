/**
 * Pairs of marks that a reply may quote with, one after the other. Every character with Unicode's property Quotation_Mark is
 * in one, or is an apostrophe. `»a«` and `”a”` are left out: a reader who knows `«a»` and `“a”` would see a quotation between
 * two of them.
 */
export const quotationMarks = '""“”„“„”‟”⹂”«»‹›「」『』｢｣﹁﹂﹃﹄〝〞〝〟＂＂';

/** Single quotation marks, which are apostrophes after a letter or a digit. */
export const apostrophes = "'’‘‚‛＇";

/** Matches every character of `quotationMarks`. */
export const anyQuotationMark = new RegExp(`[${quotationMarks}]`, 'g');
