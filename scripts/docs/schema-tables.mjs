// Markdown tables of zod schemas: one row per field.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { root } from '../tool/project.mjs';

// generate-docs.mjs says so if dist/ is not there.
const { documentItems } = await import(
  pathToFileURL(join(root, 'dist/src/base/schema/bounded.js')).href
).catch(() => ({}));

/** The fields of a schema, but for those in `left`. */
export function fieldsTable(schema, left = []) {
  return rows(jsonSchema(schema), left).join('\n');
}

/** The fields of one JSON Schema object. */
export function jsonFieldsTable(json) {
  return rows(json, []).join('\n');
}

export function jsonSchema(schema) {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
    override: documentItems,
  });
}

export const code = (value) => `\`${JSON.stringify(value)}\``;

function rows({ properties = {}, required = [] }, left) {
  const fields = Object.entries(properties).filter(([name]) => !left.includes(name));
  if (fields.length === 0) return ['No further fields.'];
  return [
    '| Field | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...fields.map(([name, field]) => {
      const need = required.includes(name) ? 'required' : 'optional';
      const value = field.default === undefined ? need : code(field.default);
      return `| ${name} | ${typeOf(field)} | ${value} | ${field.description ?? ''} |`;
    }),
  ];
}

function typeOf({ type, const: only, enum: choices, items, anyOf, minimum, maximum, exclusiveMinimum }) {
  if (only !== undefined) return code(only);
  if (choices !== undefined) return choices.map(code).join(', ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (type === 'array') return `array of ${items?.type ?? 'object'}s`;
  if (type !== 'number' && type !== 'integer') return type ?? 'any';
  const unbounded = (value) => value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER;
  if (exclusiveMinimum !== undefined) return `${type}, above ${exclusiveMinimum} up to ${maximum}`;
  if (unbounded(minimum)) return type;
  return unbounded(maximum) ? `${type}, from ${minimum}` : `${type}, ${minimum} to ${maximum}`;
}
