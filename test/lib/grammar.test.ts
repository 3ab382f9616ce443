import { describe, expect, it } from 'vitest';
import { schemaGrammar } from '../../lib/generation/schema/schema-grammar.js';
import { checkGrammar, matchGrammar } from '../../lib/internal.js';
import { Gbnf } from '../helpers/gbnf.js';
import { random, testSeed } from '../helpers/random.js';

describe('a GBNF grammar', () => {
  it('tells what conforms, what may become so, and the rest', async () => {
    const grammar = 'root ::= "a"{2} ("é" | [0-9]+)?';
    expect(await matchGrammar(grammar, 'aa')).toBe('conforms');
    expect(await matchGrammar(grammar, 'aaé')).toBe('conforms');
    expect(await matchGrammar(grammar, 'a')).toBe('beginning');
    expect(await matchGrammar(grammar, 'aax')).toBe('refused');
    expect(await matchGrammar(grammar, 'aa1é')).toBe('refused');
  });

  it.each([
    ['', 'a non-empty string is expected'],
    ['root ::= "\ud83d"', 'an unpaired surrogate at index 10'],
    ['root ::= root "a" | "b"', 'line 1, column 1: the rule root is left-recursive'],
    ['root ::= a', 'line 1, column 10: the rule a is not defined'],
    ['root ::= "a" root', 'the rule root never ends'],
    ['root ::= ((("a"{999}){999}){999})', 'states after repetitions'],
    [`root ::= ${'('.repeat(1e5)}`, 'nested too deeply'],
    [`root ::= "${'a'.repeat(2 ** 20)}"`, 'bytes'],
    ['root ::= ("a"?){9000} "b"', 'more than 16384 ways'],
    ['root ::= s\ns ::= "a" s "b" | "a" s "c" | "a"', '(a reply of '],
  ])('is refused before use: %.40s', async (grammar, message) => {
    await expect(checkGrammar(grammar)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    });
  });

  it('that a JSON Schema became takes the same texts as a slow matcher', async () => {
    const schemas = [
      true,
      { type: 'object' },
      { enum: ['é"\\\n', 1, null, [1], { a: 1 }] },
      {
        type: 'object',
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 5 },
          age: { type: 'integer', minimum: -5, maximum: 130 },
          tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
        },
        required: ['age'],
      },
      { type: 'string', pattern: '^[A-Z]\\w{2,4}(-\\d+)?$' },
      {
        $ref: '#/$defs/tree',
        $defs: {
          tree: {
            type: 'object',
            properties: { value: { type: 'number' }, left: { $ref: '#/$defs/tree' } },
            required: ['value'],
          },
        },
      },
    ];
    const next = random(testSeed);
    for (const schema of schemas) {
      const source = await schemaGrammar(schema);
      const slow = new Gbnf(source);
      for (let round = 0; round < 30; round += 1) {
        const text = slow.sample(next);
        expect(await matchGrammar(source, text), text).toBe('conforms');
        const at = Math.floor(next() * (text.length + 1));
        const changed = `${text.slice(0, at)}${'{}[]",: 0a'[Math.floor(next() * 10)]}${text.slice(at + (round % 2))}`;
        expect((await matchGrammar(source, changed)) === 'conforms', changed).toBe(slow.accepts(changed));
      }
    }
  });

  it('may be dear without being refused', async () => {
    const words = Array.from({ length: 20_000 }, (_, n) => `"w${n}"`).join(' | ');
    for (const grammar of ['root ::= ([!-@]?){7000} [!-@]*', `root ::= (${words})*`, 'root ::= [^a]{60000}'])
      await checkGrammar(grammar);
  });

  it('refuses a text that takes too much work as a whole, and ends when it is aborted', async () => {
    const dear = 'root ::= ("a"?){8000} [ab]*';
    const text = 'a'.repeat(16_000);
    await expect(matchGrammar(dear, text)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('too much work'),
    });
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(matchGrammar(dear, text, { signal })).rejects.toThrow();
    expect(await matchGrammar('root ::= [a-z ]*', 'a '.repeat(8000))).toBe('conforms');
  });
});
