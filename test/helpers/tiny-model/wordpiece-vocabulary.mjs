/** The special tokens of a BERT vocabulary, in the order of their ids. */
export const specialTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const prefixLengths = [3, 4, 5, 6];
const infixLengths = [2, 3, 4];
const accents = /\p{M}/u;
const punctuation = /[\p{P}]|[$+<=>^`|~]/u;
const ideograph = /[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{2fa1f}]/u;
const whitespace = /\s/u;
// llama.cpp's mark for the beginning of a word; as a character of a text it is an unknown one.
const startMark = '\u2581';
const ignored = /[\p{Cc}\p{Cf}\p{Cs}\ufffd]/u;
/**
 * Cuts text into words as BERT's basic tokenizer does: lower case, no accents; every punctuation mark and every Chinese
 * character is a word.
 */
function splitWords(text) {
  const words = [];
  let word = '';
  const finish = () => {
    if (word !== '') words.push(word);
    word = '';
  };
  for (const character of text) {
    if (whitespace.test(character)) {
      finish();
      continue;
    }
    const base = baseCharacter(character);
    if (base === '' || ignored.test(base)) continue;
    if (punctuation.test(base) || ideograph.test(base)) {
      finish();
      words.push(base);
    } else {
      word += base;
    }
  }
  finish();
  return words;
}
/** Lower case without the accents that decomposition splits off; characters made of several letters stay whole. */
function baseCharacter(character) {
  const [first, ...rest] = character.normalize('NFD');
  if (first === undefined || accents.test(first)) return '';
  const base = rest.every((mark) => accents.test(mark)) ? first : character;
  const lower = base.toLowerCase();
  return [...lower].length === 1 ? lower : base;
}
/**
 * A vocabulary of the texts' words, frequent parts of words for the words that it does not know, and every single
 * character, so that any text made of known characters has tokens. Deterministic: same texts, same vocabulary.
 */
export function buildVocabulary(texts, limits = {}) {
  const counts = new Map();
  let words = 0;
  for (const text of texts) {
    for (const word of splitWords(text)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
      words++;
    }
  }
  const starts = new Map();
  const continuations = new Map();
  const add = (pieces, piece) => {
    if (!pieces.has(piece.text) && !piece.text.includes(startMark)) pieces.set(piece.text, piece);
  };
  for (const [text, count] of mostFrequent(counts, limits.words ?? 12_000, 1)) {
    add(starts, { text, start: true, kind: 'word', count });
  }
  for (const [text, count] of mostFrequent(countParts(counts, prefixesOf), limits.prefixes ?? 3_000, 2)) {
    add(starts, { text, start: true, kind: 'prefix', count });
  }
  for (const [text, count] of mostFrequent(countParts(counts, infixesOf), limits.infixes ?? 2_000, 2)) {
    add(continuations, { text, start: false, kind: 'infix', count });
  }
  const characters = countParts(counts, (word) => [...word]);
  for (let code = 0x21; code < 0x7f; code++) {
    const character = String.fromCharCode(code).toLowerCase();
    characters.set(character, (characters.get(character) ?? 0) + 1);
  }
  for (const [text, count] of mostFrequent(characters, characters.size, 1)) {
    add(starts, { text, start: true, kind: 'character', count });
    add(continuations, { text, start: false, kind: 'character', count });
  }
  return { pieces: [...starts.values(), ...continuations.values()], words };
}
/** The `limit` entries with the highest counts, equal ones in the order of their code units. */
function mostFrequent(counts, limit, least) {
  return [...counts]
    .filter(([, count]) => count >= least)
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, limit);
}
function countParts(words, parts) {
  const counts = new Map();
  for (const [word, count] of words) {
    for (const part of new Set(parts(word))) counts.set(part, (counts.get(part) ?? 0) + count);
  }
  return counts;
}
// By characters: halves of a surrogate pair would all become the same piece in the file.
function prefixesOf(word) {
  const characters = [...word];
  return prefixLengths
    .filter((length) => length < characters.length)
    .map((length) => characters.slice(0, length).join(''));
}
function infixesOf(word) {
  const characters = [...word];
  const parts = [];
  for (const length of infixLengths) {
    for (let begin = 1; begin + length <= characters.length; begin++)
      parts.push(characters.slice(begin, begin + length).join(''));
  }
  return parts;
}
