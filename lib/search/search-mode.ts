import { LorekeepError } from '../boundary/errors.js';
import { searchModes } from '../boundary/layout.gen.js';
import type { Option } from '../boundary/option.js';
import { rankingOptions } from './options.js';

export { searchModes };

export type SearchMode = (typeof searchModes)[number];

/** Options that only some modes use. A mode without one of them refuses it. */
const modesWithOption: readonly [option: string, modes: readonly string[]][] = [
  ...Object.entries<Option>(rankingOptions).flatMap(([name, { modes }]) =>
    modes === undefined ? [] : [[name, modes] as [string, readonly string[]]],
  ),
  ['vector', ['dense', 'hybrid']],
];

/** Returns the given options without effect in a mode, each with the modes that use it. */
export function ineffectiveOptions(mode: SearchMode, options: object): { option: string; reason: string }[] {
  return modesWithOption
    .filter(
      ([option, modes]) =>
        (options as Record<string, unknown>)[option] !== undefined && !modes.includes(mode),
    )
    .map(([option, modes]) => ({
      option,
      reason: `it has no effect in ${mode} mode, only in ${modes.join(' and ')} mode; remove it, or change the mode`,
    }));
}

/** @throws INVALID_ARGUMENT for the first option without effect in the mode */
export function refuseIneffective(mode: SearchMode, options: object): void {
  const [first] = ineffectiveOptions(mode, options);
  if (first !== undefined) {
    throw LorekeepError.about('INVALID_ARGUMENT', { field: first.option, reason: first.reason });
  }
}

/** @throws INVALID_ARGUMENT for variables without a filter */
export function refuseUnusedVariables({
  filter,
  variables,
}: {
  filter?: unknown;
  variables?: unknown;
}): void {
  if (variables === undefined || filter !== undefined) return;
  const reason = 'it has no effect without a filter; remove it, or add a filter';
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'variables', reason });
}
