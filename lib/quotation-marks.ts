/**
 * Pairs of marks that a reply may quote with, one after the other. Every character with Unicode's property Quotation_Mark is
 * in one, or is an apostrophe. `»a«` and `”a”` are left out: a reader of `«a»` and `“a”` would take what stands between two
 * of them for quoted.
 */
export const quotationMarks = '""“”„“„”‟”⹂”«»‹›「」『』｢｣﹁﹂﹃﹄〝〞〝〟＂＂';

/** Single quotation marks, which are apostrophes behind a letter or a digit. */
export const apostrophes = "'’‘‚‛＇";

/** Matches every character of `quotationMarks`. */
export const anyQuotationMark = new RegExp(`[${quotationMarks}]`, 'g');
