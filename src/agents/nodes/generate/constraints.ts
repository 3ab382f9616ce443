import { LorekeepError, literal, matchGrammar, schemaGrammar } from '../../../../lib/internal.js';
import type { TextModel } from '../../../models/text-model.js';
import { fail, serverError } from '../../../protocol/errors.js';
import type { NodeResources } from '../../node.js';
import type { GenerateParams } from './schema.js';

/** Returns the grammar of a node's replies, or undefined if they are free. @throws InvalidParam with the schema's pointer */
export function replyGrammar(params: GenerateParams, where: string): string | undefined {
  const { json_schema, grammar, actions } = params;
  if (json_schema !== undefined) return converted(json_schema, 'root', `${where}.params.json_schema`);
  return actions === undefined ? grammar : actionsGrammar(actions, where);
}

/** Lets the model compile the grammar, so that a wrong one is refused before the first turn. @throws InvalidParam */
export async function checkGrammar(
  model: TextModel,
  grammar: string,
  params: GenerateParams,
  where: string,
): Promise<void> {
  const name =
    params.json_schema !== undefined ? 'json_schema' : params.actions !== undefined ? 'actions' : 'grammar';
  try {
    await model.generate({ prompt: '.', grammar, maxTokens: 1, class: 'background' }).result;
  } catch (cause) {
    if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    const path = `${where}.params.${name}`;
    throw serverError(4003, `${path}: ${cause.message}`, { path }, { cause });
  }
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
  const found = await match.catch((cause) => {
    if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    throw serverError(4003, `${path}: ${cause.message}`, { path }, { cause });
  });
  if (found === 'conforms') return;
  const form = json_schema === undefined ? 'grammar' : 'json_schema (properties in the order of the schema)';
  fail(4003, `${path}: is not a reply that ${form} allows`, { path });
}

/**
 * Text, one action, or text and then one action. Text has no brace, so that a brace begins the action: ActionSplitter tells
 * them apart in the same way.
 */
function actionsGrammar(actions: NonNullable<GenerateParams['actions']>, where: string): string {
  const space = '(" " | "\\n" [ \\t]{0,8})?';
  const rules = actions.map(({ name, parameters }, index) => {
    const given = `action-${index + 1}`;
    const path = `${where}.params.actions[${index}].parameters`;
    const head = [literal('{'), literal('"action":'), literal(JSON.stringify(name)), literal(',')];
    const call = [...head, literal('"arguments":'), given, literal('}')].join(` ${space} `);
    return { call: `(${call})`, grammar: converted(parameters, given, path) };
  });
  const calls = rules.map(({ call }) => call).join(' | ');
  return [`root ::= [^{]* (${calls})?`, ...rules.map(({ grammar }) => grammar)].join('\n');
}

function converted(schema: unknown, name: string, path: string): string {
  try {
    return schemaGrammar(schema, name);
  } catch (cause) {
    if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    const { field, reason, pointer } = cause.detail;
    if (field !== 'schema') throw cause;
    throw serverError(4003, `${path}: ${reason}`, { path, pointer }, { cause });
  }
}
