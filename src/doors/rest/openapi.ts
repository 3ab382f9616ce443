import { z } from 'zod';
import { documentItems } from '../../base/schema/bounded.js';
import type { QueryParameter, Route } from '../http/route.js';

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string', description: 'Names the field and the fix.' },
        type: { type: 'string', description: 'Class of the error.' },
        param: { type: ['string', 'null'], description: 'The field.' },
        code: { type: ['string', 'null'], description: 'Name of the error.' },
      },
    },
  },
};

/** Returns the OpenAPI 3.1 document of the routes. */
export function openApiDocument(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    (paths[route.path] as Record<string, object>)[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'lorekeep', version, description: 'Local search and local language models.' },
    servers: [{ url: '/' }],
    security: [{ key: [] }, {}],
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
  };
}

function operation({ operation, summary, path, query = [], body, reply }: Route): object {
  const parameters = [...pathParameters(path), ...query.map(queryParameter)];
  return {
    operationId: operation,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: json(jsonSchema(body, 'input')) } }),
    responses: {
      200: {
        description: 'The result.',
        content: json(reply === undefined ? {} : jsonSchema(reply, 'output')),
      },
      default: { description: 'An error.', content: json({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

const json = (schema: object) => ({ 'application/json': { schema } });

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameter({ name, schema }: QueryParameter): object {
  const { description, ...rest } = jsonSchema(schema, 'output') as { description?: string };
  return { name, in: 'query', required: false, description, schema: rest };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const override = io === 'input' ? { override: documentItems } : {};
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', ...override });
  return rest;
}
