/** Where output is not made by generate-samples.mjs, and why. The text is the first line of the block. */
export const otherwiseChecked = {
  'docs/guides/get-started.md': {
    '4 records, 0 texts embedded, 4 reused': 'test/knowledge/tutorial.slow.test.ts compares it',
  },
  'docs/reference/cli.md': {
    '$ lorekeep ask harbour/kb.json "who lights the lamp at night?" --generate': 'needs a language model',
  },
};

/** The fenced blocks of a page without a language, which are output, as {text, marked}. */
export function outputBlocks(page) {
  const marked = [...page.matchAll(/<!-- begin (?:sample|source) of [^>]*-->.*?<!-- end /gs)].map(
    ({ index, 0: all }) => [index, index + all.length],
  );
  return [...page.matchAll(/^```(\S*)\n(.*?)^```$/gms)]
    .filter(([, language]) => language === '')
    .map(({ index, 2: text }) => ({
      text,
      marked: marked.some(([begin, end]) => begin < index && index < end),
    }));
}
