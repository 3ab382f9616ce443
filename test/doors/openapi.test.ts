import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FieldSchema, refusedValues } from '../helpers/schema-mutations.js';
import type { Json, Reply } from './door-setting.js';
import {
  addressOf,
  bearer,
  keys,
  type Operation,
  objection,
  openWalk,
  type ValidCall,
  validCalls,
} from './openapi-walk.js';

const failureOf = ({ responses }: Operation) =>
  (responses.default?.content?.['application/json']?.schema ?? false) as Json;

const typeOf = ({ headers }: Reply) => String(headers['content-type'] ?? '').split(';')[0] as string;

describe('the OpenAPI document', () => {
  it('is true of every operation: valid requests are answered with its statuses and bodies', async () => {
    const { call, operations } = await openWalk();
    const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
    expect([...byId.keys()].sort()).toEqual(Object.keys(validCalls).sort());
    for (const [id, calls] of Object.entries(validCalls)) {
      const operation = byId.get(id) as Operation;
      for (const one of calls) {
        const { body, headers = {}, status = 200, type = 'application/json' } = one;
        const where = `${id} ${JSON.stringify(one)}`;
        const schema = operation.requestBody?.content['application/json'].schema;
        expect(body === undefined, where).toBe(schema === undefined);
        if (schema !== undefined) expect(objection(schema, body), where).toBeUndefined();
        const all = { ...bearer('all'), ...headers };
        const reply = await call(operation.method, addressOf(operation, one), body, all);
        expect(reply.status, `${where} ${reply.text.slice(0, 300)}`).toBe(status);
        const { content } = operation.responses[status] ?? {};
        if (content === undefined) expect(reply.text, where).toBe('');
        else
          expect([typeOf(reply), Object.keys(content)], where).toEqual([
            type,
            expect.arrayContaining([type]),
          ]);
        if (type !== 'application/json' || content === undefined) continue;
        expect(
          objection(content[type]?.schema, reply.json()),
          `${where} ${reply.text.slice(0, 500)}`,
        ).toBeUndefined();
      }
    }
  });

  it('names every parameter, and no valid request is without one of them', async () => {
    const { operations } = await openWalk();
    for (const { operationId, parameters = [] } of operations)
      for (const { name, in: place } of parameters) {
        const used = (validCalls[operationId] as readonly ValidCall[]).some(
          ({ path = {}, query = {}, headers = {} }) =>
            name in { path, query, header: headers }[place as 'path'],
        );
        expect(used, `${operationId}: ${name}`).toBe(true);
      }
  });

  it('forbids what is refused: each field beyond its schema is named in a documented error', async () => {
    const { call, operations } = await openWalk();
    let tried = 0;
    for (const operation of operations) {
      const schema = operation.requestBody?.content['application/json'].schema;
      // The SDK of MCP checks its messages.
      if (schema === undefined || operation.operationId === 'mcp') continue;
      const [valid] = validCalls[operation.operationId] as [ValidCall];
      for (const [field, given] of Object.entries(schema.properties as Record<string, FieldSchema>)) {
        for (const [what, value] of refusedValues(given)) {
          const body = { ...valid.body, [field]: value };
          if (objection(schema, body) === undefined) continue;
          // A body beyond max_frame_mb is refused as a whole.
          const reply = await call(operation.method, addressOf(operation, valid), body, bearer('all'));
          const where = `${operation.operationId}: ${field}: ${what}: ${reply.text.slice(0, 300)}`;
          expect(reply.status, where).toBe(400);
          expect(reply.json().error.param, where).toMatch(new RegExp(`^${field}\\b`));
          expect(objection(failureOf(operation), reply.json()), where).toBeUndefined();
          tried++;
        }
      }
      for (const field of (schema.required ?? []) as string[]) {
        const { [field]: _, ...body } = valid.body;
        const reply = await call(operation.method, addressOf(operation, valid), body, bearer('all'));
        expect([reply.status, reply.json().error.param], `${operation.operationId}: ${field}`).toEqual([
          400,
          field,
        ]);
      }
    }
    expect(tried).toBeGreaterThan(200);
  });

  it('forbids what is refused in addresses and headers, too', async () => {
    const { call, operations } = await openWalk();
    let tried = 0;
    for (const operation of operations) {
      const [valid] = validCalls[operation.operationId] as [ValidCall];
      for (const { name, in: place, schema } of operation.parameters ?? []) {
        if (place === 'path') continue;
        const wrong = refusedValues(schema).filter(([what]) => /^too|^another/.test(what));
        for (const [what, value] of wrong) {
          const text = String(value);
          const changed =
            place === 'query'
              ? { ...valid, query: { [name]: text } }
              : { ...valid, headers: { [name]: text } };
          const reply = await call(operation.method, addressOf(operation, changed), valid.body, {
            ...bearer('all'),
            ...changed.headers,
          });
          const where = `${operation.operationId}: ${name}: ${what}: ${reply.text.slice(0, 200)}`;
          expect([reply.status, reply.json().error.param], where).toEqual([400, name]);
          tried++;
        }
      }
    }
    expect(tried).toBeGreaterThan(5);
  });

  it('names the right of each operation, and another right does not open it', async () => {
    const { call, operations } = await openWalk();
    for (const operation of operations) {
      const [, right] = /^Right: (\w+)\.$/.exec(operation.description) ?? [];
      const [valid] = validCalls[operation.operationId] as [ValidCall];
      const ask = (headers: Record<string, string>) =>
        call(operation.method, addressOf(operation, valid), valid.body, { ...valid.headers, ...headers });
      const nobody = await ask({});
      expect([operation.operationId, nobody.status]).toEqual([
        operation.operationId,
        right === 'none' ? 200 : 401,
      ]);
      expect(operation.security?.length).toBe(right === 'none' ? 0 : undefined);
      if (right === 'none') continue;
      expect(objection(failureOf(operation), nobody.json())).toBeUndefined();
      for (const key of ['search', 'chat', 'write', 'files'] as const) {
        const { status } = await ask(bearer(key));
        const isOpen = right === 'any' || (keys[key] as readonly string[]).includes(right as string);
        expect([operation.operationId, key, status === 403]).toEqual([operation.operationId, key, !isOpen]);
      }
    }
  });

  it('has every method of its addresses', async () => {
    const { call, operations } = await openWalk();
    const isOf = (path: string, template: string) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
    for (const path of operations.map((each) => each.path.replaceAll(/[{}]/g, ''))) {
      const methods = operations.filter((each) => isOf(path, each.path)).map(({ method }) => method);
      const { status, headers } = await call('PATCH', path, undefined, bearer('all'));
      expect([path, status, String(headers.allow).split(', ').sort()]).toEqual([path, 405, methods.sort()]);
    }
  });

  it('is the table of addresses of the guide', async () => {
    const { operations } = await openWalk();
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/http.md'), 'utf8');
    const rows = [...guide.matchAll(/^\| (`(?:GET|POST|PUT|DELETE) .*`) \| (\w+) \|/gm)].flatMap(
      ([, requests = '', right]) =>
        [...requests.matchAll(/`(\w+) ([^`?]+)(?:\?[^`]*)?`/g)].map(([, method, path]) => [
          method,
          path,
          right,
        ]),
    );
    const documented = operations.map(({ method, path, description }) => [
      method,
      path,
      /^Right: (\w+)/.exec(description)?.[1],
    ]);
    expect(rows.map(String).sort()).toEqual(documented.map(String).sort());
  });
});
