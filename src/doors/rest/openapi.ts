import { z } from 'zod';
import { documentItems } from '../../base/schema/bounded.js';
import type { Parameter, Route } from '../http/route.js';

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
        lorekeep: {
          type: 'object',
          description: 'The error of the protocol, unless the door itself refuses: docs/reference/errors.md.',
          required: ['code', 'name', 'details'],
          properties: {
            code: { type: 'integer', description: 'Its code.' },
            name: { type: 'string', description: 'Its name.' },
            details: { type: 'object', description: 'Its facts.' },
          },
        },
      },
    },
  },
};

const retryAfter = {
  description: 'With 429 and 503: seconds until another try may succeed.',
  schema: { type: 'integer', minimum: 1 },
};

const errorReference = { $ref: '#/components/schemas/Error' };

const failure = ({ otherErrors }: Route) => ({
  description: 'An error: the status says of what kind.',
  headers: { 'Retry-After': retryAfter },
  content: json(
    otherErrors === undefined
      ? errorReference
      : { anyOf: [errorReference, jsonSchema(otherErrors, 'output')] },
  ),
});

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

function operation(route: Route): object {
  const { operation, summary, right, path, query = [], headers = [], body } = route;
  const parameters = [
    ...pathParameters(path),
    ...query.map((each) => parameter(each, 'query')),
    ...headers.map((each) => parameter(each, 'header')),
  ];
  return {
    operationId: operation,
    summary,
    description: `Right: ${right ?? 'none'}.`,
    ...(right === undefined && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: json(bodySchema(body)) } }),
    responses: { 200: success(route), ...others(route), default: failure(route) },
  };
}

function success({ reply, streams }: Route): object {
  const content = json(reply === undefined ? {} : jsonSchema(reply, 'output'));
  if (streams === undefined) return { description: 'The result.', content };
  return {
    description: `The result; server-sent events ${streams}.`,
    content: { ...content, 'text/event-stream': { schema: { type: 'string' } } },
  };
}

const others = ({ otherStatuses = {} }: Route) =>
  Object.fromEntries(Object.entries(otherStatuses).map(([status, description]) => [status, { description }]));

function json(schema: object): object {
  return { 'application/json': { schema } };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function parameter({ name, schema }: Parameter, where: 'query' | 'header'): object {
  const { description, ...rest } = jsonSchema(schema, 'output') as { description?: string };
  return { name, in: where, required: false, description, schema: rest };
}

/** In bodies, optional fields may be null, which counts as absent. */
function bodySchema(schema: z.ZodType): object {
  const { properties = {}, ...rest } = jsonSchema(schema, 'input') as ObjectSchema;
  const { required = [] } = rest;
  const entries = Object.entries(properties).map(([name, property]) => [
    name,
    required.includes(name) || takesNull(property) ? property : orNull(property),
  ]);
  return { ...rest, properties: Object.fromEntries(entries) };
}

interface PropertySchema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly PropertySchema[];
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
}

const orNull = ({ description, ...rest }: PropertySchema): PropertySchema => ({
  ...(description !== undefined && { description }),
  anyOf: [rest, { type: 'null' }],
});

const takesNull = ({ type, anyOf = [] }: PropertySchema): boolean =>
  type === 'null' || type?.includes('null') === true || anyOf.some(takesNull);

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const override = io === 'input' ? { override: documentItems } : {};
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', ...override });
  return rest;
}
