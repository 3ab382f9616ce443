import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonSchemas } from '../../src/agents/wire/json-schemas.js';
import { requestSchemas, serverSchemas } from '../../src/protocol/frames.js';

const text = jsonSchemas()['protocol.schema.json'] ?? '';
const { $defs } = JSON.parse(text) as {
  $defs: Record<string, { oneOf?: { $ref: string }[]; required?: string[] }>;
};
const names = (union: string) => $defs[union]?.oneOf?.map(({ $ref }) => $ref.replace('#/$defs/', ''));

describe("the protocol's JSON Schema", () => {
  it('is shipped as the zod schemas say (scripts/generate-schemas.mjs writes it)', () => {
    const path = join(import.meta.dirname, '../../schemas/protocol.schema.json');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('has every frame of either side, and nothing that it refers to is missing', () => {
    expect(names('Request')).toEqual(Object.keys(requestSchemas));
    expect(names('ServerFrame')).toEqual(Object.keys(serverSchemas));
    for (const [, name = ''] of text.matchAll(/"#\/\$defs\/(\w+)"/g)) expect($defs).toHaveProperty(name);
  });

  it('requires fields without a default, refuses unknown fields of requests and allows them in replies', () => {
    expect($defs.TurnRequest).toMatchObject({
      required: ['type', 'id', 'session_id', 'agent_id', 'text'],
      additionalProperties: false,
    });
    expect($defs.TurnComplete).not.toHaveProperty('additionalProperties');
    expect($defs.RetrieveParams?.required).toEqual(['embedded_string_storage']);
  });
});
