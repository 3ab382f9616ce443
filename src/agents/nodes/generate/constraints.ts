import { LorekeepError } from '../../../../lib/index.js';
import { literal, schemaGrammar } from '../../../../lib/internal.js';
import { serverError } from '../../../protocol/errors.js';
import type { GenerateParams } from './schema.js';

/** Returns the grammar of a node's replies, or undefined if they are free. @throws InvalidParam with the schema's pointer */
export function replyGrammar(params: GenerateParams, where: string): string | undefined {
  const { json_schema, grammar, actions } = params;
  if (json_schema !== undefined) return converted(json_schema, 'root', `${where}.params.json_schema`);
  return actions === undefined ? grammar : actionsGrammar(actions, where);
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
    if (!(cause instanceof LorekeepError) || cause.detail.field !== 'schema') throw cause;
    const { reason, pointer } = cause.detail;
    throw serverError(4003, `${path}: ${reason}`, { path, pointer }, { cause });
  }
}
