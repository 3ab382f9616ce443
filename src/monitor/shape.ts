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
  /** The next token that was met last, and its place: nearly always the one that is met again. */
  #latestToken: Token = end;
  #latest: Shape | undefined;
  #next: Map<Token, Shape> | undefined;
  /** All tokens, of a shape that has been met as a whole. */
  #sequence: readonly Token[] | undefined;

  constructor(parent?: Shape, token: Token = end) {
    this.#parent = parent;
    this.#token = token;
  }

  /** Returns the place behind a token. It is made by `make`, which may refuse. */
  after(token: Token, make: (from: Shape, token: Token) => Shape | undefined): Shape | undefined {
    if (this.#latestToken === token && this.#latest !== undefined) return this.#latest;
    let next = this.#next?.get(token);
    if (next === undefined) {
      next = make(this, token);
      if (next === undefined) return undefined;
      // Most places have one token behind them and need no map.
      if (this.#latest !== undefined) {
        this.#next ??= new Map([[this.#latestToken, this.#latest]]);
        this.#next.set(next.#token, next);
      }
    }
    this.#latestToken = next.#token;
    this.#latest = next;
    return next;
  }

  /** Returns the value with this shape and with the numbers from `at`. */
  fill(numbers: Float64Array, at: number): unknown {
    return new Filling(this.tokens, numbers, at).value();
  }

  /** Returns the place behind the first `length` tokens. */
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

/** Reads a value from the tokens of its shape. */
class Filling {
  readonly #tokens: readonly Token[];
  readonly #numbers: Float64Array;
  #token = 0;
  #number: number;

  constructor(tokens: readonly Token[], numbers: Float64Array, at: number) {
    this.#tokens = tokens;
    this.#numbers = numbers;
    this.#number = at;
  }

  value(): unknown {
    const token = this.#tokens[this.#token++];
    if (token === number) return this.#numbers[this.#number++];
    if (token === list) return this.#list();
    return token === object ? this.#object() : token;
  }

  #list(): unknown[] {
    const items: unknown[] = [];
    while (this.#tokens[this.#token] !== end) items.push(this.value());
    this.#token++;
    return items;
  }

  #object(): object {
    const fields: Record<string, unknown> = {};
    while (this.#tokens[this.#token] !== end) {
      const key = this.#tokens[this.#token++] as string;
      const value = this.value();
      // Assigning it would set the prototype.
      if (key === '__proto__') Object.defineProperty(fields, key, { value, enumerable: true });
      else fields[key] = value;
    }
    this.#token++;
    return fields;
  }
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
  /** Number of tokens of the value so far that are those of the latest shape. */
  #same = 0;
  /** The place behind the tokens so far, once they differ from those of the latest shape. Undefined: none. */
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

  /** Returns false if there is no room for the place behind the token. */
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
