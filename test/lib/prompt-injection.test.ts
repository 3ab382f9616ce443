import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { binding } from '../../lib/boundary/binding.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { allowLongSteps } from '../helpers/watchdog.js';

// It loads a model, and only tests call it.
allowLongSteps(/probe_vocabulary/);

/** Vocabularies of llama.cpp's collection, without weights. scripts/vendor.mjs brings them for tests. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'native', 'vendor', 'llama.cpp-models', 'models');
const vocabularies = readdirSync(folder).filter((name) => /^ggml-vocab-.*\.gguf$/.test(name));

/** Text that no control token occurs in. */
const harmless = [
  'Hello, world!',
  '  two spaces, a tab\tand\n\na blank line  ',
  'Zoë said: “naïve café” — 3½ crowns. 龙在山里。😀👩‍👩‍👧',
  'if (a < b && c > d) { return x[0] | y; } // <div class="x">',
  'word '.repeat(200),
];

test('there are vocabularies of all kinds', () => {
  expect(vocabularies.length).toBeGreaterThanOrEqual(19);
});

/** Every third vocabulary, or all in the long form. */
const stride = repetitions('VOCABULARY_STRIDE', 6, 1);
const chosen = vocabularies.filter((_, at) => at % stride === 0);

/** Each is read twice: once without control tokens, which names them, and once with all of them. */
describe.each(chosen)('%s', (name) => {
  it('gives messages the tokens that llama.cpp gives them, and reads no control token in them', async () => {
    const probe = (parts: { text: string; input: boolean }[]) =>
      binding.probeVocabulary(join(folder, name), parts);
    const plain = harmless.flatMap((text) => [
      { text: '\n', input: false },
      { text, input: true },
    ]);
    const first = await probe(plain);
    expect([...first.tokens]).toEqual([...first.plain]);

    const special = new Set(first.special);
    const count = (tokens: Int32Array) => tokens.filter((token) => special.has(token)).length;
    // Some vocabularies have thousands of reserved tokens; a stride keeps the first, the last and many between.
    const spelled = first.spellings.filter((text) => text.trim() !== '');
    const all = spelled.filter((_, index) => index % Math.ceil(spelled.length / 300) === 0);
    const control = all.find((text) => text.length > 3) ?? '';
    const next = random(testSeed);
    const mixed = Array.from({ length: 100 }, (_, round) => {
      const some = Array.from({ length: 5 }, () => all[Math.floor(next() * all.length)] ?? '');
      return some.join(['', ' ', '\n', '<', '|'][round % 5]);
    });
    // Halves of a control token in the template and in the message do not make one either.
    const parts = [
      { text: `${control}user\n${control.slice(0, 2)}`, input: false },
      { text: [control.slice(2), all.join(' '), all.join(''), ...mixed].join('\n'), input: true },
      { text: control, input: false },
    ];
    const { tokens } = await probe(parts);
    // The beginning-of-text token is added where the vocabulary wants it and the template does not spell it.
    const begin = first.tokens[0] as number;
    const added = special.has(begin) && begin !== first.special[first.spellings.indexOf(control)] ? 1 : 0;
    expect(count(tokens)).toBe((control === '' ? 0 : 2) + added);
  }, 120_000);
});
