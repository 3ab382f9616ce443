// Words of texts as recognisers are compared: small letters, no punctuation, numbers as words.

const small = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

export function wordsOf(text) {
  return text
    .toLowerCase()
    .replace(/[’']/g, '')
    .replace(/\b\d{1,2}\b/g, (digits) => small[Number(digits)] ?? digits)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Insertions, deletions and substitutions that turn one list of words into another. */
export function wordErrors(expected, actual) {
  let row = Array.from({ length: actual.length + 1 }, (_, i) => i);
  for (const [i, word] of expected.entries()) {
    const next = [i + 1];
    for (const [j, other] of actual.entries())
      next.push(Math.min(row[j] + (word === other ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row.at(-1);
}
