// Ordinary JSON Schemas, each with a value that it allows.
const text = { type: 'string' };
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

export const cases = {
  person: {
    schema: object({ name: text, age: { type: 'integer', minimum: 0, maximum: 130 }, email: text }),
    value: { name: 'Ada Lovelace', age: 36, email: 'ada@example.org' },
  },
  label: {
    schema: object({
      sentiment: { enum: ['positive', 'neutral', 'negative'] },
      topics: { type: 'array', items: { enum: ['price', 'quality', 'delivery', 'support'] }, maxItems: 4 },
    }),
    value: { sentiment: 'positive', topics: ['quality', 'delivery'] },
  },
  order: {
    schema: object({
      id: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{6}$' },
      placed: { type: 'string', format: 'date' },
      items: {
        type: 'array',
        minItems: 1,
        items: object({
          name: text,
          count: { type: 'integer', minimum: 1, maximum: 999 },
          price: { type: 'number' },
        }),
      },
      paid: { type: 'boolean' },
      note: { anyOf: [text, { type: 'null' }] },
    }),
    value: {
      id: 'LK-004217',
      placed: '2026-11-27',
      items: [
        { name: 'lantern oil, two pints', count: 2, price: 3.5 },
        { name: 'brass wick', count: 12, price: 0.25 },
      ],
      paid: true,
      note: 'Leave it with the keeper of the north gate.',
    },
  },
  tool: {
    schema: {
      anyOf: [
        object({
          tool: { const: 'search' },
          query: text,
          limit: { type: 'integer', minimum: 1, maximum: 50 },
        }),
        object({ tool: { const: 'open' }, path: { type: 'string', maxLength: 80 } }),
        object({ tool: { const: 'answer' }, text, sources: { type: 'array', items: { type: 'integer' } } }),
      ],
    },
    value: {
      tool: 'answer',
      text: 'The lamp is lit at dusk, and again after the second bell.',
      sources: [3, 7],
    },
  },
  tree: {
    schema: {
      $ref: '#/$defs/node',
      $defs: {
        node: object({ title: text, children: { type: 'array', items: { $ref: '#/$defs/node' } } }),
      },
    },
    value: {
      title: 'Guide',
      children: [
        { title: 'Setting up', children: [] },
        { title: 'Searching', children: [{ title: 'Filters and how they are planned', children: [] }] },
      ],
    },
  },
  any: {
    schema: true,
    value: { status: 'ok', count: 3, ratio: 0.125, tags: ['a b', 'ü'], nested: { empty: {}, none: null } },
  },
};
