import { expect, it } from 'vitest';
import { z } from 'zod';
import { PieceOver, Work } from '../../lib/generation/languages/work.js';
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

it('formats with lengths that all of their texts have take little work', async () => {
  const lengths = { minLength: 3, maxLength: 255 };
  for (const format of ['email', 'date-time', 'ipv6', 'uuid', 'hostname'])
    expect(await unitsOf({ type: 'string', format, ...lengths, minLength: 0 }), format).toBeLessThan(300);
});

it('formats with maximum lengths below theirs leave most of the work to others', async () => {
  const formats = { email: 100, hostname: 40, ipv6: 30, uri: 255 };
  const properties = Object.fromEntries(
    Object.entries(formats).map(([format, maxLength]) => [format, { type: 'string', format, maxLength }]),
  );
  expect(await unitsOf({ type: 'object', properties })).toBeLessThan(10_000);
});

it('alternatives that are compared with each other take work for each pair', async () => {
  const ofLength = (count: number) => ({
    oneOf: Array.from({ length: count }, (_, n) => ({ type: 'array', minItems: n, maxItems: n })),
  });
  const [some, twice] = [await unitsOf(ofLength(100)), await unitsOf(ofLength(200))];
  expect(twice - 2 * some).toBeGreaterThan(25_000);
});

it('alternatives with names of their own are not compared with each other', async () => {
  const named = (count: number) => ({
    oneOf: Array.from({ length: count }, (_, n) => ({
      type: 'object',
      properties: { [`a${n}`]: {} },
      required: [`a${n}`],
    })),
  });
  const [some, twice] = [await unitsOf(named(100)), await unitsOf(named(200))];
  expect(twice - 2 * some).toBeLessThan(100);
});

it('constants take work for their characters, objects more than strings', async () => {
  const list = (of: (n: number) => unknown) => ({ enum: Array.from({ length: 1000 }, (_, n) => of(n)) });
  const strings = await unitsOf(list((n) => `${'x'.repeat(30)}${n}`));
  const long = await unitsOf(list((n) => `${'x'.repeat(430)}${n}`));
  const objects = await unitsOf(list((n) => ({ a: n, b: ['x', n] })));
  expect(long - strings).toBeGreaterThan(1900);
  expect(objects).toBeGreaterThan(3 * strings);
});

it('numbers that are left out are read once, in however many pieces', async () => {
  const excluded = Array.from({ length: 200 }, (_, n) => n * 977);
  const schema = { type: 'integer', not: { enum: excluded } };
  class OnePiece extends Work {
    units = 0;
    override spend(more: number): void {
      this.units += more;
    }
    override mayPause(): void {}
  }
  const work = new OnePiece();
  await schemaGrammar(schema, { work });
  class Pieces extends OnePiece {
    #end = 2000;
    override mayPause(): void {
      if (this.units < this.#end) return;
      this.#end = this.units + 2000;
      throw new PieceOver();
    }
  }
  const pieces = new Pieces();
  await schemaGrammar(schema, { work: pieces });
  expect(pieces.units - work.units).toBeLessThan(500);
});
