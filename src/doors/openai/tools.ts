import { LorekeepError, literal, schemaGrammar } from '../../../lib/internal.js';
import { parseWithWideIntegers, stringifyWithWideIntegers } from '../../base/schema/wide-integers.js';
import { HttpRefusal } from '../http/failure.js';
import type { Tool, ToolChoice } from './fields.js';

/** A call that a reply asks for. */
export interface ToolCall {
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** Most calls of one reply. */
const maxCalls = 8;

/** How a model writes a call, and reads its own earlier ones. */
export function callText({ name, arguments: given }: ToolCall): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${given}}`;
}

/** Tells the model which tools there are and how to call them. */
export function describeTools(tools: readonly Tool[], { mode }: ToolChoice): string {
  const lines = tools.map(({ name, description, parameters }) => {
    const what = description === '' ? '' : `: ${description}`;
    return `- ${name}${what} Arguments: ${JSON.stringify(parameters)}`;
  });
  const example = callText({ name: (tools[0] as Tool).name, arguments: '{}' });
  const how =
    mode === 'auto'
      ? `You can call these tools. To call one, end your reply with a line such as ${example}`
      : `Call one of these tools. Reply with a line such as ${example}`;
  return [how, ...lines].join('\n');
}

/**
 * Returns the grammar of replies that may or must call tools. Text has no brace, so that a brace begins a call.
 * @throws HttpRefusal for an unknown name, or a schema that no grammar can express
 */
export function toolGrammar(tools: readonly Tool[], choice: ToolChoice, parallel: boolean): string {
  const allowed = choice.mode === 'named' ? tools.filter(({ name }) => name === choice.name) : tools;
  if (choice.mode === 'named' && allowed.length === 0)
    throw new HttpRefusal(
      400,
      'invalid_field',
      `tool_choice: there is no tool ${JSON.stringify(choice.name)}`,
      'tool_choice',
    );
  const space = '(" " | "\\n" [ \\t]{0,8})?';
  const rules = allowed.map(({ name, parameters, where }, index) => {
    const given = `arguments-${index + 1}`;
    const head = [literal('{'), literal('"name":'), literal(JSON.stringify(name)), literal(',')];
    const call = [...head, literal('"arguments":'), given, literal('}')].join(` ${space} `);
    return { call: `(${call})`, grammar: converted(parameters, given, `${where}.parameters`) };
  });
  const more = parallel ? ` ("\\n" call){0,${maxCalls - 1}}` : '';
  const calls = `call${more}`;
  const root = choice.mode === 'auto' ? `[^{]* (${calls})?` : calls;
  return [
    `root ::= ${root}`,
    `call ::= ${rules.map(({ call }) => call).join(' | ')}`,
    ...rules.map(({ grammar }) => grammar),
  ].join('\n');
}

function converted(schema: unknown, name: string, where: string): string {
  try {
    return schemaGrammar(schema, name);
  } catch (cause) {
    if (!(cause instanceof LorekeepError) || cause.code !== 'INVALID_ARGUMENT') throw cause;
    throw new HttpRefusal(400, 'invalid_field', `${where}: ${cause.detail.reason ?? cause.message}`, where);
  }
}

/** Splits a reply that arrives in pieces into its text and the calls at its end. */
export class CallSplitter {
  #heldBlanks = '';
  #calls = '';

  /** Returns the text that can be sent. Blanks are held: they may only precede a call. */
  push(piece: string): string {
    if (this.#calls !== '') {
      this.#calls += piece;
      return '';
    }
    const text = this.#heldBlanks + piece;
    const at = text.indexOf('{');
    const own = at < 0 ? text : text.slice(0, at);
    if (at >= 0) this.#calls = text.slice(at);
    const end = own.trimEnd().length;
    this.#heldBlanks = at < 0 ? own.slice(end) : '';
    return own.slice(0, end);
  }

  /** The complete calls; one that was cut is left out. */
  finish(): ToolCall[] {
    return objectsIn(this.#calls).flatMap((text) => {
      const { name, arguments: given } = parseWithWideIntegers(text) as Record<string, unknown>;
      return typeof name === 'string' ? [{ name, arguments: stringifyWithWideIntegers(given) }] : [];
    });
  }
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
