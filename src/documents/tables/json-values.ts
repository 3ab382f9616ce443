import { maxRowCharacters } from './csv-rows.js';

/** A JSON text and the line on which it begins, from 1. */
export interface JsonText {
  line: number;
  text: string;
}

/** Finds the values in lines of JSON: values one after the other, or the members of one list. Only brackets are looked at. */
export class JsonValues {
  /** Brackets and quotes that are open. */
  #depth = 0;
  #isString = false;
  #parts: string[] = [];
  #length = 0;
  #line = 0;
  /** Whether the values are members of a list. */
  #inList: boolean | undefined;

  /** Returns the values that end in a line. A value that is too long is dropped. */
  push(line: number, text: string): JsonText[] {
    const values: JsonText[] = [];
    let begin = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text[at] as string;
      if (this.#isString) {
        if (character === '\\') at++;
        else if (character === '"') {
          this.#isString = false;
          if (this.#depth === 0) this.#finish(text.slice(begin, at + 1), values);
        }
        continue;
      }
      if (this.#depth === 0) {
        if (this.#inList === undefined && character === '[') {
          this.#inList = true;
          begin = at + 1;
          continue;
        }
        // Between values.
        if (!/[[{"]/.test(character)) continue;
        this.#inList ??= false;
        this.#line = line;
        begin = at;
      }
      if (character === '"') this.#isString = true;
      else if (character === '{' || character === '[') this.#depth++;
      else if ((character === '}' || character === ']') && --this.#depth === 0)
        this.#finish(text.slice(begin, at + 1), values);
    }
    if (this.#depth > 0) this.#add(text.slice(begin));
    return values;
  }

  /** Returns the line of a value that does not end; undefined if there is none. */
  end(): number | undefined {
    return this.#depth > 0 ? this.#line : undefined;
  }

  #finish(part: string, values: JsonText[]): void {
    this.#add(part);
    if (this.#length <= maxRowCharacters) values.push({ line: this.#line, text: this.#parts.join('\n') });
    [this.#parts, this.#length] = [[], 0];
  }

  #add(part: string): void {
    this.#length += part.length + 1;
    if (this.#length <= maxRowCharacters) this.#parts.push(part);
  }
}
