import { expect, it } from 'vitest';
import { isUnfinished } from '../../src/speech/unfinished-sentence.js';

it.each([
  ['en', 'Um, the...'],
  ['en', 'I would like to'],
  ['en', 'Turn on the.'],
  ['en', `${"'".repeat(100_000)} and the.`],
  ['en', 'So, um.'],
  ['en', 'Show me the red one, and'],
  ['de', 'Ich möchte den.'],
  ['fr', 'Je voudrais une.'],
])('%s: "%s" goes on', (language, text) => {
  expect(isUnfinished(text, language)).toBe(true);
});

it.each([
  ['en', 'Yes.'],
  ['en', 'Stop!'],
  ['en', `a ${"'".repeat(100_000)}.`],
  ['en', 'What is it for?'],
  ['en', 'Turn on the light.'],
  ['en', 'Turn it on.'],
  ['en', 'Yes, I am.'],
  ['de', 'Mach das Licht aus.'],
  ['es', 'No sé dónde está.'],
  ['en', '"Go away."'],
  ['de', 'Ich möchte den roten.'],
  ['ja', 'はい。'],
  ['en', ''],
])('%s: "%s" has ended', (language, text) => {
  expect(isUnfinished(text, language)).toBe(false);
});
