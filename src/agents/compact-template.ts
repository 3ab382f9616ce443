import Mustache from 'mustache';

/** Effect of one token of a template. The tokens of a section follow it, up to the token `next`. */
enum Op {
  text,
  escaped,
  raw,
  section,
  inverted,
}

/** Where a template finds the values of its names: Mustache's Context, or one like it. */
export interface LookupContext {
  lookup(name: string): unknown;
  /** The context inside a section. */
  push(view: unknown): LookupContext;
}

/** Returns the text of a value. */
type Show = (value: unknown) => string;

/** Numbers per token: its op, where its text or name begins and ends in the source, and `next`. */
const numbersPerToken = 4;

/** Mustache's tokens: type, value, begin, end; a section also has its inner tokens. */
type MustacheToken = [type: string, value: string, begin: number, end: number, tokens?: MustacheToken[]];

const ops: Readonly<Record<string, Op>> = {
  text: Op.text,
  name: Op.escaped,
  '&': Op.raw,
  '#': Op.section,
  '^': Op.inverted,
};

/**
 * A parsed Mustache template in 8 bytes per token plus its source; Mustache's own arrays take twenty times that.
 * Renders as Mustache does without partials and functions, which no data from JSON has.
 */
export class CompactTemplate {
  readonly #source: string;
  readonly #numbers: Uint16Array | Uint32Array;

  /** @throws Error with Mustache's own message for a template that cannot be parsed */
  constructor(source: string) {
    refuseBlanks(source);
    this.#source = source;
    // A separate writer: Mustache's default one keeps every template that it ever saw.
    const numbers = compact(source, new Mustache.Writer().parse(source) as MustacheToken[]);
    this.#numbers = source.length <= 0xffff ? Uint16Array.from(numbers) : Uint32Array.from(numbers);
  }

  /** Bytes besides the source. */
  get bytes(): number {
    return this.#numbers.byteLength;
  }

  /** `show` makes the text of a `{{value}}`, `raw` the text of a `{{{value}}}`. */
  render(context: LookupContext, show: Show, raw: Show = String): string {
    return this.#renderTokens(0, this.#numbers.length / numbersPerToken, context, { show, raw });
  }

  #renderTokens(
    begin: number,
    end: number,
    context: LookupContext,
    texts: { show: Show; raw: Show },
  ): string {
    let text = '';
    for (let token = begin; token < end; ) {
      const at = token * numbersPerToken;
      const op = this.#numbers[at] as Op;
      const name = this.#source.slice(this.#numbers[at + 1], this.#numbers[at + 2]);
      const next = this.#numbers[at + 3] as number;
      const value = op === Op.text ? undefined : (context.lookup(name) as unknown);
      if (op === Op.text) text += name;
      else if (op === Op.section) {
        for (const inner of sectionContexts(value, context))
          text += this.#renderTokens(token + 1, next, inner, texts);
      } else if (op === Op.inverted) {
        if (isEmpty(value)) text += this.#renderTokens(token + 1, next, context, texts);
      } else if (value !== undefined && value !== null)
        text += op === Op.raw ? texts.raw(value) : texts.show(value);
      token = next;
    }
    return text;
  }
}

/** Mustache's falsy values: JavaScript's, and empty lists. */
function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

/** Mustache looks for the end of a tag from each blank again: its time grows with the square of the longest run of them. */
const mostBlanks = 1000;

function refuseBlanks(source: string): void {
  for (const { 0: blanks } of source.matchAll(/\s+/g))
    if (blanks.length > mostBlanks)
      throw new Error(`it has more than ${mostBlanks} blanks or line ends in a row`);
}

/** The contexts in which a section is rendered, one after the other. */
function* sectionContexts(value: unknown, context: LookupContext): Generator<LookupContext> {
  if (!value) return;
  if (Array.isArray(value)) for (const item of value) yield context.push(item);
  else if (value === true) yield context;
  else yield context.push(value);
}

function compact(source: string, tokens: readonly MustacheToken[]): number[] {
  const numbers: number[] = [];
  const add = (list: readonly MustacheToken[]) => {
    for (const [type, value, begin, , inner] of list) {
      const op = ops[type];
      // Comments, partials and changes of the delimiters render to nothing.
      if (op === undefined) continue;
      // A text is the source at this place; a name follows somewhere after the start of its tag.
      const from = source.indexOf(value, begin);
      const at = numbers.push(op, from, from + value.length, 0);
      if (inner !== undefined && op !== Op.text) add(inner);
      numbers[at - 1] = numbers.length / numbersPerToken;
    }
  };
  add(tokens);
  return numbers;
}
