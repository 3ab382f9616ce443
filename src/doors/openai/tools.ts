import { LorekeepError, literal, schemaGrammar, Work } from '../../../lib/internal.js';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { parseWithWideIntegers, stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';
import { nextSlice } from '../../base/waiting/next-slice.js';
import { HttpRefusal } from '../http/failure.js';
import type { Format, Tool, ToolChoice } from './fields.js';

/** A call that a reply asks for. */
export interface ToolCall {
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** Most calls of one reply. */
const maxCalls = 8;

/** Enclose a call, as in the templates of Hermes and Qwen. No JSON text begins with them. */
const [opening, closing] = ['<tool_call>', '</tool_call>'];

/** How a model writes a call, and reads its own earlier ones. */
export function callText({ name, arguments: given }: ToolCall): string {
  return `${opening}{"name": ${JSON.stringify(name)}, "arguments": ${given}}${closing}`;
}

/** Tells the model which tools there are and how to call them. `isJson`: a reply without calls is JSON. */
export function describeTools(tools: readonly Tool[], mode: ToolChoice['mode'], isJson: boolean): string {
  const lines = tools.map(({ name, description, parameters }) => {
    const what = description === '' ? '' : `: ${description}`;
    return `- ${name}${what} Arguments: ${JSON.stringify(parameters)}`;
  });
  const example = callText({ name: (tools[0] as Tool).name, arguments: '{}' });
  const how =
    mode !== 'auto'
      ? `Call one of these tools. Reply with a line such as ${example}`
      : isJson
        ? `You can call these tools. To call one, reply with a line such as ${example} Reply with JSON if you call none.`
        : `You can call these tools. To call one, end your reply with a line such as ${example}`;
  return [how, ...lines].join('\n');
}

/**
 * Returns the tools that a reply may call. @throws HttpRefusal for two tools of one name, and for a choice among tools that the
 * request does not have
 */
export function callableTools(tools: readonly Tool[], { mode, names }: ToolChoice): readonly Tool[] {
  const taken = new Set<string>();
  for (const { name, where } of tools) {
    const message = `${where}.name: there are two tools named ${JSON.stringify(name)}`;
    if (taken.has(name)) throw new HttpRefusal(400, 'invalid_field', message, `${where}.name`);
    taken.add(name);
  }
  if (mode === 'none') return [];
  const missing = names?.find((wanted) => tools.every(({ name }) => name !== wanted));
  if (missing !== undefined || (mode === 'required' && tools.length === 0)) {
    const near =
      missing === undefined
        ? undefined
        : nearestName(
            missing,
            tools.map(({ name }) => name),
          );
    const what = missing === undefined ? 'are no tools' : `is no tool ${JSON.stringify(missing)}`;
    const message = `tool_choice: there ${what}${didYouMean(near)}`;
    throw new HttpRefusal(400, 'invalid_field', message, 'tool_choice');
  }
  return names === undefined ? tools : tools.filter(({ name }) => names.includes(name));
}

/**
 * Returns the grammar of replies that may or must call one of these tools. A reply that may has text, or the JSON of `format`.
 * @throws HttpRefusal for a schema that no grammar can express
 */
export async function toolGrammar(
  allowed: readonly Tool[],
  { mode, parallel, format }: { mode: ToolChoice['mode']; parallel: boolean; format?: Format | undefined },
  signal: AbortSignal | undefined,
): Promise<string> {
  const work = new Work();
  const convert = (schema: unknown, name: string, where: string) =>
    converted(schema, { name, where, signal, work });
  const rules: { call: string; grammar: string }[] = [];
  for (const [index, { name, parameters, where }] of allowed.entries()) {
    const given = `arguments-${index + 1}`;
    const head = [literal('{'), literal('"name":'), literal(JSON.stringify(name)), literal(',')];
    const call = [...head, literal('"arguments":'), given, literal('}')].join(' blank ');
    rules.push({ call: `(${call})`, grammar: await convert(parameters, given, `${where}.parameters`) });
  }
  const more = parallel ? ` (blank ${literal(opening)} call){0,${maxCalls - 1}}` : '';
  const begun = [
    `calls ::= call${more}`,
    `call ::= blank (${rules.map(({ call }) => call).join(' | ')}) blank ${literal(closing)}`,
    'blank ::= (" " | "\\n" [ \\t]{0,8})?',
    ...rules.map(({ grammar }) => grammar),
  ];
  const calls = `${literal(opening)} calls`;
  if (mode !== 'auto') return [`root ::= ${calls}`, ...begun].join('\n');
  if (format === undefined) return [...textBefore(opening, 'calls'), ...begun].join('\n');
  const json = await convert(format.schema, 'json', format.field);
  return [`root ::= ${calls} | json`, ...begun, json].join('\n');
}

/** Rules of a text that may have `word` at its end alone, and then `next`. The first character of `word` is in it once. */
function textBefore(word: string, next: string): string[] {
  const [first = '', ...others] = word;
  // Rule k: the first k characters of the word precede.
  const rules = others.map((character, index) => {
    const after = index + 1 === others.length ? next : `text-${index + 2}`;
    const other = `[^${first}${character}] root`;
    return `text-${index + 1} ::= (${literal(character)} ${after} | ${literal(first)} text-1 | ${other})?`;
  });
  return [`root ::= [^${first}]* (${literal(first)} text-1)?`, ...rules];
}

async function converted(
  schema: unknown,
  { name, where, signal, work }: { name: string; where: string; signal: AbortSignal | undefined; work: Work },
): Promise<string> {
  try {
    return await schemaGrammar(schema, { name, signal, work, nextSlice });
  } catch (cause) {
    if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    throw new HttpRefusal(400, 'invalid_field', `${where}: ${cause.detail.reason ?? cause.message}`, where);
  }
}

/** Splits a reply that arrives in pieces into its text and the calls at its end. `isJson`: it has one or the other. */
export class CallSplitter {
  readonly #isJson: boolean;
  #isText = false;
  /** Text that may be the begin of a call, or precede one as blanks do. */
  #held = '';
  #calls: string | undefined;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  /** Returns the text that can be sent. */
  push(piece: string): string {
    if (this.#isText) return piece;
    if (this.#calls !== undefined) {
      this.#calls += piece;
      return '';
    }
    const text = this.#held + piece;
    const at = this.#isJson ? text.search(/\S/) : text.indexOf(opening);
    if (at >= 0 && text.startsWith(opening, at)) {
      this.#calls = text.slice(at);
      this.#held = '';
      return text.slice(0, at).trimEnd();
    }
    if (this.#isJson && at >= 0 && !opening.startsWith(text.slice(at))) {
      this.#isText = true;
      this.#held = '';
      return text;
    }
    const end = text.slice(0, text.length - begunLength(text)).trimEnd().length;
    this.#held = text.slice(end);
    return text.slice(0, end);
  }

  /** The rest of the text, and the complete calls; one that was cut is left out. */
  finish(): { text: string; calls: ToolCall[] } {
    const calls = objectsIn(this.#calls ?? '').flatMap((text) => {
      const { name, arguments: given } = parseWithWideIntegers(text) as Record<string, unknown>;
      return typeof name === 'string' ? [{ name, arguments: stringifyWithWideIntegers(given) }] : [];
    });
    return { text: this.#held.trimEnd(), calls };
  }
}

/** Length of the end of a text with which a call may begin. */
function begunLength(text: string): number {
  const at = text.lastIndexOf(opening[0] as string);
  return at >= 0 && opening.startsWith(text.slice(at)) ? text.length - at : 0;
}

/** The complete JSON objects of a text, one after another. */
function objectsIn(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let begin = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === '{') {
      if (depth++ === 0) begin = at;
    } else if (character === '}' && --depth === 0) {
      found.push(text.slice(begin, at + 1));
    }
  }
  return found;
}
