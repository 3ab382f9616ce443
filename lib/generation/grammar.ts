import { refuseHalfCharacters, stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import { grammarMatches } from '../boundary/layout.gen.js';
import { type CallOptions, callNative } from '../boundary/native-call.js';

function sourceArgument(grammar: string): string {
  const source = stringArgument('grammar', grammar);
  refuseHalfCharacters('grammar', source);
  return source;
}

/** Whether a text conforms to a grammar; `beginning`: more text may make it conform. */
export type GrammarMatch = (typeof grammarMatches)[number];

/**
 * Checks a GBNF grammar before use, without a model. The answer counts work and not time, so it is the same on every
 * machine.
 * @throws INVALID_ARGUMENT with line and column in `message` and `detail`: syntax, an undefined rule, left recursion, a
 * rule that never ends, more than 2^18 states after repetitions; without them: a reply of at most 32 bytes that can be
 * read in more than 16,384 ways, or a first byte that takes too much work
 */
export async function checkGrammar(grammar: string, { signal }: CallOptions = {}): Promise<void> {
  const source = sourceArgument(grammar);
  await callNative(signal, (cancel) => binding.checkGrammar(source, cancel));
}

/** Matches a whole text with a GBNF grammar. @throws INVALID_ARGUMENT for a grammar that does not compile, and for a text that takes too much work */
export async function matchGrammar(
  grammar: string,
  text: string,
  { signal }: CallOptions = {},
): Promise<GrammarMatch> {
  const source = sourceArgument(grammar);
  if (typeof text !== 'string') throw new LorekeepError('INVALID_ARGUMENT', 'text: a string is expected');
  const match = await callNative(signal, (cancel) => binding.matchGrammar(source, text, cancel));
  return grammarMatches[match] as GrammarMatch;
}
