/** Returns whether a text has no lone surrogates, which UTF-8 cannot represent. */
export const wellFormed = (text: string) => !/\p{Surrogate}/u.test(text);
