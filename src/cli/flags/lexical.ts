import { type Command, InvalidArgumentError } from 'commander';
import type { LexicalOptions } from '../../../lib/internal.js';
import { UsageError } from '../failure.js';
import { jsonObjectArgument } from '../search/json-argument.js';

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

/** The options that the flags ask for, undefined if there are none. Single flags come before --lexical. @throws UsageError */
export async function lexicalRequest(
  flags: LexicalFlags & { mode?: string },
): Promise<LexicalOptions | undefined> {
  const { extended, fuzzy, boost: boosts, stopWords: stopwords, synonyms: groups } = flags;
  const given = { '--extended': extended, '--fuzzy': fuzzy, '--boost': boosts, '--stop-words': stopwords };
  const all = { ...given, '--synonyms': groups, '--lexical': flags.lexical };
  const [first] = Object.entries(all).filter(([, value]) => value !== undefined);
  if (first === undefined) return undefined;
  if (flags.mode === 'dense') {
    throw new UsageError(`${first[0]}: it has no effect in dense mode, only in lexical and hybrid mode`);
  }
  const fields = {
    ...(await jsonObjectArgument('--lexical', flags.lexical)),
    ...(extended && { query_syntax: 'extended' }),
    ...(fuzzy && { fuzziness: 1 }),
    ...(boosts && { boosts }),
    ...(stopwords && { stopwords }),
    ...(groups && { synonyms: groups }),
  };
  // Imported when used: flags are defined before the command is known, and zod is large.
  const { lexicalOptions, lexicalSchema } = await import('../../search/lexical-fields.js');
  const { plainMessage } = await import('../../base/schema/messages.js');
  const parsed = lexicalSchema.safeParse(fields, { error: plainMessage });
  if (parsed.success) return lexicalOptions(parsed.data);
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
