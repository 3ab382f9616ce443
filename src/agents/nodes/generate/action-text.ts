import { stringifyWithWideIntegers } from '../../../base/schema/wide-integers.js';
import type { Action, HistoryTurn } from '../../../protocol/history.js';
import type { GenerateParams } from './schema.js';

/** How a reply writes an action: `{"action": "open_door", "arguments": {"door": "north"}}`. */
export function actionText({ name, arguments: given }: Action): string {
  return stringifyWithWideIntegers({ action: name, arguments: given });
}

/** Tells the model which actions there are and how to ask for one; empty without actions. */
export function describeActions(actions: GenerateParams['actions']): string {
  if (actions === undefined) return '';
  const lines = actions.map(({ name, description, parameters }) => {
    const what = description === '' ? '' : `: ${description}`;
    return `- ${name}${what} Arguments: ${JSON.stringify(parameters)}`;
  });
  const example = actionText({ name: (actions[0] as { name: string }).name, arguments: {} });
  return [
    `You can do one of these actions. To do it, end your reply with a line such as ${example}`,
    ...lines,
  ].join('\n');
}

/** Tells the model the result of an action. `last`: the turn that asked for it. */
export function describeResult(last: HistoryTurn | undefined, result: unknown): string {
  const name = last?.action?.name;
  const shown = typeof result === 'string' ? result : stringifyWithWideIntegers(result);
  return `Result of ${name ?? 'the action'}: ${shown}`;
}
