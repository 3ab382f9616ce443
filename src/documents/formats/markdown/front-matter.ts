import { parseDocument } from 'yaml';

/** What a file says about itself above its text. */
export interface FrontMatter {
  title?: string | undefined;
  description?: string | undefined;
  tags: readonly string[];
  aliases: readonly string[];
}

/** Longer front matter is text. */
const maxCharacters = 64 * 1024;

/** Longest value that is kept, and the most values of a list. */
const longestText = 2000;
const mostValues = 200;

/**
 * Reads the front matter at the beginning of a Markdown text: YAML between two lines of hyphens, or TOML between two of plus
 * signs. Returns undefined if there is none: a text may also begin with a rule. `rest` is the text below it.
 */
export function frontMatterOf(text: string): { matter: FrontMatter; rest: string } | undefined {
  const mark = /^(---|\+\+\+)[ \t]*(?:\r\n?|\n)/.exec(text.slice(0, longestMark));
  if (mark === null) return undefined;
  const begin = mark[0].length;
  const head = text.slice(begin, begin + maxCharacters);
  const end = (mark[1] === '---' ? /^(?:---|\.\.\.)[ \t]*$/m : /^\+\+\+[ \t]*$/m).exec(head);
  if (end === null) return undefined;
  const source = head.slice(0, end.index);
  const values = mark[1] === '---' ? yamlValues(source) : statedValues(source, '=');
  if (values === undefined) return undefined;
  return { matter: matterOf(values), rest: text.slice(begin + end.index + end[0].length) };
}

/** More characters than the first line has. */
const longestMark = 200;

type Values = Readonly<Record<string, unknown>>;

/** Returns the values of a mapping; undefined for a text that is not one. Scalars are texts. */
function yamlValues(source: string): Values | undefined {
  try {
    const document = parseDocument(source, { schema: 'failsafe', logLevel: 'silent', uniqueKeys: false });
    if (document.errors.length > 0) return looksLikeKeys(source) ? statedValues(source, ':') : undefined;
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values;
    return source.trim() === '' ? {} : undefined;
  } catch {
    return undefined; // nested without end, or aliases without end
  }
}

/** Whether every line is a key with its value, or belongs to one: YAML with a mistake in it, and no text. */
function looksLikeKeys(source: string): boolean {
  const lines = source.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  return lines.length > 0 && lines.every((line) => /^(?:[\w.-]{1,100}\s{0,10}:(?:\s|$)|[ \t#-])/.test(line));
}

/** Returns the values that stand on one line with their key. */
function statedValues(source: string, mark: ':' | '='): Values {
  const values: Record<string, unknown> = {};
  for (const line of source.split(/\r\n?|\n/)) {
    const at = line.indexOf(mark);
    const key = line.slice(0, Math.max(0, at)).trim();
    if (/^[\w-]{1,100}$/.test(key)) values[key] = statedValue(line.slice(at + 1).trim());
  }
  return values;
}

function statedValue(text: string): unknown {
  if (text.startsWith('[') && text.endsWith(']'))
    return text
      .slice(1, -1)
      .split(',')
      .map((part) => unquoted(part.trim()))
      .filter((part) => part !== '');
  return unquoted(text);
}

const unquoted = (text: string) => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;

function matterOf(values: Values): FrontMatter {
  const named = (...names: string[]) =>
    names.map((name) => values[name]).find((value) => value !== undefined);
  return {
    title: textOf(named('title', 'Title')),
    description: textOf(named('description', 'summary', 'Description')),
    tags: listOf(named('tags', 'tag', 'keywords', 'Tags')).map((tag) => tag.replace(/^#/, '')),
    aliases: listOf(named('aliases', 'alias', 'Aliases')),
  };
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return value.replace(/\s+/g, ' ').trim().slice(0, longestText) || undefined;
}

/** A text is a list of values with commas between them. */
function listOf(value: unknown): string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const texts = items.slice(0, mostValues).map(textOf);
  return [...new Set(texts.filter((text) => text !== undefined))];
}
