// Questions about subjects that a collection does not have: those of another collection, and words that nobody uses.

/** Collection -> the one whose questions it is asked. */
export const askedInstead = {
  scifact: 'xquad-en',
  'scifact-train': 'xquad-en',
  cranfield: 'scifact',
  cisi: 'scifact',
  'xquad-en': 'scifact',
  squad2: 'scifact',
  med: 'cacm',
  cacm: 'med',
  npl: 'med',
  'medquad-questions': 'web-headings',
  'web-headings': 'medquad-questions',
};

export const nonsense = [
  'zxqv blorf gribbleton',
  'qwx lmno vvuu xkcd',
  'asdf jkl qwerty uiop',
  'flarn the wibbled snork',
  'how do I glorp a fnord?',
  'what is the zibbet of mxyzptlk',
];
