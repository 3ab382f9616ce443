import type { Right } from '../../config/keys-file.js';
import { quotedWithin, unknownName } from './text.js';

/** Methods of the revisions that begin with a handshake. */
const ofHandshakes = ['initialize', 'ping'];

/** Methods of the revisions without one. */
const ofEnvelopes = ['server/discover', 'subscriptions/listen'];

const always = ['tools/list', 'tools/call'];

const searching = [
  ...['resources/list', 'resources/templates/list', 'resources/read'],
  ...['prompts/list', 'prompts/get', 'completion/complete'],
];

const handshakes = new Set(ofHandshakes);
const envelopes = new Set(ofEnvelopes);
const searches = new Set(searching);
const alwaysServed = new Set(always);

/** The field of `_meta` that each request has in the revisions without a handshake. */
const revisionField = 'io.modelcontextprotocol/protocolVersion';

/** Whether a request is one of the revisions without a handshake. */
export const hasEnvelope = (params: unknown): boolean =>
  isObject(params) && isObject(params._meta) && Object.hasOwn(params._meta, revisionField);

/** Why the method of a request is not served, in words; undefined if it is. */
export function refusedMethod(
  method: string,
  params: unknown,
  rights: ReadonlySet<Right>,
): string | undefined {
  const isEnveloped = hasEnvelope(params);
  if (alwaysServed.has(method) || (isEnveloped ? envelopes : handshakes).has(method)) return undefined;
  if (searches.has(method))
    return rights.has('search') ? undefined : `the method "${method}" needs the right "search"`;
  if (envelopes.has(method))
    return `the method "${method}" needs the revision of the protocol in params._meta["${revisionField}"]`;
  if (handshakes.has(method)) return `the revision that params._meta names has no method "${method}"`;
  if (method.startsWith('notifications/'))
    return `${quotedWithin(method, 100)} is no method of requests; a notification has no id`;
  const known = [
    ...(isEnveloped ? ofEnvelopes : ofHandshakes),
    ...always,
    ...(rights.has('search') ? searching : []),
  ];
  return unknownName('method', method, known);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
