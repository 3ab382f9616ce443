import {
  findNodeAtLocation,
  type Node as JsonNode,
  type ParseErrorCode,
  parseTree,
  visit,
} from 'jsonc-parser';
import { checkJsonShape, type ShapeProblem } from './json-shape.js';

/** A place in a text as editors count: both from 1, columns in UTF-16 code units. */
export interface TextPosition {
  line: number;
  column: number;
}

/** The text is not JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly position: TextPosition;

  constructor(message: string, position: TextPosition) {
    super(message);
    this.position = position;
  }
}

/** A hand-written JSON text, with places for error messages. */
export class JsonText {
  readonly value: unknown;
  readonly #text: string;
  #tree: JsonNode | undefined;

  /** A byte order mark is skipped. @throws JsonSyntaxError */
  constructor(text: string) {
    this.#text = text.replace(/^\uFEFF/, '');
    try {
      this.value = JSON.parse(this.#text);
    } catch (error) {
      throw syntaxError(this.#text, error as Error);
    }
  }

  /** Defects that JSON.parse accepts. A value that is nested too deeply must not be walked. */
  shapeProblem(): ShapeProblem | undefined {
    return checkJsonShape(this.#text);
  }

  /** The start of the value at `keys`, or of its nearest existing ancestor. */
  positionOf(keys: readonly PropertyKey[]): TextPosition {
    const path = keys.map((key) => (typeof key === 'number' ? key : String(key)));
    this.#tree ??= treeOf(this.#text);
    const tree = this.#tree;
    for (let length = path.length; tree !== undefined && length > 0; length--) {
      const node = findNodeAtLocation(tree, path.slice(0, length));
      if (node !== undefined) return positionAt(this.#text, node.offset);
    }
    return positionAt(this.#text, tree?.offset ?? 0);
  }
}

const strict = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/** Undefined if the text is nested too deeply. */
function treeOf(text: string) {
  try {
    return parseTree(text, [], strict);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Builds no tree, which takes many times the memory of a long text. Undefined if the text is nested too deeply. */
function firstError(text: string): { error: ParseErrorCode; offset: number } | undefined {
  let first: { error: ParseErrorCode; offset: number } | undefined;
  const onError = (error: ParseErrorCode, offset: number) => {
    first ??= { error, offset };
  };
  try {
    visit(text, { onError }, strict);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return first;
}

function syntaxError(text: string, thrown: Error): JsonSyntaxError {
  if (text.trim() === '') return new JsonSyntaxError('the text is empty', { line: 1, column: 1 });
  const first = firstError(text);
  if (first === undefined) return new JsonSyntaxError(thrown.message, { line: 1, column: 1 });
  const followsComma = /,\s*$/.test(text.slice(0, first.offset)) && /[\]}]/.test(text[first.offset] ?? '');
  const message = followsComma
    ? 'a comma is not allowed before a closing bracket'
    : (messages[first.error] ?? thrown.message);
  return new JsonSyntaxError(message, positionAt(text, first.offset));
}

/** Messages by ParseErrorCode, which exists at compile time only. */
const messages: Readonly<Record<number, string>> = {
  1: 'a value is expected; strings are in double quotes',
  2: 'this is not a number',
  3: 'a name in double quotes is expected',
  4: 'a value is expected',
  5: '":" is expected',
  6: '"," is expected',
  7: '"}" is expected',
  8: '"]" is expected',
  9: 'the end is expected: one value is already complete (JSON Lines is read by lorekeep index and add)',
  10: 'JSON has no comments',
  11: 'the comment does not end',
  12: 'the string has no closing quote',
  13: 'this is not a number',
  14: '\\u and four hexadecimal digits are expected',
  15: 'this is not a JSON escape; a backslash is written \\\\',
  16: 'a control character must be escaped',
};

function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}
