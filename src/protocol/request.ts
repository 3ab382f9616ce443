import { describeIssue, fieldIssue } from '../base/schema/field-issue.js';
import { plainMessage } from '../base/schema/messages.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { fail } from './errors.js';
import {
  type RequestId,
  type Requests,
  type RequestType,
  requestIdSchema,
  requestSchemas,
} from './frames.js';
import { type JsonLimits, JsonParser } from './json-parser.js';

/** Limits on a parsed payload, independent of its length. */
export const jsonLimits: JsonLimits = {
  depth: 64,
  values: 1_000_000,
  fields: 10_000,
  stringBytes: 4 * 1024 * 1024,
};

/** `name`: what errors call it. */
export const payloadParser = (payload: Buffer, name = 'payload'): JsonParser =>
  new JsonParser(payload, jsonLimits, isExact, name);

/**
 * Whether a place is in the metadata of a record, whose integers have 64 bits; in a filter or a variable, which are compared with
 * them; or in an action or its result, which prompts show.
 */
function isExact([field, ...keys]: readonly string[]): boolean {
  if (exactFields.has(field as string)) return true;
  const [nodes, , params, param] = keys;
  if (lists.has(field as string)) return keys[1] === 'metadata';
  // A call of a tool over MCP.
  if (field === 'params') return nodes === 'arguments' && exactFields.has(keys[1] as string);
  if (field === 'history') return nodes === 'turns' && (params === 'action' || params === 'action_result');
  return field === 'graph' && nodes === 'nodes' && params === 'params' && param === 'filter';
}

/** Lists of records. */
const lists: ReadonlySet<string> = new Set(['add', 'replace', 'records']);

/** `metadata` is of the only record of a request over HTTP. */
const exactFields: ReadonlySet<string> = new Set(['filter', 'variables', 'action_result', 'metadata']);

/** Returns the parsed object. @throws MalformedFrame for another value */
export function objectOf({ value }: JsonParser): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail(1001, 'payload: a JSON object is expected');
  }
  return value as Record<string, unknown>;
}

/** Returns the id of a possibly invalid request. */
export function idOf(object: Record<string, unknown>): RequestId | null {
  const id = requestIdSchema.safeParse(object.id);
  return id.success ? id.data : null;
}

/** @throws UnknownFrameType, InvalidField */
export function parseRequest(object: Record<string, unknown>): Requests[RequestType] {
  const type = object.type;
  if (!isRequestType(type)) refuseType(type);
  const schema = requestSchemas[type];
  const parsed = schema.safeParse(object, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const issue = fieldIssue(schema, object, parsed.error);
  const { path, nearest } = issue;
  fail(1004, describeIssue(issue), nearest === undefined ? { path } : { path, nearest });
}

function isRequestType(type: unknown): type is RequestType {
  return typeof type === 'string' && Object.hasOwn(requestSchemas, type);
}

function refuseType(type: unknown): never {
  const known = Object.keys(requestSchemas);
  if (typeof type !== 'string') fail(1002, 'type: a string that names a request is expected', { known });
  const nearest = nearestName(type, known);
  const shown = JSON.stringify(type.slice(0, 64));
  fail(1002, `type: ${shown} is not a request of this protocol${didYouMean(nearest)}`, { known, nearest });
}
