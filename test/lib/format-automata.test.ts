import { expect, it } from 'vitest';
import { schemaGrammar } from '../../lib/generation/schema/schema-grammar.js';
import { matchGrammar } from '../../lib/internal.js';

const examples: Record<string, readonly string[]> = {
  date: ['2024-02-29', '2023-02-29', '2024-2-9'],
  'date-time': ['2024-02-29T10:11:12Z', '2024-02-29T10:11:12.123+01:00', '2024-02-29 10:11:12Z'],
  email: ['a@b.c', 'someone@mail.example', `${'a'.repeat(30)}@b.c`, '@b.c', 'a@'],
  hostname: ['a', 'host.example', `${'a'.repeat(20)}.${'b'.repeat(20)}`, 'a..b', '-a'],
  ipv6: ['::', '::1', '2001:db8::8a2e:370:7334', '1:2:3:4:5:6:7:8', '1::2::3'],
  uri: ['http://a.b/c?d=e#f', 'urn:a', `http://a/${'b'.repeat(40)}`, 'a b', '://'],
  duration: ['P1D', 'PT1H2M3S', `P${'1'.repeat(30)}D`, 'P', '1D'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123e4567'],
};

it.each(Object.entries(examples))(
  'the automaton of %s has the texts of its pattern, up to each length',
  async (format, texts) => {
    for (const lengths of [
      {},
      { maxLength: 3 },
      { maxLength: 12 },
      { minLength: 1, maxLength: 25 },
      { maxLength: 40 },
    ]) {
      const schema = { type: 'string', format, ...lengths };
      // A second pattern has the automaton derived.
      const [own, twin] = await Promise.all([
        grammarOf(schema),
        grammarOf({ ...schema, allOf: [{ pattern: '' }] }),
      ]);
      expect(own === undefined, JSON.stringify(schema)).toBe(twin === undefined);
      if (own === undefined || twin === undefined) continue;
      for (const text of texts)
        expect(await matchGrammar(own, JSON.stringify(text)), `${text} of ${JSON.stringify(schema)}`).toBe(
          await matchGrammar(twin, JSON.stringify(text)),
        );
    }
  },
);

/** Undefined if no value is allowed. */
async function grammarOf(schema: unknown): Promise<string | undefined> {
  try {
    return await schemaGrammar(schema);
  } catch (error) {
    expect(error).toMatchObject({ message: expect.stringContaining('no value is allowed') });
    return undefined;
  }
}
