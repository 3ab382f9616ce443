import { describeIssue, fieldIssue, fieldPath } from '../schema/field-issue.js';
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
import { type JsonBounds, measureJson } from './json-bounds.js';

/** What a payload may cost once parsed, whatever its length. */
export const jsonLimits: JsonBounds = { depth: 64, values: 1_000_000 };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How deep and how rich a payload is, as far as the limits go. It is read whole for it: once is enough. */
export function measurePayload(payload: Buffer): JsonBounds {
  return measureJson(payload, jsonLimits);
}

/**
 * About what a payload takes in memory once it is parsed, in bytes. Texts take what they have; an array or object of three
 * characters takes some fifty bytes.
 */
export function parsedBytes(payload: Buffer, { values } = measurePayload(payload)): number {
  return payload.length + bytesPerValue * values;
}

const bytesPerValue = 48;

/** The object that a payload holds. @throws MalformedFrame */
export function parseObject(payload: Buffer, bounds = measurePayload(payload)): Record<string, unknown> {
  if (bounds.depth > jsonLimits.depth) fail(1001, `payload: nested deeper than ${jsonLimits.depth} levels`);
  if (bounds.values > jsonLimits.values) fail(1001, `payload: more than ${jsonLimits.values} values`);
  const value = parseJson(decodeUtf8(payload));
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

function decodeUtf8(payload: Buffer): string {
  try {
    return utf8.decode(payload);
  } catch {
    fail(1001, 'payload: not valid UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text === '') fail(1001, 'payload: is empty; a JSON object is expected');
    if (text.startsWith('\ufeff')) fail(1001, 'payload: not valid JSON: it begins with a byte order mark');
    fail(1001, `payload: not valid JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

const prototypeKey = '__proto__';

/** Refuses fields that would be lost on their way through JavaScript, and must not seem to be taken. @throws InvalidField */
export function checkFieldNames(payload: Buffer, object: object): void {
  if (payload.includes(prototypeKey)) refusePrototypes(object, []);
}

function refusePrototypes(value: unknown, keys: (string | number)[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    const path = [...keys, Array.isArray(value) ? Number(key) : key];
    if (key === prototypeKey) {
      const where = fieldPath(path);
      fail(1004, `${where}: no field can have this name`, { path: where });
    }
    refusePrototypes(field, path);
  }
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
