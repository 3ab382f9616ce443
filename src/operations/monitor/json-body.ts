import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { fieldIssue } from '../../base/schema/field-issue.js';
import { checkJsonShape } from '../../base/schema/json-shape.js';
import { plainMessage } from '../../base/schema/messages.js';
import { parseWithWideIntegers } from '../../base/schema/wide-integers.js';
import { readBody, sendJson, sendText } from '../http/local-server.js';

const longestBody = 262_144;

/** Reads and checks the JSON body of a request. Answers a body that is refused, and returns undefined. */
export async function jsonBody<Schema extends z.ZodObject>(
  request: IncomingMessage,
  response: ServerResponse,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const refuse = (error: string, status = 400) => void sendJson(response, { error }, status);
  // A form of another page could send any other type without asking first.
  if (request.headers['content-type']?.split(';')[0] !== 'application/json')
    return void sendText(response, 415, 'content-type: application/json is expected');
  const body = await readBody(request, longestBody);
  if (body === undefined) return refuse(`the body is longer than ${longestBody} bytes`, 413);
  const problem = checkJsonShape(body);
  if (problem !== undefined) return refuse(`the body${problem.place}: ${problem.what}`);
  const value = parsedJson(body);
  const parsed = schema.safeParse(value, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const { path, message } = fieldIssue(schema, value, parsed.error);
  return refuse(`${path || 'the body'}: ${message}`);
}

/** Returns the JSON value of a text; undefined if it is none. */
function parsedJson(text: string): unknown {
  try {
    return parseWithWideIntegers(text);
  } catch {
    return undefined;
  }
}
