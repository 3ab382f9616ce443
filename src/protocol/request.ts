import { describeIssue, fieldIssue } from '../schema/field-issue.js';
import { plainMessage } from '../schema/messages.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import { fail } from './errors.js';
import {
  type RequestId,
  type Requests,
  type RequestType,
  requestIdSchema,
  requestSchemas,
} from './frames.js';
import { type JsonLimits, JsonParser } from './json-parser.js';

/** What a payload may cost once parsed, whatever its length. */
export const jsonLimits: JsonLimits = {
  depth: 64,
  values: 1_000_000,
  fields: 10_000,
  stringBytes: 4 * 1024 * 1024,
};

export const payloadParser = (payload: Buffer): JsonParser => new JsonParser(payload, jsonLimits);

/** The object that a payload holds. @throws MalformedFrame, InvalidField for a field that occurs twice */
export function parseObject(payload: Buffer): Record<string, unknown> {
  const parser = payloadParser(payload);
  parser.parse();
  return objectOf(parser);
}

/** The object that was parsed. @throws MalformedFrame for another value */
export function objectOf({ value }: JsonParser): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail(1001, 'payload: a JSON object is expected');
  }
  return value as Record<string, unknown>;
}

/** The id of an object that may not be a right request otherwise. */
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
