import { type Command, InvalidArgumentError } from 'commander';
import { lexicalOptions } from '../../../lib/basics.js';
import type { LexicalOptions } from '../../../lib/internal.js';
import { fromFields } from '../../search/option-names.js';
import { UsageError } from '../failure.js';
import { jsonObjectArgument } from '../search/json-argument.js';
import { flagOf } from './options.js';

/** The flags that say how the lexical leg reads the query: docs/concepts/lexical-search.md. */
export interface LexicalFlags {
  extended?: boolean;
  fuzzy?: boolean;
  boost?: Record<string, number>;
  stopWords?: string[];
  synonyms?: string[][];
  lexical?: string;
}

export function addLexicalFlags(command: Command): Command {
  return command
    .option('--extended', '"phrases", prefixes (word*), +required and -excluded words count')
    .option('--fuzzy', 'rare words also match words that differ by one edit')
    .option('--boost <field=factor...>', 'metadata fields whose words count, such as title=2', boost)
    .option('--stop-words <word...>', 'words of the query that are ignored')
    .option('--synonyms <a,b...>', 'words that count as one; several groups may follow', synonyms)
    .option('--lexical <json>', 'all of these as an object (docs/concepts/lexical-search.md), or @FILE');
}

/** Returns the first of these flags that is given. */
export function lexicalFlag(flags: LexicalFlags): string | undefined {
  const { extended, fuzzy, boost: boosts, stopWords, synonyms: groups, lexical } = flags;
  const given = { extended, fuzzy, boost: boosts, stopWords, synonyms: groups, lexical };
  const first = Object.entries(given).find(([, value]) => value !== undefined);
  return first && flagOf(first[0]);
}

/** The options that the flags ask for, undefined if there are none. Single flags come before --lexical. @throws UsageError */
export async function lexicalRequest(
  flags: LexicalFlags & { mode?: string | undefined },
): Promise<LexicalOptions | undefined> {
  const { extended, fuzzy, boost: boosts, stopWords: stopwords, synonyms: groups } = flags;
  const first = lexicalFlag(flags);
  if (first === undefined) return undefined;
  if (flags.mode === 'dense')
    throw new UsageError(`${first}: it has no effect in dense mode, only in lexical and hybrid mode`);
  const fields = {
    ...(await jsonObjectArgument('--lexical', flags.lexical)),
    ...(extended && { query_syntax: 'extended' }),
    ...(fuzzy && { fuzziness: 1 }),
    ...(boosts && { boosts }),
    ...(stopwords && { stopwords }),
    ...(groups && { synonyms: groups }),
  };
  // Imported when used: flags are defined before the command is known, and zod is large.
  const { retrievalFields } = await import('../../protocol/retrieval.js');
  const { plainMessage } = await import('../../base/schema/messages.js');
  const parsed = retrievalFields.lexical.safeParse(fields, { error: plainMessage });
  if (parsed.success) return fromFields(lexicalOptions, parsed.data ?? {});
  const [issue] = parsed.error.issues;
  const path = issue?.path.length ? `.${issue.path.join('.')}` : '';
  throw new UsageError(`--lexical${path}: ${issue?.message}`);
}

function boost(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, field, factor] = /^(.+)=([^=]+)$/.exec(text) ?? [];
  const value = Number(factor);
  if (field === undefined || !(value > 0 && value <= 1000))
    throw new InvalidArgumentError('FIELD=FACTOR is expected, with a factor above 0, at most 1000');
  return { ...before, [field]: value };
}

function synonyms(text: string, before: string[][] = []): string[][] {
  const group = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (group.length < 2)
    throw new InvalidArgumentError('two words or more are expected, such as car,automobile');
  return [...before, group];
}
