import { integerText, isoPatterns, numberText } from './field-default.js';

const text = { type: 'string' };
const integer = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

/** Values that coerceDefault() accepts, by type. */
const defaults = {
  int: { anyOf: [integer, { ...text, pattern: integerText.source }] },
  float: { anyOf: [{ type: 'number' }, { ...text, pattern: numberText.source }] },
  string: { type: ['string', 'number', 'boolean'] },
  bool: { enum: [true, false, 0, 1, 'true', 'false'] },
  'set<string>': { anyOf: [text, { type: 'array', items: text }] },
};

const int = { const: 'int' };

/** An int field of a format takes its texts too; other fields have no format. */
const formats = Object.entries(isoPatterns).map(([format, pattern]) => ({
  if: { required: ['format'], properties: { format: { const: format } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in data that nobody awaits
  then: {
    properties: {
      type: int,
      default: { anyOf: [...defaults.int.anyOf, { ...text, pattern: pattern.source }] },
    },
  },
}));

/** JSON Schema of the relations between the keys of a field: the rules that a zod object has only as code. */
export const fieldConditions = {
  oneOf: [
    { required: ['default'], properties: { default: {} } },
    { required: ['optional'], properties: { optional: { const: true } } },
  ],
  allOf: [
    ...Object.entries(defaults).map(([type, written]) => ({
      if: {
        required: ['type'],
        properties: { type: { const: type } },
        ...(type === 'int' && { not: { required: ['format'] } }),
      },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in data that nobody awaits
      then: { properties: { default: written } },
    })),
    ...formats,
  ],
};
