import { isUtf8 } from 'node:buffer';
import { fieldPath } from '../base/schema/field-path.js';
import { wideIntegerOf } from '../base/schema/wide-integers.js';
import { fail } from './errors.js';

/** Limits on a parsed JSON text, independent of its length. */
export interface JsonLimits {
  /** Deepest nesting of arrays and objects. */
  depth: number;
  /** Commas, arrays and objects: close to the number of values, and at least that less one. */
  values: number;
  /** Fields of one object. */
  fields: number;
  /** Bytes of one string between its quotes, or of one number. */
  stringBytes: number;
}

/**
 * Whether an integer of 64 bits beyond 2^53 becomes a BigInt rather than a rounded number. `keys`: of the objects and arrays
 * around it, outermost first; empty for arrays.
 */
export type IsExact = (keys: readonly string[]) => boolean;

type Container = Record<string, unknown> | unknown[];

/** An incomplete array or object. */
interface Open {
  container: Container;
  /** Key of the next value. */
  key: string;
  /** Values in the array, or keys of the object, so far. */
  entries: number;
  /** Whether V8 keeps the keys of the object that are array indexes in a hash table. */
  isSparse: boolean;
}

/** The tokens that may come next. */
enum Expect {
  value,
  valueOrEnd,
  keyOrEnd,
  key,
  colon,
  commaOrEnd,
  end,
}

const prototypeKey = '__proto__';
const quote = 0x22;
const backslash = 0x5c;
const zero = 0x30;

/** Bytes parsed between two clock reads: a small part of a millisecond, page faults and garbage included. */
const bytesPerLook = 2048;

/** Bytes of a string that are converted in one call, in some 0.2 ms if they have escapes or are beyond ASCII. */
const bytesPerPiece = 32 * 1024;

/**
 * A JSON parser that can pause anywhere, so that a large text does not block the event loop. In one pass it builds the
 * value, enforces the limits, and refuses what JavaScript silently loses: duplicate keys in one object, and the key
 * `__proto__` in any spelling. Otherwise it accepts the same texts as JSON.parse and returns the same values, but for the
 * integers that `isExact` names.
 */
export class JsonParser {
  readonly #text: Buffer;
  readonly #limits: JsonLimits;
  readonly #isExact: IsExact;
  readonly #name: string;
  readonly #open: Open[] = [];
  #at = 0;
  #expect = Expect.value;
  #root: unknown;
  #values = 0;
  #keys = 0;
  /** Start of the content of the string around #at; -1 outside strings. */
  #stringBegin = -1;
  /** The converted pieces of that string, and where the next one begins. */
  #converted = '';
  #pieceBegin = 0;
  /** Where the last escape begins. */
  #escapeBegin = -1;
  /** Bitwise or of the next piece's bytes: above 0x7f if any is not ASCII. */
  #union = 0;

  /** `name`: what errors call the text. */
  constructor(text: Buffer, limits: JsonLimits, isExact: IsExact = () => false, name = 'payload') {
    this.#text = text;
    this.#limits = limits;
    this.#isExact = isExact;
    this.#name = name;
  }

  /** Commas, arrays and objects so far. */
  get values(): number {
    return this.#values;
  }

  /** Keys of objects so far. */
  get keys(): number {
    return this.#keys;
  }

  /** The value, once parse() has returned true. */
  get value(): unknown {
    return this.#root;
  }

