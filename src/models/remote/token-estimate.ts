/** Bytes of UTF-8 that a token has at least, on average, in prose and code of most vocabularies. */
const bytesPerToken = 3;

/** Estimates the tokens of a text for a vocabulary that is not known here: rather too many than too few. */
export const estimatedTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / bytesPerToken);
