import {
  checkGrammar,
  LorekeepError,
  literal,
  matchGrammar,
  schemaGrammar,
  Work,
} from '../../../../lib/internal.js';
import { nextSlice } from '../../../base/waiting/next-slice.js';
import { fail, serverError } from '../../../protocol/errors.js';
import type { NodeResources } from '../../node.js';
import type { GenerateParams } from './schema.js';

/** Returns the grammar of a node's replies, or undefined if they are free. @throws InvalidParam with the schema's pointer; the signal's reason */
export async function replyGrammar(
  params: GenerateParams,
  where: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { json_schema, grammar, actions } = params;
  if (json_schema !== undefined)
    return converted(json_schema, 'root', `${where}.params.json_schema`, signal, new Work());
  return actions === undefined ? grammar : actionsGrammar(actions, where, signal);
}

/**
 * Refuses a wrong grammar, and one that is too dear for every model. Needs no model: it runs in the client's share of the
 * search threads.
 * @throws InvalidParam; the signal's reason
 */
export async function refuseGrammar(
  grammar: string,
  { json_schema, actions }: GenerateParams,
  where: string,
  { account, signal }: Pick<NodeResources, 'account' | 'signal'>,
): Promise<void> {
  const name = json_schema !== undefined ? 'json_schema' : actions !== undefined ? 'actions' : 'grammar';
  const path = `${where}.params.${name}`;
  const check = account.compute('search', signal, () => checkGrammar(grammar, { signal }));
  await check.catch((cause) => refused(cause, path));
}

/** Translates an error of the grammar. @throws InvalidParam */
function refused(cause: unknown, path: string): never {
  if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
  throw serverError(4003, `${path}: ${cause.message}`, { path }, { cause });
}

/**
 * Refuses a fallback that is no reply of the node. Reads it in the client's share of the search threads.
 * @throws InvalidParam; the signal's reason
 */
export async function checkFallback(
  grammar: string,
  { fallback, json_schema, actions }: GenerateParams,
  where: string,
  { account, signal }: Pick<NodeResources, 'account' | 'signal'>,
): Promise<void> {
  if (fallback === undefined || actions !== undefined) return;
  const path = `${where}.params.fallback`;
  const match = account.compute('search', signal, () => matchGrammar(grammar, fallback, { signal }));
  const found = await match.catch((cause) => refused(cause, path));
  if (found === 'conforms') return;
  const form = json_schema === undefined ? 'grammar' : 'json_schema (properties in the order of the schema)';
  fail(4003, `${path}: is not a reply that ${form} allows`, { path });
}

/**
 * Text, one action, or text and then one action. Text has no brace, so that a brace begins the action: ActionSplitter tells
 * them apart in the same way.
 */
async function actionsGrammar(
  actions: NonNullable<GenerateParams['actions']>,
  where: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const space = '(" " | "\\n" [ \\t]{0,8})?';
  const rules: { call: string; grammar: string }[] = [];
  const work = new Work();
  for (const [index, { name, parameters }] of actions.entries()) {
    const given = `action-${index + 1}`;
    const path = `${where}.params.actions[${index}].parameters`;
    const head = [literal('{'), literal('"action":'), literal(JSON.stringify(name)), literal(',')];
    const call = [...head, literal('"arguments":'), given, literal('}')].join(` ${space} `);
    rules.push({ call: `(${call})`, grammar: await converted(parameters, given, path, signal, work) });
  }
  const calls = rules.map(({ call }) => call).join(' | ');
  return [`root ::= [^{]* (${calls})?`, ...rules.map(({ grammar }) => grammar)].join('\n');
}

async function converted(
  schema: unknown,
  name: string,
  path: string,
  signal: AbortSignal | undefined,
  work: Work,
): Promise<string> {
  try {
    return await schemaGrammar(schema, { name, signal, work, nextSlice });
  } catch (cause) {
    if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    const { field, reason, pointer } = cause.detail;
    if (field !== 'schema') throw cause;
    throw serverError(4003, `${path}: ${reason}`, { path, pointer }, { cause });
  }
}
