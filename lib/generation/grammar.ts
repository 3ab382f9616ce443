import { refuseHalfCharacters, stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import { grammarMatches } from '../boundary/layout.gen.js';
import { type CallOptions, callNative } from '../boundary/native-call.js';

/** Whether a text conforms to a grammar; `beginning`: more text may make it conform. */
export type GrammarMatch = (typeof grammarMatches)[number];

/**
 * Checks a GBNF grammar before use.
 * @throws INVALID_ARGUMENT with line and column in `message` and `detail`: syntax, an undefined rule, left recursion, a
 * rule that never ends, more than 2^18 states after repetitions
 */
export async function checkGrammar(grammar: string, options: CallOptions = {}): Promise<void> {
  await matchGrammar(grammar, '', options);
}

/** Matches a whole text with a GBNF grammar. @throws INVALID_ARGUMENT as checkGrammar() */
export async function matchGrammar(
  grammar: string,
  text: string,
  { signal }: CallOptions = {},
): Promise<GrammarMatch> {
  const source = stringArgument('grammar', grammar);
  refuseHalfCharacters('grammar', source);
  if (typeof text !== 'string') throw new LorekeepError('INVALID_ARGUMENT', 'text: a string is expected');
  const match = await callNative(signal, (cancel) => binding.matchGrammar(source, text, cancel));
  return grammarMatches[match] as GrammarMatch;
}
