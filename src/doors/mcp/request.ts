import { z } from 'zod';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage, shownValue } from '../../base/schema/messages.js';
import type { Right } from '../../config/keys-file.js';
import { refusedMethod } from './methods.js';
import { ProtocolErrorCode } from './sdk.js';

/** A reply that refuses a message, as JSON-RPC has it. */
export interface Refusal {
  readonly jsonrpc: '2.0';
  /** Null if the message has none that could be an id. */
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

const text = z.string();
const object = z.record(text, z.unknown());
const common = { _meta: object.optional(), cursor: text.optional() };
const named = { ...common, name: text };

const reference = z.union(
  [
    z.looseObject({ type: z.literal('ref/prompt'), name: text }),
    z.looseObject({ type: z.literal('ref/resource'), uri: text }),
  ],
  {
    error: '{"type": "ref/prompt", "name": NAME} or {"type": "ref/resource", "uri": TEMPLATE} is expected',
  },
);

/** Params by method. The SDK checks them too, and tells in its own words. */
const shapes: Readonly<Record<string, z.ZodObject>> = {
  initialize: z.looseObject({
    ...common,
    protocolVersion: text,
    capabilities: object,
    clientInfo: z.looseObject({ name: text, version: text }),
  }),
  'tools/call': z.looseObject({ ...named, arguments: object.optional() }),
  'prompts/get': z.looseObject({ ...named, arguments: z.record(text, text).optional() }),
  'resources/read': z.looseObject({ ...common, uri: text }),
  'completion/complete': z.looseObject({
    ...common,
    ref: reference,
    argument: z.looseObject({ name: text, value: text }),
  }),
  'subscriptions/listen': z.looseObject({ ...common, notifications: object }),
};

const others = z.looseObject(common);

const version = z.literal('2.0');
const id = z.union([text, z.int()], {
  error: ({ input }) => `a string or an integer is expected, not ${shownValue(input)}`,
});
const request = z.object({
  jsonrpc: version,
  id: id.optional(),
  method: text,
  params: object.nullish(),
});
const reply = z.looseObject({ jsonrpc: version });

/** A message of JSON-RPC without fields that it does not know, or the refusal of a value that is none. */
export type ReadMessage =
  | { readonly message: Record<string, unknown>; readonly refusal?: never }
  | { readonly refusal: Refusal };

export function readMessage(value: unknown): ReadMessage {
  const isReply = isObject(value) && !('method' in value) && ('result' in value || 'error' in value);
  const shape = isReply ? reply : request;
  const parsed = shape.safeParse(value, { error: plainMessage });
  if (parsed.success) return { message: parsed.data };
  const issue = fieldIssue(shape, value, parsed.error);
  const reason = issue.path === '' ? `the message: ${issue.message}` : describeIssue(issue);
  const given = id.safeParse(isObject(value) ? (value as { id?: unknown }).id : undefined);
  const code = issue.path === 'params' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest;
  return { refusal: refusal(given.success ? given.data : null, code, reason) };
}

export const refusal = (id: Refusal['id'], code: number, message: string): Refusal => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** A message without the fields that are null, which count as absent; or the refusal of its method or params. */
export type CheckedMessage<Message> =
  | { readonly message: Message; readonly refusal?: never }
  | { readonly refusal: Refusal };

/** Checks a message that readMessage() has read. `rights`: of the client. */
export function checkedMessage<Message extends object>(
  given: Message,
  rights: ReadonlySet<Right>,
): CheckedMessage<Message> {
  const { method, id, params } = given as { method?: unknown; id?: string | number; params?: unknown };
  // Replies have no method.
  if (typeof method !== 'string') return { message: given };
  const present = withoutNulls(params ?? {}, method);
  const message = params === undefined ? given : { ...given, params: present };
  // Nobody waits for an answer to a notification.
  if (id === undefined) return { message };
  const refused = refusedMethod(method, present, rights);
  if (refused !== undefined) return { refusal: refusal(id, ProtocolErrorCode.MethodNotFound, refused) };
  const shape = (Object.hasOwn(shapes, method) && shapes[method]) || others;
  const parsed = shape.safeParse(present, { error: plainMessage });
  if (parsed.success) return { message };
  const reason = describeIssue(fieldIssue(shape, present, parsed.error));
  return { refusal: refusal(id, ProtocolErrorCode.InvalidParams, reason) };
}

/** Objects whose own fields may be null, too. */
const withOptionalFields: ReadonlySet<string> = new Set(['_meta', 'capabilities', 'clientInfo']);

function withoutNulls(params: unknown, method: string): unknown {
  if (!isObject(params)) return params;
  const entries = Object.entries(withoutNullFields(params)).map(([name, value]) => {
    const holds = withOptionalFields.has(name) || (method === 'prompts/get' && name === 'arguments');
    return [name, holds && isObject(value) ? withoutNullFields(value) : value];
  });
  return Object.fromEntries(entries);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object without its fields that are null. */
export const withoutNullFields = (object: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