  /**
   * Parses until the text ends (returns true) or `isDue()` (returns false; another call continues).
   * @throws MalformedFrame, InvalidField for a duplicate key or `__proto__`. The parser cannot be used afterwards.
   */
  parse(isDue: () => boolean = () => false): boolean {
    const { length } = this.#text;
    while (this.#at < length) {
      const until = Math.min(length, this.#at + bytesPerLook);
      while (this.#at < until) this.#step(until);
      if (this.#at < length && isDue()) return false;
    }
    if (this.#stringBegin >= 0 || this.#expect !== Expect.end) this.#refuseEnd();
    return true;
  }

  #step(until: number): void {
    if (this.#stringBegin >= 0) {
      this.#readString(until);
      return;
    }
    const byte = this.#text[this.#at] as number;
    switch (byte) {
      case 0x20:
      case 0x0a:
      case 0x0d:
      case 0x09:
        this.#at++;
        return;
      case quote:
        if (this.#expect > Expect.key) this.#refuseByte();
        this.#at++;
        this.#beginString();
        return;
      case 0x7b: // {
        this.#begin({});
        return;
      case 0x5b: // [
        // V8 makes room for 17 values at the first push(). The place holder is the first value's.
        this.#begin([0]);
        return;
      case 0x7d: // }
      case 0x5d: // ]
        this.#end(byte === 0x5d);
        return;
      case 0x2c: // ,
        this.#comma();
        return;
      case 0x3a: // :
        if (this.#expect !== Expect.colon) this.#refuseByte();
        this.#expect = Expect.value;
        this.#at++;
        return;
      default:
        this.#readWord();
    }
  }

  #begin(container: Container): void {
    if (this.#expect > Expect.valueOrEnd) this.#refuseByte();
    const { depth } = this.#limits;
    if (this.#open.length >= depth) fail(1001, `${this.#name}: nested deeper than ${depth} levels`);
    this.#count();
    this.#place(container);
    this.#open.push({ container, key: '', entries: 0, isSparse: false });
    this.#expect = Array.isArray(container) ? Expect.valueOrEnd : Expect.keyOrEnd;
    this.#at++;
  }

  #end(ofArray: boolean): void {
    const open = this.#open.at(-1);
    const mayEnd = this.#expect === (ofArray ? Expect.valueOrEnd : Expect.keyOrEnd);
    const isComplete = mayEnd || this.#expect === Expect.commaOrEnd;
    if (open === undefined || Array.isArray(open.container) !== ofArray || !isComplete) this.#refuseByte();
    if (ofArray && open.entries === 0) (open.container as unknown[]).length = 0;
    this.#open.pop();
    this.#expect = this.#open.length === 0 ? Expect.end : Expect.commaOrEnd;
    this.#at++;
  }

  #comma(): void {
    const open = this.#open.at(-1);
    if (open === undefined || this.#expect !== Expect.commaOrEnd) this.#refuseByte();
    this.#count();
    this.#expect = Array.isArray(open.container) ? Expect.value : Expect.key;
    this.#at++;
  }

  #count(): void {
    const { values } = this.#limits;
    if (++this.#values > values) fail(1001, `${this.#name}: more than ${values} values`);
  }

  /** Adds a value to the innermost open array or object, or makes it the result. */
  #place(value: unknown): void {
    const open = this.#open.at(-1);
    if (open === undefined) {
      this.#root = value;
      this.#expect = Expect.end;
      return;
    }
    const { container } = open;
    if (!Array.isArray(container)) container[open.key] = value;
    else if (open.entries++ === 0) container[0] = value;
    else container.push(value);
    this.#expect = Expect.commaOrEnd;
  }

  #placeKey(key: string): void {
    const open = this.#open.at(-1) as Open;
    open.key = key;
    if (key === prototypeKey) this.#refuseKey('no field can have this name');
    if (Object.hasOwn(open.container, key)) this.#refuseKey('occurs twice');
    this.#keys++;
    const { fields } = this.#limits;
    if (++open.entries > fields) fail(1001, `${this.#name}: more than ${fields} fields in one object`);
    if (!open.isSparse && isFarIndex(key, open.entries)) {
      open.isSparse = true;
      useHashTable(open.container, key);
    }
    this.#expect = Expect.colon;
  }

  #beginString(): void {
    this.#stringBegin = this.#at;
    this.#converted = '';
    this.#pieceBegin = this.#at;
    this.#union = 0;
  }

  /** Continues reading a string, at most up to `until`, and places it at its closing quote. */
  #readString(until: number): void {
    const text = this.#text;
    let union = this.#union;
    let at = this.#at;
    for (; at < until; at++) {
      const byte = text[at] as number;
      if (byte === quote) break;
      if (byte < 0x20) {
        fail(1001, `${this.#name}: not valid JSON: a control character that is not escaped at byte ${at}`);
      }
      if (byte === backslash) this.#escapeBegin = at++;
      union |= byte;
    }
    this.#union = union;
    this.#at = at;
    const bytes = at - this.#stringBegin;
    if (bytes > this.#limits.stringBytes) this.#refuseLength('string');
    // An escape at the end may have moved past `until`, and past the text.
    if (at >= until) {
      if (at - this.#pieceBegin >= bytesPerPiece && at < text.length) this.#convertTo(this.#pieceEnd());
      return;
    }
    this.#convertTo(at);
    const string = flattened(this.#converted);
    this.#converted = '';
    this.#stringBegin = -1;
    this.#at = at + 1;
    if (this.#expect === Expect.value || this.#expect === Expect.valueOrEnd) this.#place(string);
    else this.#placeKey(string);
  }

  get #hasEscape(): boolean {
    return this.#escapeBegin >= this.#pieceBegin;
  }

  /** Returns the last position up to #at that is in no escape and in no character. */
  #pieceEnd(): number {
    const at = this.#at;
    const begin = this.#escapeBegin;
    if (this.#hasEscape && at < begin + longestEscape && this.#text[begin + 1] === letterU) return begin;
    let end = at;
    while (end > at - longestCharacter && isContinuation(this.#text[end] as number)) end--;
    return end;
  }

  /** Converts the piece up to `end`. The next one begins there. */
  #convertTo(end: number): void {
    this.#converted += this.#piece(this.#pieceBegin, end);
    this.#pieceBegin = end;
    this.#union = end < this.#at ? 0xff : 0;
  }

  #piece(begin: number, end: number): string {
    const text = this.#text;
    const isAscii = this.#union < 0x80;
    if (!isAscii && !isUtf8(text.subarray(begin, end))) fail(1001, `${this.#name}: not valid UTF-8`);
    if (this.#hasEscape) return this.#parsed(`"${text.toString('utf8', begin, end)}"`) as string;
    return text.toString(isAscii ? 'latin1' : 'utf8', begin, end);
  }

  /** Reads a number, true, false or null. */
  #readWord(): void {
    if (this.#expect > Expect.valueOrEnd) this.#refuseByte();
    const text = this.#text;
    const begin = this.#at;
    let end = begin;
    while (end < text.length && isWordByte(text[end] as number)) {
      if (++end - begin > longestWord) this.#refuseLength('number');
    }
    if (end === begin) this.#refuseByte();
    const value = this.#integer(begin, end) ?? this.#word(text.toString('latin1', begin, end));
    this.#at = end;
    this.#place(value);
  }

  #word(token: string): unknown {
    const value = this.#parsed(token);
    const wide = wideIntegerOf(token);
    return wide !== undefined && this.#isExact(this.#open.map(({ key }) => key)) ? wide : value;
  }

  /** Returns the value of a token of at most nine digits, the common case; undefined for others. */
  #integer(begin: number, end: number): number | undefined {
    if (end - begin > 9 || (end - begin > 1 && this.#text[begin] === zero)) return undefined;
    let value = 0;
    for (let at = begin; at < end; at++) {
      const digit = (this.#text[at] as number) - zero;
      if (digit < 0 || digit > 9) return undefined;
      value = value * 10 + digit;
    }
    return value;
  }

  /** Parses one token with JSON.parse, which reports errors in it. */
  #parsed(token: string): unknown {
    try {
      return JSON.parse(token);
    } catch {
      const begin = this.#stringBegin < 0 ? this.#at : this.#stringBegin - 1;
      // `token` may be a piece of a long string.
      const end = Math.min(this.#at + 1, begin + 4 * longestShown);
      const shown = this.#stringBegin < 0 ? token : this.#text.toString('utf8', begin, end);
      fail(
        1001,
        `${this.#name}: not valid JSON: ${JSON.stringify(shown.slice(0, longestShown))}, which begins at byte ${begin}, is not a JSON value`,
      );
    }
  }

  #refuseKey(why: string): never {
    const path = this.#path();
    fail(1004, `${path}: ${why}`, { path });
  }

  /** Returns the current path. Arrays and objects are already placed, strings and numbers not yet. */
  #path(): string {
    const innermost = this.#open.length - 1;
    const keys = this.#open.map(({ container, key, entries }, level) => {
      if (!Array.isArray(container)) return key;
      return level === innermost ? entries : entries - 1;
    });
    return fieldPath(keys);
  }

  #refuseLength(what: string): never {
    const limit = what === 'string' ? this.#limits.stringBytes : longestWord;
    const path = this.#path();
    const at = path === '' ? this.#name : path;
    fail(1001, `${at}: a ${what} is longer than ${limit} bytes, the limit`, { path, limit });
  }

  #refuseByte(): never {
    const rest = this.#text.toString('utf8', this.#at, this.#at + longestCharacter);
    const shown = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    if (shown === '\ufffd') fail(1001, `${this.#name}: not valid UTF-8`);
    if (this.#at === 0 && shown === '\ufeff')
      fail(1001, `${this.#name}: not valid JSON: it begins with a byte order mark`);
    const found = `at byte ${this.#at}, not ${JSON.stringify(shown)}`;
    fail(1001, `${this.#name}: not valid JSON: ${expectations[this.#expect]} is expected ${found}`);
  }

  #refuseEnd(): never {
    if (this.#text.length === 0) fail(1001, `${this.#name}: is empty; a JSON object is expected`);
    const expected = this.#stringBegin >= 0 ? 'a closing quote' : expectations[this.#expect];
    if (this.#union >= 0x80 && this.#stringBegin >= 0 && !isUtf8(this.#text.subarray(this.#pieceBegin)))
      fail(1001, `${this.#name}: not valid UTF-8`);
    fail(1001, `${this.#name}: not valid JSON: it ends where ${expected} is expected`);
  }
}

/** Keys that are array indexes up to here, and twice the number of keys, leave few holes in V8's array of them. */
const nearIndex = 16;

/** Indexes of an array are below this; larger numbers are names. */
const maxIndexes = 2 ** 32 - 1;

/** Returns whether a key is an array index that V8's array of an object with `keys` keys would grow far for. */
function isFarIndex(key: string, keys: number): boolean {
  const first = key.charCodeAt(0);
  if (first < zero || first > zero + 9) return false;
  const index = Number(key);
  // V8 keeps other forms, such as "1e3" and "01023", among the named keys.
  return index > nearIndex + 2 * keys && index < maxIndexes && String(index) === key;
}

/**
 * Makes V8 keep the keys of an object that are array indexes in a hash table. It would make room for all indexes up to the largest:
 * 12 KiB for the key "1023" alone. An accessor needs the table, and it stays when the value replaces the accessor.
 */
function useHashTable(object: object, key: string): void {
  Object.defineProperty(object, key, { get: absent, enumerable: true, configurable: true });
  Object.defineProperty(object, key, { value: undefined, writable: true });
}

const absent = () => undefined;

/** Characters of a wrong token in errors. */
const longestShown = 40;

/** Bytes of an escape of the form \\u0000, and of a character. */
const longestEscape = 6;
const longestCharacter = 4;
const letterU = 0x75;

const isContinuation = (byte: number) => (byte & 0xc0) === 0x80;

/** Longest number or literal; JSON.parse rounds longer numbers anyway. */
const longestWord = 1024;

const expectations: Readonly<Record<Expect, string>> = {
  [Expect.value]: 'a value',
  [Expect.valueOrEnd]: 'a value or "]"',
  [Expect.keyOrEnd]: 'a field name or "}"',
  [Expect.key]: 'a field name',
  [Expect.colon]: '":"',
  [Expect.commaOrEnd]: '"," or a closing bracket',
  [Expect.end]: 'the end',
};

/** Returns whether a byte occurs in numbers and literals: a letter, digit, plus, minus or dot. */
function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  );
}

/**
 * V8 keeps a string of several pieces as a tree until something reads a character of it, and then copies all of it: many long strings
 * would be copied in one step of whoever reads them first.
 */
const flattened = (text: string) => (text.charCodeAt(0) >= 0 ? text : '');
