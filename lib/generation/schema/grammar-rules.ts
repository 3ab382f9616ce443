import { refuse } from './schema-checks.js';

/** Characters of a grammar. */
const maxCharacters = 1_000_000;

const sharedRules = {
  space: '| " " | "\\n"{1,2} [ \\t]{0,20}',
  char: '[^"\\\\\\x00-\\x1f\\x7f] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  // Without \u: two such escapes may be one character.
  character: '[^"\\\\\\x00-\\x1f\\x7f] | "\\\\" ["\\\\/bfnrt]',
  string: '"\\"" char* "\\""',
  boolean: '"true" | "false"',
  null: '"null"',
  integer: '"0" | "-"? [1-9] [0-9]*',
  number: '"-"? ("0" | [1-9] [0-9]*) ("." [0-9]{1,20})? ([eE] [-+]? [0-9]{1,2})?',
  object: '"{" space (string ":" space value ("," space string ":" space value)*)? space "}"',
  array: '"[" space (value ("," space value)*)? space "]"',
  value: 'object | array | string | number | boolean | null',
} as const;

export type SharedRule = keyof typeof sharedRules;

/** The rules of one grammar. Their names begin with its name, so that two grammars can be one text. */
export class GrammarRules {
  readonly classes = new Map<string, string>();
  readonly #name: string;
  readonly #rules = new Map<string, string>();
  #characters = 0;
  #reserved = 0;

  constructor(name: string) {
    this.#name = name;
  }

  shared(name: SharedRule): string {
    return `${this.#name}-json-${name}`;
  }

  reserve(): string {
    return `${this.#name}-${++this.#reserved}`;
  }

  define(name: string, body: string): void {
    this.#characters += name.length + body.length;
    if (this.#characters > maxCharacters) refuse('', `its grammar has more than ${maxCharacters} characters`);
    this.#rules.set(name, body);
  }

  add(body: string): string {
    const name = this.reserve();
    this.define(name, body);
    return name;
  }

  text(root: string): string {
    this.define(this.#name, root);
    const own = [...this.#rules].map(([name, body]) => `${name} ::= ${body}`);
    const shared = Object.entries(sharedRules).map(
      ([name, body]) => `${this.shared(name as SharedRule)} ::= ${this.#renamed(body)}`,
    );
    return [...own, ...shared].join('\n');
  }

  #renamed(body: string): string {
    const names = Object.keys(sharedRules).join('|');
    // Not within literals and classes.
    return body.replace(
      new RegExp(`"(?:[^"\\\\]|\\\\.)*"|\\[(?:[^\\]\\\\]|\\\\.)*\\]|\\b(${names})\\b`, 'g'),
      (all, name) => (name === undefined ? all : this.shared(name)),
    );
  }
}

export function alternatives(options: readonly string[]): string {
  return options.length === 1 ? (options[0] as string) : `(${options.join(' | ')})`;
}

/** Control characters and halves of surrogate pairs, which JSON escapes in a form that GBNF does not know. */
const unlikeGbnf = /\p{Cs}|(?![\n\r\t])\p{Cc}/u;

/** A GBNF literal. */
export function literal(text: string): string {
  // Ten times as fast as replacing, where most characters need a backslash.
  if (!unlikeGbnf.test(text)) return JSON.stringify(text);
  const escaped = text
    .replace(/[\\"]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t');
  return `"${escaped}"`;
}
