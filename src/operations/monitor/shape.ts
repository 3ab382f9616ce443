/**
 * A value is kept as its shape and its numbers. The shape is everything else: keys, texts, lists and their lengths. Values of the
 * same kind share it, so that keeping one more takes 8 bytes per number and no object.
 */

/** Marks in the sequence of a shape; other tokens are keys, texts, booleans and null. */
const number = Symbol('number');
const object = Symbol('object');
const list = Symbol('list');
const end = Symbol('end');
type Token = string | boolean | null | symbol;

/** Longest key or text of a shape. */
const longestText = 256;

/** A place in the tree of all sequences. A complete sequence is a shape. */
export class Shape {
  readonly #parent: Shape | undefined;
  readonly #token: Token;
  /** The token that followed last time, and its place: nearly always it follows again. */
  #latestToken: Token = end;
  #latest: Shape | undefined;
  #next: Map<Token, Shape> | undefined;
  /** All tokens, of a shape that has been met as a whole. */
  #sequence: readonly Token[] | undefined;
  /** Its JSON text around the numbers, of a shape that has been asked for. */
  #pieces: readonly string[] | undefined;

  constructor(parent?: Shape, token: Token = end) {
    this.#parent = parent;
    this.#token = token;
  }

  /** Returns the place after a token. It is made by `make`, which may refuse. */
  after(token: Token, make: (from: Shape, token: Token) => Shape | undefined): Shape | undefined {
    if (this.#latestToken === token && this.#latest !== undefined) return this.#latest;
    let next = this.#next?.get(token);
    if (next === undefined) {
      next = make(this, token);
      if (next === undefined) return undefined;
      // Most places have one next token and need no map.
      if (this.#latest !== undefined) {
        this.#next ??= new Map([[this.#latestToken, this.#latest]]);
        this.#next.set(next.#token, next);
      }
    }
    this.#latestToken = next.#token;
    this.#latest = next;
    return next;
  }

  /** Returns the value with this shape and with the numbers from `at`, as JSON. */
  json(numbers: Float64Array, at: number): string {
    this.#pieces ??= piecesOf(this.tokens);
    let text = this.#pieces[0] as string;
    for (let i = 1; i < this.#pieces.length; i++) {
      const value = numbers[at + i - 1] as number;
      text += `${Number.isFinite(value) ? value : null}${this.#pieces[i]}`;
    }
    return text;
  }

  /** Returns the place after the first `length` tokens. */
  prefix(length: number): Shape {
    let shape: Shape = this;
    for (let more = this.tokens.length - length; more > 0; more--) shape = shape.#parent as Shape;
    return shape;
  }

  get tokens(): readonly Token[] {
    if (this.#sequence !== undefined) return this.#sequence;
    const tokens: Token[] = [];
    for (let shape: Shape = this; shape.#parent !== undefined; shape = shape.#parent)
      tokens.push(shape.#token);
    this.#sequence = tokens.reverse();
    return this.#sequence;
  }
}

/** Returns the JSON text of a shape around its numbers: one piece more than there are numbers. */
function piecesOf(tokens: readonly Token[]): string[] {
  const pieces = [''];
  const open: { close: string; separator: string }[] = [];
  let isKeyWritten = false;
  const write = (text: string) => {
    pieces[pieces.length - 1] += text;
  };
  const begin = (bracket: string, close: string) => {
    write(bracket);
    open.push({ close, separator: '' });
  };
  for (const token of tokens) {
    if (token === end) {
      write(open.pop()?.close ?? '');
      continue;
    }
    const around = open.at(-1);
    if (around !== undefined && !isKeyWritten) {
      write(around.separator);
      around.separator = ',';
    }
    if (around?.close === '}' && !isKeyWritten) {
      write(`${JSON.stringify(token)}:`);
      isKeyWritten = true;
      continue;
    }
    isKeyWritten = false;
    if (token === number) pieces.push('');
    else if (token === list) begin('[', ']');
    else if (token === object) begin('{', '}');
    else write(JSON.stringify(token));
  }
  return pieces;
}

/** Where numbers of values are appended. */
export interface NumberSink {
  push(value: number): void;
}

/** Returns the text in memory of its own: a part of a long text, such as of a frame, keeps the whole. */
function copied(text: string): string {
  return Object.keys({ [text]: 0 })[0] as string;
}

/** Finds the shapes of values. Their number is limited, because texts of clients may be in them: ids of nodes. */
export class Shapes {
  readonly #make = (from: Shape, token: Token): Shape | undefined => {
    if (this.#room === 0 || (typeof token === 'string' && token.length > longestText)) return undefined;
    this.#room--;
    return new Shape(from, typeof token === 'string' ? copied(token) : token);
  };
  #room: number;
  /** The latest shape. Most values have it, and its tokens lie side by side in memory, unlike the places of the tree. */
  #latest = new Shape();
  #expected: readonly Token[] = [];
  /** Number of leading tokens of the value that equal the latest shape's. */
  #same = 0;
  /** The place after the tokens so far, once they differ from the latest shape. Undefined: none. */
  #place: Shape | undefined;
  #differs = false;

  /** `most`: tokens of all shapes together; common beginnings count once. */
  constructor(most: number) {
    this.#room = most;
  }

  /**
   * Appends the numbers of a value to `sink` and returns its shape. Returns undefined if there is no room for a new one, or if
   * the value is not of JSON; then some of the numbers are in `sink`.
   */
  of(value: unknown, sink: NumberSink): Shape | undefined {
    this.#same = 0;
    this.#differs = false;
    if (!this.#walk(value, sink)) return undefined;
    const shape = this.#differs ? this.#place : this.#latest;
    if (shape !== undefined && shape !== this.#latest) {
      this.#latest = shape;
      this.#expected = shape.tokens;
    }
    return shape;
  }

  /** Returns false if there is no room for the place after the token. */
  #next(token: Token): boolean {
    if (!this.#differs) {
      if (this.#expected[this.#same] === token) {
        this.#same++;
        return true;
      }
      this.#differs = true;
      this.#place = this.#latest.prefix(this.#same);
    }
    this.#place = this.#place?.after(token, this.#make);
    return this.#place !== undefined;
  }

  #walk(value: unknown, sink: NumberSink): boolean {
    switch (typeof value) {
      case 'number':
        sink.push(value);
        return this.#next(number);
      case 'string':
      case 'boolean':
        return this.#next(value);
      case 'object':
        if (value === null) return this.#next(value);
        return Array.isArray(value) ? this.#walkList(value, sink) : this.#walkObject(value, sink);
      default:
        return false;
    }
  }

  #walkList(items: readonly unknown[], sink: NumberSink): boolean {
    if (!this.#next(list)) return false;
    for (const item of items) if (!this.#walk(item, sink)) return false;
    return this.#next(end);
  }

  #walkObject(value: object, sink: NumberSink): boolean {
    if (!this.#next(object)) return false;
    for (const key in value) {
      const field = (value as Record<string, unknown>)[key];
      if (field === undefined) continue;
      if (!this.#next(key) || !this.#walk(field, sink)) return false;
    }
    return this.#next(end);
  }
}
