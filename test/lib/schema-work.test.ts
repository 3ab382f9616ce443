import { expect, it } from 'vitest';
import { z } from 'zod';
import { Work } from '../../lib/generation/languages/work.js';
import { schemaGrammar } from '../../lib/generation/schema/schema-grammar.js';

/** Counts the units of work of a schema, without a limit. */
async function unitsOf(schema: unknown): Promise<number> {
  let units = 0;
  class Counted extends Work {
    override spend(more: number): void {
      units += more;
    }
  }
  await schemaGrammar(schema, { work: new Counted() });
  return units;
}

/** Some have limits of their own, for which nothing was derived when the program was built. */
const customer = z.object({
  id: z.uuid(),
  email: z.email(),
  seen: z.iso.datetime(),
  born: z.iso.date(),
  addresses: z.array(z.union([z.ipv4(), z.ipv6()])).max(5),
  site: z.url().max(2083),
  slug: z
    .string()
    .regex(/^[a-z]+(-[a-z]+)*$/)
    .max(100),
  name: z
    .string()
    .regex(/^\S(.*\S)?$/)
    .min(1)
    .max(200),
  age: z.int().min(0).max(150),
  share: z.number().min(0).max(1),
});

it('schemas of ordinary types leave most of the work to others', async () => {
  expect(await unitsOf(z.toJSONSchema(customer))).toBeLessThan(10_000);
  const strings = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, z.string()]));
  expect(await unitsOf(z.toJSONSchema(z.object(strings)))).toBeLessThan(2500);
});

it('formats with lengths that all of their texts have take no work', async () => {
  const lengths = { minLength: 3, maxLength: 255 };
  for (const format of ['email', 'date-time', 'ipv6', 'uuid', 'hostname'])
    expect(await unitsOf({ type: 'string', format, ...lengths, minLength: 0 }), format).toBeLessThan(200);
});

it('alternatives that are compared with each other take work for each pair', async () => {
  const named = (count: number) => ({
    oneOf: Array.from({ length: count }, (_, n) => ({
      type: 'object',
      properties: { [`a${n}`]: {} },
      required: [`a${n}`],
    })),
  });
  const [some, twice] = [await unitsOf(named(100)), await unitsOf(named(200))];
  expect(twice - 2 * some).toBeGreaterThan(9000);
});
