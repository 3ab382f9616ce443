import { z } from 'zod';
import { describeIssue, fieldIssue } from '../../base/schema/field-issue.js';
import { plainMessage } from '../../base/schema/messages.js';
import { ProtocolErrorCode } from './sdk.js';

/** A reply that refuses a request, as JSON-RPC has it. */
export interface Refusal {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
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
};

const others = z.looseObject(common);

/** A message without the fields that are null, which count as absent; or the refusal of its params. */
export type CheckedMessage<Message> =
  | { readonly message: Message; readonly refusal?: never }
  | { readonly refusal: Refusal };

export function checkedMessage<Message extends object>(given: Message): CheckedMessage<Message> {
  const { method, id, params } = given as { method?: unknown; id?: string | number; params?: unknown };
  if (typeof method !== 'string' || params === undefined)
    return checkedParams(given, { method, id, params: {} });
  const present = params === null ? {} : withoutNulls(params, method);
  return checkedParams({ ...given, params: present }, { method, id, params: present });
}

function checkedParams<Message>(
  message: Message,
  { method, id, params }: { method: unknown; id: string | number | undefined; params: unknown },
): CheckedMessage<Message> {
  // Replies have no method, and nobody waits for an answer to a notification.
  if (typeof method !== 'string' || id === undefined) return { message };
  const shape = (Object.hasOwn(shapes, method) && shapes[method]) || others;
  const parsed = shape.safeParse(params, { error: plainMessage });
  if (parsed.success) return { message };
  const error = {
    code: ProtocolErrorCode.InvalidParams,
    message: describeIssue(fieldIssue(shape, params, parsed.error)),
  };
  return { refusal: { jsonrpc: '2.0', id, error } };
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
