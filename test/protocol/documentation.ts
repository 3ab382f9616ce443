/** The tables of docs/ that are made from the schemas, each between two marks in its file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { componentSchema, nodeParams, serverSchemas } from '../../src/agents/nodes/wire.js';
import { errorTable } from '../../src/protocol/errors.js';
import { requestSchemas } from '../../src/protocol/frames.js';
import { hitSchema, retrievalPlanSchema } from '../../src/protocol/retrieval.js';

const docs = join(import.meta.dirname, '../../docs');

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
}

const faults = { client: 'the client', operator: 'the operator', server: 'lorekeep' } as const;

export const tables: Record<string, { file: string; render: () => string }> = {
  errors: { file: 'errors.md', render: renderErrors },
  requests: { file: 'protocol.md', render: () => renderFrames(requestSchemas, ['type', 'id']) },
  replies: { file: 'protocol.md', render: () => renderFrames(serverSchemas, ['type', 'reply_to']) },
  hits: { file: 'protocol.md', render: () => renderObject(hitSchema) },
  ...Object.fromEntries(
    Object.entries(nodeParams).map(([type, params]) => [
      type,
      { file: 'agents.md', render: () => renderObject(params) },
    ]),
  ),
  components: { file: 'agents.md', render: renderComponents },
  diagnostics: { file: 'agents.md', render: renderDiagnostics },
};

/** The file, its table as it is, and the file with the table as it should be. */
export function compareTable(name: string): { is: string; shouldBe: string; update: () => void } {
  const { file, render } = tables[name] as (typeof tables)[string];
  const path = join(docs, file);
  const text = readFileSync(path, 'utf8');
  const [begin, end] = [`<!-- begin ${name} -->\n`, `<!-- end ${name} -->`];
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end, from);
  if (from < begin.length || to < 0) throw new Error(`${file} has no place for the table "${name}"`);
  const shouldBe = `\n${render()}\n\n`;
  return {
    is: text.slice(from, to),
    shouldBe,
    update: () => writeFileSync(path, text.slice(0, from) + shouldBe + text.slice(to)),
  };
}

function renderErrors(): string {
  const rows = Object.entries(errorTable).map(([code, { name, fault, meaning, remedy }]) => {
    return `| ${code} | ${name} | ${faults[fault]} | ${meaning} | ${remedy} |`;
  });
  return ['| Code | Name | Whose fault | Meaning | What to do |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function renderFrames(schemas: Readonly<Record<string, z.ZodType>>, left: string[]): string {
  return Object.entries(schemas)
    .map(([type, schema]) => {
      const fields = renderFields(jsonSchema(schema), left);
      return [`#### ${type}`, '', ...(fields.length > 2 ? fields : ['No further fields.'])].join('\n');
    })
    .join('\n\n');
}

function renderObject(schema: z.ZodType): string {
  return renderFields(jsonSchema(schema), []).join('\n');
}

function renderComponents(): string {
  return componentSchema.options
    .map((schema) => {
      const { properties = {}, ...rest } = jsonSchema(schema);
      const heading = `#### ${properties._type?.const}`;
      return [heading, '', ...renderFields({ properties, ...rest }, ['_type'])].join('\n');
    })
    .join('\n\n');
}

function renderDiagnostics(): string {
  const { diagnostics, debug_info } = jsonSchema(serverSchemas.TurnComplete).properties ?? {};
  const node = diagnostics?.properties?.nodes?.items ?? {};
  const engine = debug_info?.properties?.nodes?.items?.properties?.diagnostics?.properties?.engine ?? {};
  const parts: [string, JsonSchema][] = [
    ['diagnostics', diagnostics ?? {}],
    ['diagnostics.nodes[]', node],
    ['diagnostics.nodes[].plan', jsonSchema(retrievalPlanSchema)],
    ['debug_info.nodes[].diagnostics.engine', engine],
  ];
  return parts
    .map(([name, schema]) => [`#### ${name}`, '', ...renderFields(schema, [])].join('\n'))
    .join('\n\n');
}

function renderFields({ properties = {}, required = [] }: JsonSchema, left: string[]): string[] {
  const rows = Object.entries(properties)
    .filter(([name]) => !left.includes(name))
    .map(([name, field]) => {
      const need =
        field.default !== undefined ? code(field.default) : required.includes(name) ? 'required' : 'optional';
      return `| ${name} | ${typeOf(field)} | ${need} | ${field.description ?? ''} |`;
    });
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...rows];
}

function typeOf({ type, const: only, enum: choices, items, anyOf, minimum, maximum }: JsonSchema): string {
  if (only !== undefined) return code(only);
  if (choices !== undefined) return choices.map(code).join(', ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (type === 'array') return `array of ${items?.type ?? 'objects'}s`.replace('ss', 's');
  const unbounded = (value: number | undefined) =>
    value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER;
  if (type === 'number' || type === 'integer') {
    if (unbounded(minimum)) return type;
    return unbounded(maximum) ? `${type}, from ${minimum}` : `${type}, ${minimum} to ${maximum}`;
  }
  return type ?? 'any';
}

const code = (value: unknown) => `\`${JSON.stringify(value)}\``;

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', target: 'draft-7' }) as JsonSchema;
}
